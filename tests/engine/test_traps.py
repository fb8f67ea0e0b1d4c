"""Traps end, duplicates are kept once, bot checks and pages that do not exist never pass for content."""

import asyncio
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from sumi.engine.soft_errors import MOST_FOLDERS, probe_urls
from sumi.engine.summary import FidelityScores, findings
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy, RobotsPolicy, TrapPolicy
from sumi.ports import UrlRecord
from sumi.workers.pool import InProcessDigester
from tests.engine.world import UNPACED, Answer, Web, World, in_free_time, recipe_for

SITE = "https://site.test"
HTML = (("content-type", "text/html; charset=utf-8"),)
# What the pages of one site have in common.
FRAME = "<nav><a href='/'>home</a></nav><main>{}</main>"


def html(title: str, text: str, *links: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    anchors = "".join(f"<p><a href='{link}'>{link}</a></p>" for link in links)
    return Answer(headers=HTML + headers, text=f"<title>{title}</title>" + FRAME.format(text + anchors))


def world(web: Web, **changes: Any) -> World:
    usual: dict[str, Any] = {
        "markdown": True,
        "keep_duplicates": False,
        "pacing": UNPACED,
        "concurrency": 4,
        "traps": TrapPolicy(),
    }
    made = World(web, recipe_for([f"{SITE}/"], **(usual | changes)))
    made.io = replace(made.io, digester=InProcessDigester())
    return made


def crawl(web: Web, **changes: Any) -> World:
    async def run() -> World:
        return await world(web, **changes).crawl()

    return in_free_time(run())


async def _records(done: World) -> list[UrlRecord]:
    return [record async for record in done.store.records()]


def records(done: World) -> dict[str, UrlRecord]:
    return {record.url: record for record in asyncio.run(_records(done))}


def counts(done: World) -> Counter[Outcome]:
    return Counter(record.outcome for record in records(done).values())


def notes(done: World) -> str:
    return "\n".join(asyncio.run(findings(done.store, FidelityScores(0.0)))[0])


def path_of(url: str) -> str:
    return url.removeprefix(SITE)


# ── traps ──────────────────────────────────────────────────────────────────────────────────────────────────


def calendar(url: str, _now: float) -> Answer:
    year, month = map(int, re.findall(r"\d+", path_of(url)) or [2000, 1])
    later, earlier = divmod(12 * year + month, 12), divmod(12 * year + month - 2, 12)
    links = (f"/cal/{y}/{m + 1}" for y, m in (later, earlier))
    return html(f"Month {month} of {year}", "<p>No events.</p>", *links)


def session(url: str, now: float) -> Answer:
    token = f"{abs(hash((url, now))):016x}"
    page = re.search(r"page=(\d)", url)
    here = page[1] if page else "start"
    words = {"0": "apples pears plums", "1": "nails screws hammers", "2": "cats dogs birds"}
    text = f"<p>{words.get(here, 'welcome to our shop of many things')}</p>"
    return html(f"Shop {here}", text, *(f"/shop?page={n}&sid={token}" for n in range(3)))


def growing(url: str, _now: float) -> Answer:
    here = path_of(url).rstrip("/")
    return html(f"Folder {here}", f"<p>{here.replace('/', ' level')}</p>", f"{here}/a", f"{here}/b")


def repeating(url: str, _now: float) -> Answer:
    query = url.partition("?")[2]
    return html("Filter", f"<p>{query}</p>", *(f"/list?{query}&{name}=1" for name in ("red", "new", "big")))


def facets(url: str, _now: float) -> Answer:
    seen = int((re.findall(r"page=(\d+)", url) or ["0"])[0])
    sorts = ("price", "name", "date")
    hrefs = [f"/shop?sort={sort}&page={seen + step}" for sort in sorts for step in (1, 2)]
    return html("Shop", f"<p>apples pears plums sorted {seen}</p>", *hrefs)


def escaping(url: str, _now: float) -> Answer:
    return html(
        f"Escape {len(url)}", f"<p>{len(url)}</p>", "/x?to=" + path_of(url).replace("%", "%25") + "%25"
    )


def sinking(url: str, _now: float) -> Answer:
    return html(f"{len(url)}", f"<p>word{'x' * len(url)}</p>", path_of(url).rstrip("/") + f"/f{len(url)}x")


@pytest.mark.parametrize("trap", [calendar, session, growing, repeating, facets, escaping, sinking])
def test_every_trap_costs_less_than_two_hundred_pages_and_is_named(trap: Web) -> None:
    done = crawl(trap)
    assert len(done.log) < 200
    assert counts(done)[Outcome.TRAP] > 0
    assert "trap: " in notes(done)
    assert counts(done)[Outcome.PENDING] == 0


def test_three_pages_behind_ever_new_sessions_are_each_taken() -> None:
    done = crawl(session)
    pages = {url.partition("&")[0] for url in done.output.accepted}
    assert pages == {f"{SITE}/", *(f"{SITE}/shop?page={number}" for number in range(3))}
    assert len(done.log) < 30


def test_a_blog_read_from_page_to_page_is_taken_whole() -> None:
    def blog(url: str, _now: float) -> Answer:
        number = int((re.findall(r"\d+", path_of(url)) or ["1"])[0])
        mark = chr(97 + number % 26) + chr(97 + number // 26)
        post = " ".join(f"{word}{mark}" for word in ("sea", "hill", "rain", "sun"))
        return html(f"Page {number}", f"<p>{post}</p>", *([f"/page/{number + 1}"] if number < 220 else []))

    done = crawl(blog)
    assert counts(done) == {Outcome.CAPTURED: 220}
    assert "trap" not in notes(done)


def test_what_was_learnt_survives_a_restart() -> None:
    async def story() -> tuple[int, int]:
        first = world(calendar, traps=TrapPolicy(fruitless=60), max_pages=40)
        await first.crawl()
        second = world(calendar, traps=TrapPolicy(fruitless=60))
        second.store, second.io = first.store, replace(second.io, frontier=first.store, ledger=first.store)
        await first.store.retune(FrontierPolicy(first.recipe.pacing))
        await second.crawl()
        return len(first.log), len(second.log)

    before, after = in_free_time(story())
    assert before >= 40
    assert before + after < 60 + 20 + 20  # the limit, what is learnt twice, what is in flight


# ── duplicates ─────────────────────────────────────────────────────────────────────────────────────────────


def twins(url: str, _now: float) -> Answer:
    if path_of(url) == "/":
        return html("Home", "<p>Welcome.</p>", *(f"/copy{name}" for name in "abcdef"), "/other")
    if path_of(url) == "/other":
        return html("Other", "<p>Something else.</p>")
    if path_of(url) == "/only-from-copies":
        return html("Leaf", "<p>Found.</p>")
    return html("Copy", "<p>The same text for everybody.</p>", "/only-from-copies")


@pytest.mark.parametrize("write_seconds", [0.0, 1.0])
def test_of_identical_pages_in_flight_exactly_one_is_kept(write_seconds: float) -> None:
    async def run() -> World:
        recipe = recipe_for([f"{SITE}/"], markdown=True, keep_duplicates=False, pacing=UNPACED)
        made = World(twins, recipe, write_seconds=write_seconds)
        made.io = replace(made.io, digester=InProcessDigester())
        return await made.crawl()

    done = in_free_time(run())
    kept = [url for url in done.output.accepted if "/copy" in url]
    assert len(kept) == 1
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 5}
    originals = {r.facts.duplicate_of for r in records(done).values() if r.outcome is Outcome.DUPLICATE}
    assert originals == set(kept)
    settled = done.output.settled_urls
    assert next(url for url in settled if "/copy" in url) == kept[0]


def test_who_wants_duplicates_gets_them() -> None:
    done = crawl(twins, keep_duplicates=True)
    assert counts(done) == {Outcome.CAPTURED: 9}


def test_a_duplicate_of_an_earlier_run_is_known() -> None:
    async def story() -> World:
        first = world(lambda url, now: twins(url, now) if path_of(url) in ("/", "/copya") else Answer(404))
        await first.crawl()
        await first.store.requeue([f"{SITE}/copy{n}" for n in "bcdef"], first.clock.now())
        second = world(twins)
        second.store, second.io = first.store, replace(second.io, frontier=first.store, ledger=first.store)
        return await second.crawl()

    done = in_free_time(story())
    assert counts(done)[Outcome.DUPLICATE] == 5


def test_pages_without_text_are_not_copies_of_each_other() -> None:
    def pictures(url: str, _now: float) -> Answer:
        links = [f"<a href='/p{name}'></a>" for name in "abc"] if path_of(url) == "/" else []
        return Answer(200, headers=HTML, text=f"<canvas></canvas>{''.join(links)}")

    assert counts(crawl(pictures)) == {Outcome.CAPTURED: 4}


def test_near_duplicates_are_kept_and_counted() -> None:
    text = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))

    def versions(url: str, _now: float) -> Answer:
        if path_of(url) == "/":
            return html("Home", "<p>Welcome to all versions of this text.</p>", "/one", "/two", "/three")
        return html("Text", f"<p>{text} {path_of(url).strip('/')}</p>")

    done = crawl(versions)
    assert counts(done) == {Outcome.CAPTURED: 4}
    assert re.search("near-duplicates: [23] pages in 1 group; all were kept", notes(done))


# ── pages that are none ────────────────────────────────────────────────────────────────────────────────────


def regrets(url: str, _now: float) -> Answer:
    if path_of(url) == "/":
        return html("Home", "<p>Welcome to the site.</p>", "/real", "/gone", "/also-gone", "/about-404")
    if path_of(url) == "/real":
        return html("Real", "<p>A page with something to say about gardens.</p>")
    if path_of(url) == "/about-404":
        return html(
            "404", "<p>How servers say not found: an essay on status codes, their history and uses.</p>"
        )
    return html("Page not found", "<p>Sorry, we looked everywhere but could not find what you asked for.</p>")


def test_what_a_host_shows_for_any_url_is_not_content() -> None:
    done = crawl(regrets)
    known = records(done)
    outcomes = {path_of(url): record.outcome for url, record in known.items()}
    [probe] = map(path_of, probe_urls(f"{SITE}/"))
    assert outcomes == {
        "/": Outcome.CAPTURED,
        "/real": Outcome.CAPTURED,
        "/about-404": Outcome.CAPTURED,
        "/gone": Outcome.SOFT_404,
        "/also-gone": Outcome.SOFT_404,
        probe: Outcome.PROBED,
    }
    assert [e.url for e in done.log].count(SITE + probe) == 1
    assert not any("gone" in url or "probe" in url for url in done.output.accepted)


def test_a_host_that_says_404_is_believed_about_its_other_pages() -> None:
    def honest(url: str, now: float) -> Answer:
        return Answer(404, headers=HTML) if "probe" in url else regrets(url, now)

    done = crawl(honest)
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 1, Outcome.PROBED: 1}


SORRY = "<p>Sorry, we looked everywhere but could not find what you asked for.</p>"


def shop(url: str, _now: float) -> Answer:
    """Under /shop/ answers another program than at the root, and regrets with 200."""
    path = path_of(url)
    if path == "/":
        links = ("/shop/real", "/shop/gone", "/shop/also/gone", "/manual/not-found")
        return html("Home", "<p>Welcome.</p>", *links)
    if path == "/shop/real":
        return html("Nails", "<p>Nails of all sizes, by the kilogram.</p>")
    if path == "/manual/not-found":
        return html("Page not found", "<p>Error 404 is what servers say if they have no such page.</p>")
    return html("Page not found", SORRY) if path.startswith("/shop/") else Answer(404, headers=HTML)


def test_what_a_folder_shows_for_any_url_is_not_content_either() -> None:
    outcomes = {path_of(url): record.outcome for url, record in records(crawl(shop)).items()}
    probes = {path_of(url) for page in ("/shop/real", "/manual/x") for url in probe_urls(SITE + page)}
    assert {path for path, outcome in outcomes.items() if outcome is Outcome.PROBED} == probes
    assert len(probes) == 3
    assert outcomes["/shop/gone"] is outcomes["/shop/also/gone"] is Outcome.SOFT_404
    assert outcomes["/shop/real"] is outcomes["/manual/not-found"] is Outcome.CAPTURED


def test_a_host_of_endless_folders_is_probed_in_a_few_only() -> None:
    def folders(url: str, _now: float) -> Answer:
        if path_of(url) == "/":
            return html("Home", "<p>Welcome.</p>", *(f"/f{number}/x" for number in range(40)))
        word = "".join(chr(97 + int(digit)) * 3 for digit in re.findall(r"\d", path_of(url)))
        missing = html("Page not found", f"<p>Nothing was found here {word}, not on this server.</p>")
        return Answer(404, headers=HTML) if "probe" in url else missing

    done = crawl(folders)
    assert counts(done)[Outcome.PROBED] == MOST_FOLDERS + 1
    assert counts(done)[Outcome.PENDING] == 0


def test_a_probe_that_is_never_answered_holds_nobody_up() -> None:
    def silent(url: str, now: float) -> Answer:
        return Answer(trouble=Outcome.TIMED_OUT) if "probe" in url else regrets(url, now)

    done = crawl(silent)
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 1, Outcome.PROBED: 1}


def test_hosts_that_give_no_cause_are_not_probed() -> None:
    assert not any("probe" in exchange.url for exchange in crawl(twins).log)


# ── bot checks ─────────────────────────────────────────────────────────────────────────────────────────────

CHECK = "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"


@pytest.mark.parametrize(
    "check",
    [
        Answer(200, headers=HTML, text=CHECK),
        Answer(403, headers=HTML, text=CHECK),
        Answer(503, headers=HTML, text=CHECK),
        Answer(403, headers=(*HTML, ("cf-mitigated", "challenge")), text="<p>x"),
        Answer(200, headers=(*HTML, ("x-amzn-waf-action", "challenge")), text="<p>x"),
    ],
)
def test_a_bot_check_is_no_content_and_slows_the_crawl_down(check: Answer) -> None:
    def guarded(url: str, _now: float) -> Answer:
        return html("Home", "<p>Welcome.</p>", "/a", "/b", "/c") if path_of(url) == "/" else check

    done = crawl(guarded, concurrency=1)
    assert counts(done) == {Outcome.CAPTURED: 1, Outcome.CHALLENGE: 3}
    assert done.output.accepted == [f"{SITE}/"]
    # One page may be guarded for its own sake. From the second in a row on, the host is left alone.
    assert done.log[-1].reached - done.log[-2].reached >= 30
    assert "site.test put up a bot check" in notes(done)
    assert len(done.log) == 4  # nobody knocks twice


def test_bot_checks_with_good_pages_in_between_hold_nobody() -> None:
    def guarded(url: str, _now: float) -> Answer:
        if path_of(url) in ("/a", "/c"):
            return Answer(200, headers=HTML, text=CHECK)
        links = ("/a", "/b", "/c", "/d") if path_of(url) == "/" else ()
        return html(f"Page {path_of(url)}", f"<p>All about {path_of(url)}.</p>", *links)

    done = crawl(guarded, concurrency=1)
    assert counts(done) == {Outcome.CAPTURED: 3, Outcome.CHALLENGE: 2}
    assert done.log[-1].reached - done.log[-2].reached < 30


# ── permissions ────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_site_says_about_use_is_kept_with_the_page() -> None:
    robots = "User-agent: *\nAllow: /open\nContent-Signal: search=yes, ai-train=no\n"

    def owned(url: str, _now: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(200, text=robots)
        if path_of(url) == "/":
            return html("Home", "<p>Hello.</p>", "/open")
        license_link = "<a rel=license href='https://creativecommons.org/licenses/by/4.0/'>CC BY</a>"
        return html("Open", license_link, headers=(("content-signal", "ai-input=no"),))

    facts = {path_of(url): r.facts for url, r in records(crawl(owned, robots=RobotsPolicy())).items()}
    assert facts["/"].robots_rule == "no rule applies"
    assert facts["/open"].robots_rule == "Allow: /open"
    assert facts["/open"].content_signal == "search=yes, ai-train=no, ai-input=no"
    assert facts["/open"].licenses == ("https://creativecommons.org/licenses/by/4.0/",)


# ── meta refresh ───────────────────────────────────────────────────────────────────────────────────────────


def refresh(target: str) -> Answer:
    return Answer(headers=HTML, text=f'<meta http-equiv=refresh content="0;url={target}"><p>Moved.</p>')


def test_a_chain_of_refreshes_ends_where_a_chain_of_redirects_would() -> None:
    def chain(url: str, _now: float) -> Answer:
        return refresh(f"/step{int((re.findall(r'[0-9]+', path_of(url)) or ['0'])[0]) + 1}")

    done = crawl(chain)
    assert counts(done) == {Outcome.REDIRECTED: 11, Outcome.TOO_MANY_REDIRECTS: 1}


def test_refreshes_in_a_circle_are_cut() -> None:
    done = crawl(lambda url, _now: refresh("/b" if path_of(url) == "/a" else "/a"))
    assert len(done.log) <= 3
    assert counts(done)[Outcome.REDIRECT_LOOP] == 1


@pytest.mark.parametrize("target", ["/", "javascript:alert(1)", "data:text/html,x"])
def test_a_refresh_to_itself_or_to_a_script_is_a_page(target: str) -> None:
    assert counts(crawl(lambda _url, _now: refresh(target))) == {Outcome.CAPTURED: 1}

"""Traps end after a bounded number of pages, and the summary names them."""

import re
from dataclasses import replace

import pytest

from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy, TrapPolicy
from tests.engine.one_site import SITE, counts, crawl, html, notes, path_of, world
from tests.engine.world import Answer, Web, in_free_time


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

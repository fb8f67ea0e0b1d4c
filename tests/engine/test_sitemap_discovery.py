"""Sitemaps that lead in circles, ever deeper or off the site: each is read once, and it ends."""

from collections import Counter
from collections.abc import Callable, Iterable
from html import escape

import msgspec
import pytest

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome
from sumi.policy import FollowLinks
from tests.engine.real_pages import crawl_reading, html, moved, xml
from tests.engine.world import UNPACED, Answer, Web, World, in_free_time, recipe_for, web_of

SITE = "https://a.test"
PAGE = html("<title>t</title><p>text")
ALLOWED_INDEXES = 5
XXE = '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>'


def entries(tag: str, addresses: Iterable[str]) -> str:
    return "".join(f"<{tag}><loc>{escape(address)}</loc></{tag}>" for address in addresses)


def index(*addresses: str) -> Answer:
    return xml(f"<sitemapindex>{entries('sitemap', addresses)}</sitemapindex>")


def urlset(*addresses: str) -> Answer:
    return xml(f"<urlset>{entries('url', addresses)}</urlset>")


def crawl(respond: Callable[[str], Answer | None], **limits: int) -> World:
    """A site whose robots.txt names ``/sitemap.xml``; ``respond`` knows the paths that matter."""

    def web(url: str, _now: float) -> Answer:
        path = url.removeprefix(SITE)
        if path == "/robots.txt":
            return Answer(text=f"Sitemap: {SITE}/sitemap.xml\n")
        if path == "/":
            return PAGE
        return respond(path) or Answer(404)

    return in_free_time(_crawl(web, **limits))


async def _crawl(web: Web, **limits: int) -> World:
    recipe = recipe_for(
        [f"{SITE}/"], find_sitemaps=True, pacing=UNPACED, follow_links=FollowLinks.UNLESS_SITEMAP, **limits
    )
    return await crawl_reading(web, recipe)


def of_pages(pages: dict[str, Answer]) -> World:
    return crawl(pages.get)


def outcome(world: World, path: str) -> str | None:
    return world.outcomes.get(f"{SITE}{path}")


def asked_once(world: World) -> bool:
    return set(Counter(exchange.url for exchange in world.log).values()) == {1}


def test_an_index_of_itself_and_of_its_index_is_read_once() -> None:
    world = of_pages(
        {
            "/sitemap.xml": index("/sitemap.xml", "/b.xml", "/b.xml#again", f"{SITE}:443/b.xml"),
            "/b.xml": index("/sitemap.xml", "/b.xml", "/pages.xml"),
            "/pages.xml": urlset("/p"),
            "/p": PAGE,
        }
    )
    assert asked_once(world)
    assert outcome(world, "/p") == Outcome.CAPTURED


def depth_of(path: str) -> int:
    return int(path.removeprefix("/level-").removesuffix(".xml") or "0") if "level" in path else 0


def downwards(path: str) -> Answer | None:
    if path == "/sitemap.xml" or path.startswith("/level-"):
        level = depth_of(path)
        both = entries("sitemap", [f"/level-{level + 1}.xml"]) + entries("url", [f"/page-{level}"])
        return xml(f"<sitemapindex>{both}</sitemapindex>")
    return PAGE


def test_indexes_within_indexes_are_followed_to_a_depth_and_no_further() -> None:
    world = crawl(downwards)
    read = [path for path in map(depth_path, range(1, 13)) if outcome(world, path) == Outcome.READ]
    assert read == [depth_path(level) for level in range(1, ALLOWED_INDEXES + 1)]
    assert outcome(world, depth_path(ALLOWED_INDEXES + 1)) == Outcome.TOO_DEEP
    assert [outcome(world, f"/page-{level}") for level in range(ALLOWED_INDEXES + 1)] == [
        Outcome.CAPTURED
    ] * (ALLOWED_INDEXES + 1)
    assert asked_once(world)


def depth_path(level: int) -> str:
    return f"/level-{level}.xml"


def test_what_is_too_deep_on_one_way_is_read_on_a_shorter_one() -> None:
    def respond(path: str) -> Answer | None:
        if path == "/sitemap.xml":
            return index("/level-1.xml", "/short.xml")
        if path == "/short.xml":
            return index(depth_path(ALLOWED_INDEXES + 1))
        return downwards(path)

    world = crawl(respond)
    assert outcome(world, depth_path(ALLOWED_INDEXES + 1)) == Outcome.READ


@pytest.mark.parametrize("place", ["/sitemap_index.xml", "/maps/sitemap", "/feed.xml", "/list.txt"])
def test_a_moved_sitemap_is_read_where_it_is_now(place: str) -> None:
    content = Answer(text=f"{SITE}/p\n") if place.endswith(".txt") else urlset("/p")
    world = of_pages({"/sitemap.xml": moved(place), place: content, "/p": PAGE})
    assert (outcome(world, "/sitemap.xml"), outcome(world, place)) == (Outcome.REDIRECTED, Outcome.READ)
    assert outcome(world, "/p") == Outcome.CAPTURED


def test_a_sitemap_that_leads_home_costs_nothing_but_itself() -> None:
    world = of_pages({"/sitemap.xml": moved("/")})
    assert outcome(world, "/") == Outcome.CAPTURED
    assert asked_once(world)


def test_moved_indexes_count_as_one() -> None:
    def respond(path: str) -> Answer | None:
        if path.startswith("/old-"):
            return moved(depth_path(int(path.removeprefix("/old-").removesuffix(".xml"))))
        level = depth_of(path)
        return index(f"/old-{level + 1}.xml")

    world = crawl(respond)
    assert outcome(world, depth_path(ALLOWED_INDEXES)) == Outcome.READ
    assert outcome(world, f"/old-{ALLOWED_INDEXES + 1}.xml") == Outcome.TOO_DEEP


def test_entries_of_other_sites_and_schemes_are_never_requested() -> None:
    elsewhere = (
        "https://evil.example/",
        "https://a.test.evil.example/",
        "//evil.example/",
        "http://10.0.0.1/",
    )
    strange = ("file:///etc/passwd", "javascript:alert(1)", "ftp://a.test/", "data:text/html,x")
    world = of_pages({"/sitemap.xml": urlset("/p", *elsewhere, *strange), "/p": PAGE})
    assert {exchange.url.removeprefix(SITE) for exchange in world.log} == {
        "/robots.txt",
        "/sitemap.xml",
        "/p",
        "/",
    }
    assert world.outcomes["https://evil.example/"] == Outcome.OUT_OF_SCOPE


def test_an_index_may_not_send_the_crawl_to_another_site() -> None:
    world = of_pages(
        {
            "/sitemap.xml": index("https://evil.example/sitemap.xml", "/good.xml"),
            "/good.xml": urlset("/p"),
            "/p": PAGE,
        }
    )
    assert world.outcomes["https://evil.example/sitemap.xml"] == Outcome.OUT_OF_SCOPE
    assert outcome(world, "/p") == Outcome.CAPTURED


@pytest.mark.parametrize(
    "bad",
    [
        PAGE,
        Answer(404),
        Answer(trouble=Outcome.CONNECTION_LOST),
        xml("<urlset><url><loc>"),
        xml(XXE),
        xml("\x00\x01\x02"),
        moved("/bad.xml"),
    ],
    ids=["page", "missing", "lost", "torn", "entity", "binary", "circle"],
)
def test_a_bad_sitemap_costs_only_itself(bad: Answer) -> None:
    world = of_pages(
        {
            "/sitemap.xml": index("/bad.xml", "/good.xml"),
            "/bad.xml": bad,
            "/good.xml": urlset("/p"),
            "/p": PAGE,
        }
    )
    assert outcome(world, "/p") == Outcome.CAPTURED
    assert outcome(world, "/bad.xml") not in (None, Outcome.READ, Outcome.CAPTURED)


def test_the_way_to_a_page_is_kept() -> None:
    async def run() -> None:
        world = await _crawl(lambda url, _now: _small_site(url))
        record = await world.store.record(f"{SITE}/p")
        assert record is not None
        assert (record.hop, record.referrer) == (Hop.MANIFEST, f"{SITE}/sitemap.xml")

    in_free_time(run())


def _small_site(url: str) -> Answer:
    named = Answer(text=f"Sitemap: {SITE}/sitemap.xml\n")
    return {f"{SITE}/robots.txt": named, f"{SITE}/sitemap.xml": urlset("/p")}.get(url, PAGE)


def endless(path: str) -> Answer | None:
    """An index of a hundred sitemaps with a hundred pages each; every other page is missing."""
    if path == "/sitemap.xml":
        return index(*(f"/part-{number}.xml" for number in range(100)))
    if path.startswith("/part-"):
        return urlset(*(f"/pages{path}/{number}" for number in range(100)))
    return PAGE if path.endswith(("0", "2", "4", "6", "8")) else None


@pytest.mark.parametrize("max_pages", [10, 200])
def test_far_more_pages_than_are_wanted_end_the_reading_of_sitemaps(max_pages: int) -> None:
    world = crawl(endless, max_pages=max_pages, plenty=300, concurrency=4)
    parts = [outcome(world, f"/part-{number}.xml") for number in range(100)]
    assert 4 <= parts.count(Outcome.READ) <= 12
    assert parts.count(Outcome.READ) + parts.count(Outcome.OVER_CAP) == 100
    captured = [url for url, ended in world.outcomes.items() if ended == Outcome.CAPTURED]
    assert len(captured) == max_pages


def test_without_a_limit_every_sitemap_is_read() -> None:
    world = crawl(endless, plenty=300)
    assert [outcome(world, f"/part-{number}.xml") for number in range(100)] == [Outcome.READ] * 100


LISTED = 50_000  # as many as the standard allows in a file


def test_the_most_urls_that_a_sitemap_may_have_are_each_listed_once() -> None:
    recipe = recipe_for([], find_sitemaps=True, pacing=UNPACED, list_only=True, concurrency=2)
    first = Candidate(f"{SITE}/sitemap.xml", Hop.SEED, Kind.SITEMAP)
    listing = msgspec.structs.replace(recipe, seeds=(first,))
    pages = {
        f"{SITE}/sitemap.xml": index("/part.xml"),
        f"{SITE}/part.xml": urlset(*(f"{SITE}/p/{number}" for number in range(LISTED))),
    }
    world = in_free_time(crawl_reading(web_of(pages), listing))
    stats = world.stats
    assert stats.outcomes[Outcome.READ] == 2
    assert stats.outcomes[Outcome.LISTED] == LISTED
    assert (stats.pending, stats.known) == (0, sum(stats.outcomes.values()))
    assert not any("/p/" in exchange.url for exchange in world.log)
    assert asked_once(world)

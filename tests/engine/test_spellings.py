"""A page that is not found is requested once more in its other spelling, and not again."""

from pathlib import Path

import msgspec
import pytest

from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome
from sumi.policy import PacingPolicy, Preset, RobotsPolicy
from sumi.recipe import Recipe
from tests.engine.world import Answer, crawled, recipe_for, web_of
from tests.jobs.map.map_world import MapWorld, states, tables

HTML = (("content-type", "text/html"),)
POLITE = PacingPolicy(delay=1.0, sitemap_delay=1.0)


def capture_of(url: str, address: str = "", **changes: object) -> Recipe:
    recipe = recipe_for((), pacing=POLITE, **changes)
    seed = Candidate(url, Hop.SEED, address=address)
    return msgspec.structs.replace(recipe, preset=Preset.CAPTURE, seeds=(seed,))


@pytest.mark.parametrize(
    ("written", "there", "asked"),
    [
        ("/x/", "/x/", ["/x/"]),
        ("/x", "/x", ["/x"]),
        ("/x/", "/x", ["/x/", "/x"]),
        ("/x", "/x/", ["/x", "/x/"]),
        ("/x?ref=a", "/x", ["/x?ref=a", "/x"]),
        ("/x/?b=1&a=1", "/x?a=1&b=1", ["/x/?b=1&a=1", "/x?a=1&b=1"]),
        ("/x", "nowhere", ["/x", "/x/"]),
        ("/x.html", "nowhere", ["/x.html"]),
    ],
)
@pytest.mark.parametrize("status", [404, 410])
def test_the_other_spelling_has_a_turn_of_its_own(
    written: str, there: str, asked: list[str], status: int
) -> None:
    path, _, query = written.partition("?")
    kept = "&".join(sorted(query.split("&"))) if query and "ref" not in query else ""
    identity = f"https://a.test{path.rstrip('/')}{'?' + kept if kept else ''}"
    address = f"https://a.test{written}"
    web = web_of({f"https://a.test{there}": Answer(200, headers=HTML)}, otherwise=Answer(status))
    world = crawled(web, capture_of(identity, "" if address == identity else address))
    assert [each.url.removeprefix("https://a.test") for each in world.log] == asked
    assert world.outcomes == {identity: "not_found" if there == "nowhere" else "captured"}
    assert world.smallest_gap() >= POLITE.delay - 1e-3 or len(asked) == 1


def test_spellings_that_redirect_to_each_other_end() -> None:
    def web(url: str, _now: float) -> Answer:
        other = url.removesuffix("/") if url.endswith("/") else f"{url}/"
        return Answer(301, headers=(("location", other),))

    recipe = capture_of("https://a.test/x", "https://a.test/x/")
    world = crawled(web, recipe)
    assert world.outcomes == {"https://a.test/x": "redirect_loop"}
    assert len(world.log) == recipe.urls.redirects + 1


def test_a_redirect_to_a_spelling_that_is_gone_is_not_followed_endlessly() -> None:
    pages = {"https://a.test/x": Answer(301, headers=(("location", "/x/"),))}
    world = crawled(web_of(pages), capture_of("https://a.test/x", "https://a.test/x/"))
    assert world.outcomes == {"https://a.test/x": "not_found"}
    assert [each.url[-2:] for each in world.log] == ["x/", "/x", "x/"]


def test_robots_txt_is_about_what_is_requested() -> None:
    """Parameters that are no part of the page do not close it."""
    rules = Answer(200, text="User-agent: *\nDisallow: /*?ref=\nDisallow: /y/$\n")
    pages = {
        "https://a.test/robots.txt": rules,
        "https://a.test/x": Answer(200, headers=HTML),
        "https://a.test/y": Answer(200, headers=HTML),
    }
    recipe = capture_of("https://a.test/x", "https://a.test/x?ref=1", robots=RobotsPolicy())
    world = crawled(web_of(pages), recipe)
    assert world.outcomes == {"https://a.test/x": "captured"}
    assert world.asked("https://a.test/x?ref=1") == []
    other = capture_of("https://a.test/z", robots=RobotsPolicy())
    pages["https://a.test/robots.txt"] = Answer(200, text="User-agent: *\nDisallow: /z$\n")
    assert crawled(web_of(pages), other).outcomes == {"https://a.test/z": "robots_denied"}


def test_a_page_found_in_a_spelling_that_robots_txt_denies_is_taken_in_the_other() -> None:
    """By then the rules are known, so that the page is judged when it is found."""
    pages = {
        "https://a.test/robots.txt": Answer(200, text="User-agent: *\nDisallow: /*?ref=\nDisallow: /y\n"),
        "https://a.test/start": Answer(301, headers=(("location", "/x?ref=1"),)),
        "https://a.test/x": Answer(301, headers=(("location", "/y/?ref=1"),)),
    }
    world = crawled(web_of(pages), capture_of("https://a.test/start", robots=RobotsPolicy()))
    assert world.outcomes == {
        "https://a.test/start": "redirected",
        "https://a.test/x": "redirected",
        "https://a.test/y": "robots_denied",
    }
    assert world.asked("https://a.test/x?ref=1") == []


WORLD = MapWorld({}, quality=("q.test",))


@pytest.mark.parametrize("named", ["q.test", "www.q.test"])
@pytest.mark.parametrize("known", ["q.test", "www.q.test"])
def test_a_name_that_is_unknown_may_be_known_with_or_without_www(
    named: str, known: str, tmp_path: Path
) -> None:
    """Pages and robots.txt alike; the domain stays the requested one."""

    def web(url: str, _now: float) -> Answer:
        if not url.startswith(f"https://{known}/"):
            return Answer(trouble=Outcome.DNS_FAILED)
        if url.endswith("/robots.txt"):
            return Answer(200, text="User-agent: *\nAllow: /\n")
        links = (f"https://{known}/x",) if url == f"https://{known}/" else ()
        return Answer(200, links, HTML)

    seed = Candidate("https://q.test/", Hop.SEED, address="" if named == "q.test" else f"https://{named}/")
    recipe = WORLD.recipe(robots=RobotsPolicy())
    recipe = msgspec.structs.replace(recipe, seeds=(seed,), preset=Preset.MAP)
    database = tmp_path / "map.db"
    world = crawled(web, recipe, open_store=lambda policy, now: WORLD.open(database, policy, now))
    assert states(database)["https://q.test/"] == "Processed"
    assert f"https://{known}/robots.txt" in {each.url for each in world.log}
    told = tables(database, "SELECT domain, robots_txt FROM domain_states WHERE robots_txt IS NOT NULL")
    assert told == [("q.test", "User-agent: *\nAllow: /\n")]


def test_an_unknown_name_ends_as_dns_failed(tmp_path: Path) -> None:
    recipe = WORLD.recipe(robots=RobotsPolicy())
    recipe = msgspec.structs.replace(recipe, preset=Preset.MAP)
    database = tmp_path / "map.db"
    crawled(
        lambda _url, _now: Answer(trouble=Outcome.DNS_FAILED),
        recipe,
        open_store=lambda policy, now: WORLD.open(database, policy, now),
    )
    assert tables(database, "SELECT outcome FROM urls") == [("dns_failed",)]

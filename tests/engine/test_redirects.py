"""Redirects, meta refreshes and cookie walls end, and circles are named."""

import re

import msgspec
import pytest

from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy, PacingPolicy, Preset, RetryPolicy, UrlLimits
from sumi.state.memory import MemoryStore
from tests.engine.one_site import HTML, counts, crawl, path_of
from tests.engine.world import HAIR, UNPACED, Answer, World, crawled, in_free_time, recipe_for, web_of


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


URL = "https://a.test/page"
COOKIE = ("set-cookie", "pass=1")


def wall(location: str, *more: tuple[str, str]) -> Answer:
    return Answer(302, headers=(("location", location), *more))


@pytest.mark.parametrize("location", [URL, "/page", "page", "#top", URL + "#x"])
def test_a_wall_that_never_opens_is_a_circle_after_three_looks(location: str) -> None:
    world = crawled(web_of({URL: wall(location, COOKIE)}), recipe_for([URL], pacing=UNPACED))
    assert world.outcomes[URL] == "redirect_loop"
    assert len(world.asked(URL)) == 3


def test_without_a_cookie_there_is_no_second_look() -> None:
    world = crawled(web_of({URL: wall(URL)}), recipe_for([URL], pacing=UNPACED))
    assert world.outcomes[URL] == "redirect_loop"
    assert len(world.asked(URL)) == 1


def test_looking_again_is_no_failure_and_keeps_the_pace() -> None:
    looks: list[float] = []

    def web(url: str, now: float) -> Answer:
        looks.append(now)
        return wall(URL, COOKIE) if len(looks) == 1 else Answer()

    no_retries = recipe_for([URL], retry=RetryPolicy(retries=0), pacing=PacingPolicy(delay=5.0))
    world = crawled(web, no_retries)
    assert world.outcomes[URL] == "captured"
    assert len(looks) == 2
    assert looks[1] - looks[0] >= 5.0 - HAIR


def test_a_wall_that_opens_does_so_in_every_update() -> None:
    """Each run begins without cookies; the redirects of earlier runs do not count."""
    store = MemoryStore(FrontierPolicy(UNPACED), 0.0)
    looks: list[str] = []

    def web(url: str, _now: float) -> Answer:
        looks.append(url)
        return wall(URL, COOKIE) if len(looks) % 2 else Answer()

    async def update() -> World:
        world = World(web, recipe_for([URL], pacing=UNPACED), open_store=lambda _policy, _now: store)
        await store.requeue([URL], world.clock.now())
        return await world.crawl()

    for _ in range(UrlLimits().redirects + 2):
        assert in_free_time(update()).outcomes[URL] == "captured"


@pytest.mark.parametrize(("steps", "outcome"), [(2, "captured"), (3, "redirect_loop")])
def test_redirects_to_a_page_and_within_it_count_together(steps: int, outcome: str) -> None:
    pages = [f"https://a.test/{number}" for number in range(steps + 1)]
    answers = dict(zip(pages, map(wall, pages[1:]), strict=False))
    answers |= {pages[-1]: wall(pages[-1] + "/"), pages[-1] + "/": Answer()}
    recipe = recipe_for(pages[:1], pacing=UNPACED, urls=UrlLimits(redirects=3))
    recipe = msgspec.structs.replace(recipe, preset=Preset.CAPTURE)  # where a slash is only spelling
    assert crawled(web_of(answers), recipe).outcomes[pages[-1]] == outcome

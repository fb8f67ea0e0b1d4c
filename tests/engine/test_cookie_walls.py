"""A page that redirects to itself and sets a cookie is asked again, costs no retry, and ends as a circle."""

import pytest

from sumi.policy import PacingPolicy, RetryPolicy
from tests.engine.world import HAIR, UNPACED, Answer, crawled, recipe_for, web_of

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

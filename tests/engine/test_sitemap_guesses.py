"""A guessed sitemap that does not exist is no failure, and does not count as named by robots.txt."""

import pytest

from sumi.events import RobotsRead
from sumi.policy import RobotsPolicy
from tests.engine.world import UNPACED, Answer, World, crawled, recipe_for, web_of

START, LOST = "https://a.test/", "https://a.test/lost"


def looked(robots: Answer, places: Answer, lost: Answer) -> World:
    def web(url: str, _now: float) -> Answer:
        known = {START: Answer(links=()), "https://a.test/robots.txt": robots, LOST: lost}
        return known.get(url) or places

    return crawled(web, recipe_for([START], pacing=UNPACED, robots=RobotsPolicy(), find_sitemaps=True))


@pytest.mark.parametrize("status", [404, 410, 403])
def test_a_place_that_sends_on_to_a_page_that_is_not_there_is_absent(status: int) -> None:
    away = Answer(302, headers=(("location", LOST),))
    done = looked(Answer(404), away, Answer(status))
    assert done.outcomes[LOST] == "absent"
    assert set(done.outcomes.values()) == {"captured", "redirected", "absent"}


def test_what_a_page_links_to_fails_all_the_same() -> None:
    away = Answer(302, headers=(("location", LOST),))
    pages = {START: Answer(links=("https://a.test/moved",)), "https://a.test/moved": away}
    done = crawled(web_of(pages), recipe_for([START], pacing=UNPACED))
    assert done.outcomes[LOST] == "not_found"


@pytest.mark.parametrize(("text", "named"), [("", 0), ("Sitemap: https://a.test/s.xml\n", 1)])
def test_only_sitemaps_that_robots_txt_names_are_reported_with_it(text: str, named: int) -> None:
    done = looked(Answer(200, text=text or "User-agent: *\n"), Answer(404), Answer(404))
    assert [event.sitemaps for event in done.events if isinstance(event, RobotsRead)] == [named]

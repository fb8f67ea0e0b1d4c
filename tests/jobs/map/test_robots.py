"""A map fetches robots.txt first; if that fails, the configuration decides about the pages."""

from pathlib import Path

import pytest

from sumi.jobs.map.database import open_database
from sumi.jobs.map.recipe import RETRIED, RETRIES, RETRY_SECONDS
from sumi.jobs.map.summary import read_summary
from sumi.outcomes import Outcome
from sumi.policy import RetryPolicy, RobotsOnError, RobotsPolicy
from tests.engine.world import Answer, crawled
from tests.jobs.map.map_world import MapWorld, states, tables

WORLD = MapWorld({"https://q.test/": ("https://q.test/x",), "https://q.test/x": ()}, quality=("q.test",))
RULES = "User-agent: *\nDisallow: /x\n"


@pytest.mark.parametrize(
    ("on_error", "shown"),
    [
        (RobotsOnError.RFC9309, {"Unreachable"}),
        (RobotsOnError.DENY, {"Unreachable"}),
        (RobotsOnError.ALLOW, {"Processed"}),
    ],
)
def test_a_robots_txt_that_fails(on_error: RobotsOnError, shown: set[str], tmp_path: Path) -> None:
    asked: list[str] = []

    def web(url: str, now: float) -> Answer:
        asked.append(url)
        return Answer(503) if url.endswith("/robots.txt") else WORLD.web(url, now)

    database = tmp_path / "map.db"
    recipe = WORLD.recipe(
        robots=RobotsPolicy(on_error=on_error),
        retry=RetryPolicy(RETRIES, RETRY_SECONDS, steady=True, only=RETRIED),
    )
    crawled(web, recipe, open_store=lambda policy, now: WORLD.open(database, policy, now))
    assert set(states(database).values()) == shown
    assert asked[: 1 + RETRIES] == ["https://q.test/robots.txt"] * (1 + RETRIES)
    if shown == {"Unreachable"}:
        assert tables(database, "SELECT DISTINCT error_message FROM pages") != [(None,)]


def test_a_429_for_robots_txt_suspends_its_domain_at_once(tmp_path: Path) -> None:
    made = MapWorld({"https://q.test/": ("https://busy.test/1", "https://busy.test/2")}, quality=("q.test",))
    asked: list[str] = []

    def web(url: str, now: float) -> Answer:
        asked.append(url)
        return Answer(429) if url == "https://busy.test/robots.txt" else made.web(url, now)

    database = tmp_path / "map.db"
    recipe = made.recipe(
        robots=RobotsPolicy(), retry=RetryPolicy(RETRIES, RETRY_SECONDS, steady=True, only=RETRIED)
    )
    crawled(web, recipe, open_store=lambda policy, now: made.open(database, policy, now))
    found = states(database)
    assert {found[f"https://busy.test/{number}"] for number in (1, 2)} == {"RateLimited"}
    assert [url for url in asked if "busy.test" in url] == ["https://busy.test/robots.txt"]
    assert tables(database, "SELECT domain FROM domain_states WHERE rate_limited") == [("busy.test",)]


def test_a_page_that_robots_txt_denies_has_failed_and_says_why(tmp_path: Path) -> None:
    def web(url: str, now: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(200, headers=(("content-type", "text/plain"),), text=RULES)
        return WORLD.web(url, now)

    database = tmp_path / "map.db"
    recipe = WORLD.recipe(robots=RobotsPolicy())
    crawled(web, recipe, open_store=lambda policy, now: WORLD.open(database, policy, now))
    ((state, why),) = tables(database, "SELECT state, error_message FROM pages WHERE url LIKE '%/x'")
    assert state == "Failed"
    assert "robots.txt" in why
    assert tables(database, "SELECT robots_txt FROM domain_states") == [(RULES,)]


@pytest.mark.parametrize(
    ("robots", "kind"),
    [(Answer(trouble=Outcome.TIMED_OUT), "Timeout"), (Answer(503), "Other")],
    ids=["no answer", "503"],
)
def test_a_failed_robots_txt_is_counted_by_its_cause(robots: Answer, kind: str, tmp_path: Path) -> None:
    def web(url: str, now: float) -> Answer:
        return robots if url.endswith("/robots.txt") else WORLD.web(url, now)

    database = tmp_path / "map.db"
    recipe = WORLD.recipe(robots=RobotsPolicy(), retry=RetryPolicy(0))
    crawled(web, recipe, open_store=lambda policy, now: WORLD.open(database, policy, now))
    with open_database(database) as db:
        assert [name for name, count in read_summary(db).errors if count] == [kind]

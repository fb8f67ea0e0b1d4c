"""How a map retries failed pages: how often, how far apart, and with which state in the end."""

from itertools import pairwise
from pathlib import Path

import pytest

from sumi.jobs.map.recipe import RETRIED, RETRIES, RETRY_SECONDS
from sumi.outcomes import Outcome
from sumi.policy import RetryPolicy
from tests.engine.world import HAIR, Answer, crawled
from tests.jobs.map.map_world import MapWorld, recorded_links, states, tables

HOME, PAGE = "https://q.test/", "https://a.test/page"
RETRY = RetryPolicy(RETRIES, RETRY_SECONDS, steady=True, only=RETRIED)


@pytest.mark.parametrize(
    ("answer", "state", "requests"),
    [
        (Answer(404), "DeadLink", 1),
        (Answer(429), "RateLimited", 1),
        (Answer(403), "Failed", 1),
        (Answer(500), "Failed", 4),
        (Answer(503), "Failed", 4),
        (Answer(trouble=Outcome.TIMED_OUT), "Failed", 4),
        (Answer(trouble=Outcome.CONNECT_FAILED), "Unreachable", 1),
        (Answer(trouble=Outcome.DNS_FAILED), "Unreachable", 1),
        (Answer(trouble=Outcome.TLS_FAILED), "Unreachable", 1),
    ],
)
def test_a_page_that_fails(answer: Answer, state: str, requests: int, tmp_path: Path) -> None:
    made = MapWorld({HOME: (PAGE,)}, quality=("q.test",))
    asked: list[float] = []

    def web(url: str, now: float) -> Answer:
        if url != PAGE:
            return made.web(url, now)
        asked.append(now)
        return answer

    database = tmp_path / "map.db"
    crawled(web, made.recipe(retry=RETRY), open_store=lambda p, now: made.open(database, p, now))
    assert states(database)[PAGE] == state
    assert len(asked) == requests
    assert all(RETRY_SECONDS - HAIR <= b - a < RETRY_SECONDS + 2 for a, b in pairwise(asked))
    (why,) = tables(database, "SELECT error_message, retry_count FROM pages WHERE url = ?", PAGE)
    assert why[0]
    assert why[1] == requests - 1


def chain(length: int) -> dict[str, str]:
    return {f"https://a.test/{n}": f"https://a.test/{n + 1}" for n in range(length)}


@pytest.mark.parametrize(
    ("redirects", "failing"),
    [
        ({"https://a.test/0": "https://a.test/1", "https://a.test/1": "https://a.test/0"}, "a.test/1"),
        (chain(14), "a.test/10"),
    ],
)
def test_redirect_loops_and_endless_redirects_fail(
    redirects: dict[str, str], failing: str, tmp_path: Path
) -> None:
    made = MapWorld({HOME: ("https://a.test/0",)}, ("q.test",), max_depth=99, redirects=redirects)
    database = tmp_path / "map.db"
    crawled(made.web, made.recipe(), open_store=lambda p, now: made.open(database, p, now))
    assert states(database)[f"https://{failing}"] == "Failed"


def test_a_redirect_loop_of_pages_found_by_links_fails_too(tmp_path: Path) -> None:
    circle = [f"https://a.test/{n}" for n in range(3)]
    redirects = dict(zip(circle, [*circle[1:], circle[0]], strict=True))
    made = MapWorld({HOME: tuple(circle)}, ("q.test",), redirects=redirects)
    database = tmp_path / "map.db"
    crawled(made.web, made.recipe(), open_store=lambda p, now: made.open(database, p, now))
    assert sorted(states(database)[url] for url in circle) == ["Failed", "Processed", "Processed"]


def test_a_redirect_to_a_listed_domain_is_recorded_and_not_followed(tmp_path: Path) -> None:
    black, stub = "https://ads.test/x", "https://wiki.test/y"
    made = MapWorld(
        {HOME: ("https://a.test/0", "https://a.test/1", f"{HOME}out"), black: (), stub: ()},
        quality=("q.test",),
        blacklist=("ads.test",),
        stub=("wiki.test",),
        redirects={"https://a.test/0": black, "https://a.test/1": stub, f"{HOME}out": black},
    )
    asked: list[str] = []

    def web(url: str, now: float) -> Answer:
        asked.append(url)
        return made.web(url, now)

    database = tmp_path / "map.db"
    world = crawled(web, made.recipe(), open_store=lambda p, now: made.open(database, p, now))
    assert world.warnings == []
    found = states(database)
    assert (found[black], found[stub]) == ("Blacklisted", "Stubbed")
    assert not {black, stub} & set(asked)
    assert ("https://a.test/0", black) in recorded_links(database)
    assert tables(database, "SELECT url, reference_count FROM blacklisted_urls") == [(black, 2)]

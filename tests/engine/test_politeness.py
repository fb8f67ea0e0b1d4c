"""No host is requested sooner than our delay, its robots.txt and its own pauses allow."""

import random
from collections.abc import Callable
from email.utils import formatdate
from itertools import count
from operator import attrgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.outcomes import Outcome
from sumi.policy import PacingPolicy, RetryPolicy, RobotsPolicy
from tests.engine.world import EPOCH, HAIR, Answer, Web, World, crawled, recipe_for, web_of

SEED = "https://a.test/"
STATUSES = (200, 200, 200, 301, 404, 429, 500, 503)


def erratic_web(seed: int, hosts: int, pages: int) -> Web:
    """Every URL answers in its own way, and in another one the next time; robots.txt and sitemaps do too."""
    visits = count()

    def answer(url: str, _now: float) -> Answer:
        chance = random.Random(f"{seed} {url} {next(visits)}")
        links = tuple(f"https://h{chance.randrange(hosts)}.test/{chance.randrange(pages)}" for _ in range(3))
        status = chance.choice(STATUSES)
        headers = (("location", links[0]),) if status == 301 else ()
        if "/robots.txt" in url and status == 200:
            return Answer(text=f"User-agent: *\nCrawl-delay: {chance.choice((0, 0.5, 2))}\n")
        trouble = chance.choice((None,) * 9 + (Outcome.TIMED_OUT,))
        return Answer(status, links, headers, chance.choice((0.0, 0.05, 0.5, 3.0)), trouble=trouble)

    return answer


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    delay=st.sampled_from((0.1, 1.0, 2.5)),
    per_host=st.integers(1, 3),
    concurrency=st.integers(1, 6),
)
def test_every_request_of_every_kind_keeps_its_distance(
    seed: int, delay: float, per_host: int, concurrency: int
) -> None:
    recipe = recipe_for(
        [f"https://h{n}.test/" for n in range(3)],
        robots=RobotsPolicy(),
        find_sitemaps=True,
        concurrency=concurrency,
        pacing=PacingPolicy(delay, delay, per_host, rate_limited_hold=5.0, circuit_failures=0),
        retry=RetryPolicy(retries=1),
    )
    world = crawled(erratic_web(seed, hosts=3, pages=6), recipe)
    # Requests that are under way together may overtake each other; they are sent at a distance.
    moment = "arrived" if per_host == 1 else "sent"
    assert world.smallest_gap(attrgetter(moment)) >= delay - HAIR
    assert world.fetcher.most_per_host <= per_host
    assert world.fetcher.most_at_once <= concurrency
    assert sum(world.summary.outcomes.values()) == world.summary.discovered


def test_a_crawl_delay_is_the_least_distance_from_the_moment_it_is_known() -> None:
    pages = {f"https://a.test/{n}": Answer() for n in range(5)}
    robots = {"https://a.test/robots.txt": Answer(text="User-agent: *\nCrawl-delay: 7\n")}
    world = crawled(web_of(pages | robots), recipe_for(pages, robots=RobotsPolicy()))
    assert len(world.log) == 6
    assert world.smallest_gap() >= 7 - HAIR


def test_a_crawl_delay_beyond_reason_is_clamped_and_named() -> None:
    pages = {f"https://a.test/{n}": Answer() for n in range(2)}
    robots = {"https://a.test/robots.txt": Answer(text="User-agent: *\nCrawl-delay: 86400\n")}
    world = crawled(web_of(pages | robots), recipe_for(pages, robots=RobotsPolicy()))
    assert 300 - HAIR <= world.smallest_gap() < 310
    assert world.warnings == [
        "robots.txt of https://a.test asks for 86400 s between requests; 300 s are kept"
    ]


@pytest.mark.parametrize(("asked", "respect"), [(1, True), (86400, False)], ids=["short", "not obeyed"])
def test_a_crawl_delay_that_delays_nobody_for_long_is_not_named(asked: int, respect: bool) -> None:
    pages = {f"https://a.test/{n}": Answer() for n in range(2)}
    robots = {"https://a.test/robots.txt": Answer(text=f"User-agent: *\nCrawl-delay: {asked}\n")}
    recipe = recipe_for(pages, robots=RobotsPolicy(respect=respect), find_sitemaps=True)
    world = crawled(web_of(pages | robots), recipe)
    assert world.asked("https://a.test/robots.txt")
    assert world.warnings == []


def first_pause(first: Answer) -> float:
    """How long a host is left alone after its first answer, the retry of that page included."""
    pages = iter([first])
    world = crawled(lambda _url, _now: next(pages, Answer()), recipe_for([SEED, f"{SEED}other"]))
    one, two = (exchange.reached for exchange in world.log[:2])
    return two - one


def http_date(seconds_from_start: float) -> str:
    return formatdate(EPOCH + seconds_from_start, usegmt=True)


@pytest.mark.parametrize(
    ("status", "value", "least"),
    [
        (429, "120", 120),
        (503, "120", 120),
        (429, http_date(600), 598),
        (503, http_date(-86_400), 1),
        (429, "0", 1),
        (429, "1000000000", 6 * 3600),
        (503, "9" * 400, 6 * 3600),
        (429, http_date(10 * 365 * 86_400), 6 * 3600),
        (429, "soon", 30),
        (429, "-1", 30),
        (429, "1e9", 30),
        (200, "3600", 1),
        (301, "3600", 1),
        (404, "3600", 1),
        (500, "3600", 1),
    ],
)
def test_retry_after_holds_the_host_where_it_may(status: int, value: str, least: float) -> None:
    headers = (("retry-after", value), ("location", "/moved"))
    pause = first_pause(Answer(status, headers=headers))
    assert least - HAIR <= pause < least + 3


def test_a_host_that_asks_for_mercy_without_a_date_gets_twice_as_long_each_time() -> None:
    world = crawled(web_of({SEED: Answer(429)}), recipe_for([SEED]))
    assert [round(gap / 30) for gap in world.gaps()["a.test"]] == [1, 2, 4]
    assert world.outcomes == {SEED: "rate_limited"}


def test_other_hosts_go_on_while_one_is_held() -> None:
    pages = {f"https://b.test/{n}": Answer() for n in range(20)}
    held = Answer(503, headers=(("retry-after", "3600"),))
    world = crawled(web_of({SEED: held} | pages), recipe_for([SEED, *pages]))
    assert max(max(world.asked(url)) for url in pages) < 25
    assert world.asked(SEED)[1] > 3600


def test_150_hosts_are_asked_as_often_as_each_allows() -> None:
    """Far more hosts than requests at once: none waits for another."""
    pages = {
        f"https://h{host}.test/{number}": Answer(latency=0.05) for host in range(150) for number in range(5)
    }
    pacing = PacingPolicy(0.5, 0.5)
    world = crawled(web_of(pages), recipe_for(pages, concurrency=64, pacing=pacing))
    gaps = world.gaps()
    assert len(gaps) == 150
    for each in gaps.values():
        assert len(each) == 4
        assert max(each) < 0.5 + 2 * 0.05


def pauses(world: World) -> list[float]:
    """From an answer to the next request, as the crawler sees it."""
    return [b.sent - a.reached for a, b in zip(world.log, world.log[1:], strict=False)]


def test_a_host_that_grows_slow_is_asked_less_often_until_it_is_well_again() -> None:
    numbers = count()

    def web(_url: str, _now: float) -> Answer:
        return Answer(latency=4.0 if 60 <= next(numbers) < 75 else 0.2)

    world = crawled(web, recipe_for(f"https://a.test/{n}" for n in range(110)))
    waits = pauses(world)
    assert all(1 - HAIR <= wait < 1.3 for wait in waits[:60])
    assert min(waits[63:70]) > 2
    assert all(wait < 1.3 for wait in waits[100:])


def failing(until: Callable[[int, float], bool]) -> Web:
    numbers = count(1)

    def web(_url: str, now: float) -> Answer:
        return Answer(trouble=Outcome.CONNECT_FAILED if until(next(numbers), now) else None)

    return web


def test_ten_failures_in_a_row_open_the_circuit_and_one_success_closes_it() -> None:
    urls = [f"https://a.test/{n}" for n in range(20)]
    recipe = recipe_for(urls, retry=RetryPolicy(retries=0))
    world = crawled(failing(lambda number, _now: number <= 11), recipe)
    gaps = world.gaps()["a.test"]
    assert all(gap < 3 for gap in gaps[:9])
    assert all(gap >= 900 for gap in gaps[9:11])  # after the tenth, and after the trial that failed too
    assert all(gap < 3 for gap in gaps[11:])
    assert list(world.outcomes.values()).count("captured") == 9


def test_failures_that_are_not_in_a_row_do_not_open_the_circuit() -> None:
    urls = [f"https://a.test/{n}" for n in range(40)]
    recipe = recipe_for(urls, retry=RetryPolicy(retries=0))
    world = crawled(failing(lambda number, _now: number % 10 != 0), recipe)
    assert max(world.gaps()["a.test"]) < 3

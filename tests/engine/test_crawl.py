"""Many hosts at once: each at its own pace, none blocks another, nothing piles up."""

import asyncio
from collections import Counter

import pytest

from sumi.engine.gate import BATCH
from sumi.events import Progress
from sumi.model import Candidate, Lease
from sumi.outcomes import Outcome
from sumi.policy import PacingPolicy, RetryPolicy
from sumi.ports import Judged
from sumi.state.memory import MemoryStore
from tests.engine.world import UNPACED, Answer, Web, World, crawled, in_free_time, recipe_for, web_of
from tests.thoroughness import usually

SEED = "https://a.test/"


def front_pages(hosts: int) -> list[str]:
    return [f"https://h{n}.test/" for n in range(hosts)]


def small_sites(pages: int, latency: float) -> Web:
    """Every front page links to the other pages of its host."""

    def web(url: str, _now: float) -> Answer:
        links = tuple(f"{url}{n}" for n in range(1, pages)) if url.endswith("/") else ()
        return Answer(links=links, latency=latency)

    return web


def test_thousands_of_hosts_are_asked_as_often_as_is_polite() -> None:
    hosts, requests = usually(2_000, 10_000), 4
    recipe = recipe_for(front_pages(hosts), concurrency=hosts // 10)
    world = crawled(small_sites(requests, latency=0.01), recipe)
    assert len(world.log) == hosts * requests
    # All hosts are free after the first second. Two seconds of the steady phase, at a request a second each:
    steady = sum(1 for each in world.log if 2.0 <= each.sent - world.started < 4.0)
    assert steady >= 0.95 * 2 * hosts
    gaps = [gap for each in world.gaps().values() for gap in each]
    assert min(gaps) >= 1.0
    assert max(gaps) <= 3.0


def test_the_last_progress_counts_every_page() -> None:
    world = crawled(small_sites(3, latency=0.01), recipe_for(front_pages(2)))
    last = [event for event in world.events if isinstance(event, Progress)][-1]
    assert (last.done, last.pending) == (6, 0)


class Asked(MemoryStore):
    """Counts its calls of ``lease``."""

    times = 0

    async def lease(self, limit: int, now: float) -> list[Lease]:
        self.times += 1
        return await super().lease(limit, now)


def test_the_frontier_is_asked_for_work_when_there_is_some() -> None:
    def web(url: str, now: float) -> Answer:
        number = int(url.split("/")[2].removeprefix("h").removesuffix(".test"))
        return small_sites(10, latency=0.01 + number / 7000)(url, now)  # no two answers come together

    world = crawled(web, recipe_for(front_pages(100), concurrency=200), open_store=Asked, digest_seconds=0.02)
    assert len(world.log) == 1000
    assert isinstance(world.store, Asked)
    assert world.store.times <= 1.2 * len(world.log)


def time_of_last_captured(world: World) -> float:
    return max(each.reached for each in world.log if "dead" not in each.url) - world.started


@pytest.mark.parametrize(
    "dead",
    [
        Answer(latency=120.0, trouble=Outcome.TIMED_OUT),
        Answer(latency=119.0),
        Answer(503, headers=(("retry-after", "600"),)),
        Answer(trouble=Outcome.DNS_FAILED),
    ],
    ids=["black hole", "slow", "overloaded", "unknown"],
)
def test_one_bad_host_among_a_thousand_costs_the_others_nothing(dead: Answer) -> None:
    healthy = small_sites(4, latency=0.05)

    def web(url: str, now: float) -> Answer:
        return dead if "dead" in url else healthy(url, now)

    retry = RetryPolicy(retries=1)
    seeds = front_pages(1000)
    alone = crawled(healthy, recipe_for(seeds, concurrency=64, retry=retry))
    bad = [f"https://dead.test/{n}" for n in range(3)]
    together = crawled(web, recipe_for([*bad, *seeds], concurrency=64, retry=retry))
    assert time_of_last_captured(together) <= 1.05 * time_of_last_captured(alone)


def test_a_slow_disk_holds_back_the_network() -> None:
    recipe = recipe_for([SEED], pacing=UNPACED, concurrency=8)
    world = crawled(small_sites(300, latency=0.01), recipe, write_seconds=60.0)
    assert len(world.output.accepted) == 300
    assert world.output.most_held <= 8
    assert world.fetcher.most_at_once <= 8


def test_a_host_is_not_asked_beyond_its_budget_and_what_is_left_is_accounted_for() -> None:
    pacing = PacingPolicy(delay=1.0, host_budget=5)
    world = crawled(small_sites(20, latency=0.05), recipe_for(front_pages(3), pacing=pacing))
    assert Counter(each.url.split("/")[2] for each in world.log) == {f"h{n}.test": 5 for n in range(3)}
    assert world.summary.outcomes == {"captured": 15, "over_budget": 45}
    assert world.summary.discovered == 60
    assert world.summary.status == "limited"


def test_retries_and_redirects_count_against_the_budget() -> None:
    pages = {SEED: Answer(302, headers=(("location", "/b"),)), "https://a.test/b": Answer(500)}
    world = crawled(web_of(pages), recipe_for([SEED], pacing=PacingPolicy(host_budget=3)))
    assert len(world.log) == 3
    assert world.summary.outcomes == {"redirected": 1, "over_budget": 1}


def test_links_beyond_the_limit_are_left_out_and_counted() -> None:
    links = tuple(f"https://b.test/{n}" for n in range(500_000))
    recipe = recipe_for([SEED], pacing=UNPACED, max_pages=1)
    world = crawled(web_of({SEED: Answer(links=links)}), recipe)
    assert world.summary.discovered == 5001
    assert world.warnings == [f"{SEED}: the first 5,000 links were taken, 495,000 more were left out"]


def test_judging_a_huge_sitemap_lets_others_have_their_turn() -> None:
    async def run() -> tuple[int, tuple[Judged, ...]]:
        from sumi.engine.gate import Gate
        from sumi.engine.limits import LimitsInForce
        from sumi.engine.robots_cache import RobotsCache

        world = World(web_of({}), recipe_for([SEED]))
        limits = LimitsInForce(world.recipe)
        gate = Gate(world.recipe, world.io, RobotsCache(world.recipe, world.io, limits), limits)
        judging = asyncio.ensure_future(
            gate.judge(Candidate(f"https://a.test/{n}") for n in range(10 * BATCH + 1))
        )
        turns = 0
        while not judging.done():
            await asyncio.sleep(0)
            turns += 1
        return turns, judging.result()

    turns, judged = in_free_time(run())
    assert turns > 10
    assert [item.candidate.url for item in judged] == [f"https://a.test/{n}" for n in range(10 * BATCH + 1)]


def test_the_time_left_is_never_less_than_politeness_needs() -> None:
    world = crawled(small_sites(200, latency=0.05), recipe_for([SEED]))
    told = [event for event in world.events if isinstance(event, Progress) and event.pending > 1]
    assert len(told) > 100
    assert all(event.eta_seconds is not None and event.eta_seconds >= event.pending - 12 for event in told)


def test_the_first_word_on_the_time_left_comes_before_the_first_page() -> None:
    world = crawled(web_of({}, Answer()), recipe_for(f"{SEED}{n}" for n in range(500)))
    first = next(event for event in world.events if isinstance(event, Progress))
    assert (first.done, first.eta_seconds) == (0, 500.0)


@pytest.mark.parametrize(
    ("changes", "alone"),
    [({}, True), ({"take_links": False}, False)],
    ids=["links are followed", "another job follows them"],
)
def test_a_lone_page_is_suspicious_only_where_links_are_followed(
    changes: dict[str, bool], alone: bool
) -> None:
    summary = crawled(web_of({SEED: Answer()}), recipe_for([SEED], **changes)).summary
    assert summary.alone is alone

"""Depths of a map that workers share: the least number of links, whoever read which page when."""

import asyncio
import random
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
import pytest

from sumi.model import Candidate, Hop, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, Settlement
from sumi.state.cluster.jobs import JobRow
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.map_store import ClusterMapStore
from sumi.state.cluster.rows import Letter
from sumi.urls import host_key
from tests.cluster.conftest import MakeJob
from tests.cluster.test_store import CALM, CAPTURED, HOSTS, UNPACED, end_session, loop_time, page, run
from tests.postgres import Postgres

PAGES, MOST = 12, 4
# What a worker that died may still ask is of no concern here.
BRIEF = msgspec.structs.replace(CALM, inherit=0.1)
TOO_DEEP = Verdict(Outcome.TOO_DEEP, f"deeper than {MOST}")
Links = dict[str, list[str]]


def at_home(url: str) -> bool:
    return host_key(url) == HOSTS[0]


def made_links(seed: int) -> Links:
    """Chains, which are long ways, and a few short cuts from pages that are read late."""
    chance = random.Random(seed)
    pages = [page(host, number) for host in HOSTS for number in range(PAGES)]
    links = {url: chance.sample(pages, chance.choice([0, 1, 1, 2])) for url in pages}
    for host in HOSTS:
        for number in range(1, PAGES):
            links[page(host, number - 1)].append(page(host, number))
    return links


def searched(links: Links) -> dict[str, int]:
    """The depth of each page that is found: by breadth-first search, no farther than from ``MOST``."""
    found: dict[str, int] = {}
    waiting = deque([(page(HOSTS[0], 0), 0)])
    while waiting:
        url, depth = waiting.popleft()
        if url in found:
            continue
        found[url] = depth
        if depth <= MOST:
            nearer = [(target, 0) for target in links[url] if at_home(target)]
            waiting.extendleft(nearer)
            waiting.extend((target, depth + 1) for target in links[url] if not at_home(target))
    return found


async def judge(candidates: Iterable[Candidate]) -> Sequence[Judged]:
    return [Judged(one, TOO_DEEP if one.depth > MOST else None) for one in candidates]


async def opened(postgres: Postgres, job: JobRow, policy: FrontierPolicy = UNPACED) -> ClusterMapStore:
    make = partial(ClusterMapStore, is_home=at_home, max_depth=MOST)
    store = make(postgres.address(), job.id, policy, loop_time(), clock=loop_time, timing=BRIEF)
    await store.open()
    store.judge_with(judge)
    return store


async def settle(
    store: ClusterMapStore, lease: Lease, links: Sequence[str], verdict: Verdict = CAPTURED
) -> bool:
    """As a crawl does."""
    depth = lease.candidate.depth + 1
    new = await store.unseen(links, depth, Hop.LINK)
    wanted = [Candidate(url, referrer=lease.url, depth=0 if at_home(url) else depth) for url in new]
    found = tuple(await judge(wanted))
    await store.release_host(lease, HostReport(reached=loop_time(), latency=0.0))
    unit = Settlement(lease, verdict, loop_time(), found=found, links=tuple(links))
    [settled] = await store.settle([unit])
    return settled


async def crawl(store: ClusterMapStore, links: Links, chance: random.Random, most: int = 0) -> None:
    """Until the job is over, or about ``most`` pages are read; the pages in hand end in any order."""
    read = turns = 0
    while not most or (read < most and turns < 10 * most):
        turns += 1
        leases = await store.lease(3, loop_time())
        chance.shuffle(leases)
        for lease in leases:
            read += await settle(store, lease, links[lease.url])
        if not (await store.stats()).pending:
            return
        if not leases:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_depths_are_those_of_a_search_whatever_becomes_of_the_workers(
    postgres: Postgres, make: MakeJob, seed: int
) -> None:
    job, links, chance = make(page(HOSTS[0], 0)), made_links(seed), random.Random(seed)

    async def scenario() -> None:
        first, second = await opened(postgres, job), await opened(postgres, job)
        await asyncio.gather(crawl(first, links, chance, 12), crawl(second, links, chance, 12))
        third = await opened(postgres, job)
        await first.aclose()  # its hosts go to the others
        await asyncio.gather(crawl(second, links, chance, 6), crawl(third, links, chance, 6))
        await end_session(postgres, second)  # nothing of it that is not written remains
        await asyncio.gather(crawl(second, links, chance), crawl(third, links, chance))
        found = {record.url: (record.depth, record.outcome) async for record in third.records()}
        await second.aclose()
        await third.aclose()
        wanted = {
            url: (depth, Outcome.TOO_DEEP if depth > MOST else Outcome.CAPTURED)
            for url, depth in searched(links).items()
        }
        assert found == wanted
        assert len({depth for depth, _ in found.values()}) == MOST + 2

    run(scenario())


@pytest.mark.parametrize("depths", [(2, MOST + 2), (MOST + 2, 2)])
def test_a_page_that_several_letters_tell_of_is_judged_by_the_shortest_way(
    postgres: Postgres, make: MakeJob, depths: tuple[int, int]
) -> None:
    job, url = make(page(HOSTS[0], 0)), page(HOSTS[1], 5)

    async def scenario() -> None:
        store = await opened(postgres, job)
        while not (await store.stats()).pending:
            await asyncio.sleep(0.01)
        items = [Candidate(url, Hop.LINK, depth=depth) for depth in depths]
        await store.receive([Letter(bucket_of(HOSTS[1]), 1, items)])
        await store.flush()
        record = await store.record(url)
        await store.aclose()
        assert record is not None
        assert (record.depth, record.outcome) == (2, Outcome.PENDING)

    run(scenario())


def test_requests_and_what_a_host_said_go_with_it_to_its_next_owner(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(*(page(host, number) for host in HOSTS[:2] for number in range(6)))
    policy = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, host_budget=4))

    async def ask(store: ClusterMapStore, rounds: int) -> list[str]:
        asked = []
        for _ in range(rounds):
            for lease in await store.lease(2, loop_time()):
                asked.append(host_key(lease.url))
                said = host_key(lease.url) == HOSTS[1] and len(asked) > 3
                await settle(
                    store, lease, (), Verdict(Outcome.RATE_LIMITED, "HTTP 429") if said else CAPTURED
                )
            await asyncio.sleep(0.01)
        return asked

    async def scenario() -> None:
        first = await opened(postgres, job, policy)
        while (await first.stats()).pending < 12:
            await asyncio.sleep(0.01)
        [lease, *rest] = await first.lease(1, loop_time())
        assert not rest
        assert not lease.head_answered
        await first.release_host(lease, HostReport(reached=loop_time(), latency=0.0))
        await first.settle([Deferral(lease, loop_time(), 0.0, head_answered=True)])
        before = await ask(first, 4)
        await first.aclose()
        second = await opened(postgres, job, policy)
        after = await ask(second, 30)
        for host, most in ((HOSTS[0], 4), (HOSTS[1], before.count(HOSTS[1]))):
            assert [*before, host_key(lease.url), *after].count(host) <= most + (host == host_key(lease.url))
        waits = {wait.host: wait.why for wait in await second.waiting_hosts(loop_time())}
        await second.aclose()
        assert "request limit" in waits[HOSTS[0]]

    run(scenario())

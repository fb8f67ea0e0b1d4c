"""Hosts change hands again and again, between workers whose clocks are days apart: what a site sees of it is
one request at a time and its pause between any two."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from sumi.model import Candidate, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, Settlement
from sumi.state.cluster.membership import Membership
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import Timing
from tests.cluster.conftest import MakeJob
from tests.cluster.test_store import accept_all, end_session, loop_time, page
from tests.postgres import Postgres

PAUSE = 0.03
TWO_DAYS = 2 * 86400.0
EPOCH = 1e9  # times of a frontier are never negative
HOSTS = [f"host-{number}.test" for number in range(12)]
PAGES = 6
PACED = FrontierPolicy(PacingPolicy(delay=PAUSE, sitemap_delay=PAUSE))
BRISK = Timing(word=0.05, idle_word=0.02, balance=0.03)
CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")
Visited = list[tuple[float, float]]


class Worker:
    """Asks what it leases, as a crawl does. ``ahead``: by how much its clock is wrong."""

    def __init__(
        self, address: str, job: int, timing: Timing, ahead: float, site: dict[str, Visited]
    ) -> None:
        self._clock: Callable[[], float] = lambda: EPOCH + loop_time() + ahead
        self.store = ClusterStore(
            address, job, PACED, self._clock(), name=f"worker {ahead:+.0f}", clock=self._clock, timing=timing
        )
        self._site = site
        self._visits: set[asyncio.Task[None]] = set()

    async def crawl(self) -> None:
        self.store.judge_with(accept_all)
        while self._visits or (await self.store.stats()).pending:
            for lease in await self.store.lease(8, self._clock()):
                visit = asyncio.create_task(self._visit(lease))
                self._visits.add(visit)
                visit.add_done_callback(self._visits.discard)
            await asyncio.sleep(0.002)

    async def _visit(self, lease: Lease) -> None:
        store, session = self.store, self.store.session
        await asyncio.sleep(random.random() * 0.003)
        if session is None or session is not store.session or not store.may_ask(lease.host):
            await store.settle([Deferral(lease, self._clock(), self._clock())])
            return
        began = loop_time()
        await asyncio.sleep(random.random() * 0.004)
        self._site[lease.host].append((began, loop_time()))
        await store.release_host(lease, HostReport(reached=self._clock(), latency=0.0))
        if random.random() < 0.2:  # the turn went to robots.txt
            await store.settle([Deferral(lease, self._clock(), self._clock())])
            return
        number = int(lease.url.rpartition("/")[2]) + 1
        found = [page(lease.host, number), page(HOSTS[HOSTS.index(lease.host) - 1], number)]
        links = tuple(Judged(Candidate(url, depth=1)) for url in found if number < PAGES)
        await store.settle([Settlement(lease, CAPTURED, self._clock(), found=links)])


async def come_and_go(address: str, job: int, crawling: "asyncio.Future[Any]") -> None:
    """Others join and leave, so that everybody's fair share grows and shrinks."""
    while not crawling.done():
        others = [await Membership.join(address, job, "other", BRISK) for _ in range(random.randint(1, 3))]
        await asyncio.sleep(random.uniform(0.04, 0.15))
        for other in others:
            await other.leave({})
        await asyncio.sleep(random.uniform(0.1, 0.4))


def too_near(site: dict[str, Visited]) -> list[str]:
    """As the site sees it."""
    return [
        f"{host}: {(after[0] - before[0]) * 1000:.1f} ms"
        for host, visited in site.items()
        for before, after in pairwise(sorted(visited))
        if after[0] - before[0] < PAUSE or after[0] < before[1]
    ]


@pytest.mark.parametrize("sessions_end", [False, True])
def test_a_host_that_changes_hands_keeps_its_pause(
    postgres: Postgres, make: MakeJob, sessions_end: bool
) -> None:
    job = make(*(page(host, 0) for host in HOSTS)).id
    site: dict[str, Visited] = defaultdict(list)
    ended: list[ClusterStore] = []

    async def scenario() -> None:
        timing = msgspec.structs.replace(BRISK, inherit=0.2, rejoin=0.02) if sessions_end else BRISK
        workers = [
            Worker(postgres.address(), job, timing, ahead, site) for ahead in (0.0, TWO_DAYS, -TWO_DAYS)
        ]
        for worker in workers:
            await worker.store.open()
        crawling = asyncio.gather(*(worker.crawl() for worker in workers))
        moving = asyncio.create_task(come_and_go(postgres.address(), job, crawling))
        while sessions_end and not crawling.done() and len(ended) < 4:
            await asyncio.sleep(0.2)
            one = random.choice(workers).store
            if one.member is not None:
                await end_session(postgres, one)
                ended.append(one)
        await crawling
        await moving
        for worker in workers:
            await worker.store.aclose()

    asyncio.run(asyncio.wait_for(scenario(), 90))
    assert too_near(site) == []
    settled = f"SELECT count(DISTINCT key), count(*) FROM sumi.ending WHERE job = {job} AND what = 'settled'"
    assert postgres.sql(settled).strip() == f"{len(HOSTS) * PAGES}|{len(HOSTS) * PAGES}"

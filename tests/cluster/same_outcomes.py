"""A random web done by three workers, whose hosts change hands at random and whose sessions end, and by the
executable specification: every URL must end alike."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, Protocol

from sumi.model import Candidate, Hop, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, Frontier, HostReport, Judged, Ledger, Settlement
from sumi.state.cluster.jobs import make_job
from sumi.state.cluster.membership import Membership
from sumi.state.cluster.session import connect
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import Timing
from sumi.state.memory import MemoryStore
from tests.postgres import Postgres

# What ends is asked again soon; nobody stands still for so long that the server would end it.
BRISK = Timing(word=0.05, commit=0.02, idle_word=0.02, balance=0.04, inherit=0.1, rejoin=0.02)
UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0))
HOSTS, PAGES, LINKS = 9, 12, 6
REFUSED = Verdict(Outcome.EXCLUDED, "not wanted")
BUSY = Verdict(Outcome.SERVER_ERROR, "HTTP 503")
ENDS = (Verdict(Outcome.CAPTURED, "HTTP 200"), Verdict(Outcome.NOT_FOUND, "HTTP 404"))


class Store(Frontier, Ledger, Protocol):
    """Both ports: what a worker and the specification have in common."""


class Web:
    """What becomes of each URL is chance, and the same for whoever asks."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.start = [self._url(host, 0) for host in range(3)]

    def _of(self, url: str) -> random.Random:
        return random.Random(f"{self._seed} {url}")

    @staticmethod
    def _url(host: int, number: int) -> str:
        return f"https://host-{host}.test/{number}"

    def links(self, url: str) -> list[str]:
        chance = self._of(f"links of {url}")
        return [self._url(chance.randrange(HOSTS), chance.randrange(PAGES)) for _ in range(LINKS)]

    def failures(self, url: str) -> int:
        """Before it ends."""
        return self._of(f"failures of {url}").choice((0, 0, 0, 1, 2))

    def end(self, url: str) -> Verdict:
        return self._of(f"end of {url}").choice((ENDS[0], *ENDS))

    def judged(self, candidate: Candidate) -> Judged:
        is_refused = candidate.hop is not Hop.SEED and not self._of(candidate.url).randrange(8)
        return Judged(candidate, REFUSED if is_refused else None)

    async def judge(self, candidates: Any) -> Sequence[Judged]:
        return [self.judged(candidate) for candidate in candidates]


def now() -> float:
    return 1e9 + asyncio.get_running_loop().time()


class Crawl:
    """Asks what ``store`` leases. A page that was handed back counts as failed once by all who have it."""

    def __init__(self, store: Store, web: Web) -> None:
        self._store = store
        self._web = web

    async def run(self) -> None:
        while True:
            leases = await self._store.lease(4, now())
            await asyncio.gather(*map(self._visit, leases))
            if not leases:
                if not (await self._store.stats()).pending:
                    return
                await asyncio.sleep(0.005)

    async def _visit(self, lease: Lease) -> None:
        await self._store.release_host(lease, HostReport(reached=now(), latency=0.0))
        if lease.attempt < self._web.failures(lease.url):
            await self._store.settle([Deferral(lease, now(), now() + 0.005, BUSY)])
            return
        depth = lease.candidate.depth + 1
        found = [
            self._web.judged(Candidate(url, referrer=lease.url, depth=depth))
            for url in await self._store.unseen(self._web.links(lease.url), depth, Hop.LINK)
        ]
        verdict = self._web.end(lease.url)
        links = tuple(found) if verdict is ENDS[0] else ()
        await self._store.settle([Settlement(lease, verdict, now(), found=links)])


Ends = dict[str, tuple[Outcome, str, list[Outcome]]]


async def ends_of(ledger: Ledger) -> Ends:
    return {
        record.url: (
            record.outcome,
            record.rule,
            [attempt.outcome for attempt in await ledger.history(record.url)],
        )
        async for record in ledger.records()
    }


async def _specified(web: Web) -> Ends:
    store = MemoryStore(UNPACED, now())
    await store.add([Judged(Candidate(url, Hop.SEED)) for url in web.start])
    await Crawl(store, web).run()
    return await ends_of(store)


async def _disturb(
    address: str,
    job: int,
    workers: list[ClusterStore],
    chance: random.Random,
    crawling: "asyncio.Future[Any]",
) -> None:
    """Others join and leave, so that fair shares grow and shrink, and a few sessions end."""
    sessions = 3
    while not crawling.done():
        others = [await Membership.join(address, job, "other", BRISK) for _ in range(chance.randint(1, 3))]
        await asyncio.sleep(chance.uniform(0.03, 0.12))
        for other in others:
            await other.leave({})
        member = chance.choice(workers).member
        if sessions and member is not None:
            sessions -= 1
            connection = await connect(address, BRISK)
            await connection.execute("SELECT pg_terminate_backend(%s)", (member.connection.info.backend_pid,))
            await connection.close()
        await asyncio.sleep(chance.uniform(0.03, 0.2))


async def _shared(
    address: str, name: str, web: Web, chance: random.Random, most_done: int | None
) -> tuple[Ends, int]:
    """What three workers made of it, and how many URLs the database says were settled twice."""
    connection = await connect(address, BRISK)
    seeds = [Candidate(url, Hop.SEED) for url in web.start]
    job = await make_job(connection, name, "mirror", "{}", "", seeds, 0)
    workers = [
        ClusterStore(
            *(address, job.id, UNPACED, now()),
            name=f"worker {number}",
            clock=now,
            timing=BRISK,
            most_done=most_done,
        )
        for number in range(3)
    ]
    for worker in workers:
        await worker.open()
        worker.judge_with(web.judge)
    crawling = asyncio.gather(*(Crawl(worker, web).run() for worker in workers))
    await _disturb(address, job.id, workers, chance, crawling)
    await crawling
    found = await ends_of(workers[0])
    for worker in workers:
        await worker.aclose()
    answer = await connection.execute(
        """SELECT count(*) FROM (SELECT FROM sumi.ending WHERE job = %s AND what = 'settled'
        GROUP BY key HAVING count(*) > 1) twice""",
        (job.id,),
    )
    [[twice]] = await answer.fetchall()
    await connection.close()
    return found, twice


def differences(postgres: Postgres, name: str, seed: int, most_done: int | None = None) -> list[str]:
    """None, if three workers make of a web what the specification makes of it. ``most_done``: URLs with
    nothing more to do that each keeps in memory."""
    web, chance = Web(seed), random.Random(seed)

    async def both() -> list[str]:
        specified = await _specified(web)
        async with asyncio.timeout(120):
            found, twice = await _shared(postgres.address(), name, web, chance, most_done)
        wrong = [f"{twice} URLs were settled twice"] if twice else []
        if len(specified) < HOSTS:
            wrong.append(f"a web of {len(specified)} URLs tries nothing")
        wrong += [
            f"{url}: {found.get(url)} instead of {specified.get(url)}"
            for url in sorted(specified.keys() | found.keys())
            if specified.get(url) != found.get(url)
        ]
        return wrong

    return asyncio.run(both())

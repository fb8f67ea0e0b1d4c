"""Several workers share a job: what one finds on another's hosts reaches it, each URL is done once, and
hosts whose
owner did not let go in order are left alone for a while."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec
import pytest

from sumi.errors import StateError
from sumi.events import Event
from sumi.model import Candidate, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, RobotsRecord, Settlement
from sumi.state.cluster import batch
from sumi.state.cluster import store as store_module
from sumi.state.cluster.jobs import JobRow
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.membership import Membership, Place
from sumi.state.cluster.session import Lost, connect, patiently
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import Timing
from sumi.urls import host_key
from tests.cluster.conftest import FAST, MakeJob
from tests.postgres import Postgres

UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0))
# As FAST, for tests in which nobody dies: a busy machine may stand still for a second.
CALM = Timing(word=0.05, commit=0.0, idle_word=0.02, balance=0.05)
CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")
HOSTS = [f"host-{number}.test" for number in range(8)]


async def accept_all(candidates: Any) -> Sequence[Judged]:
    return [Judged(candidate) for candidate in candidates]


def page(host: str, number: int) -> str:
    return f"https://{host}/{number}"


class Team:
    """Workers of one job in one process, as far as they get with each other."""

    def __init__(self, postgres: Postgres, job: JobRow, policy: FrontierPolicy, timing: Timing) -> None:
        self._open: Callable[[str, float], ClusterStore] = lambda name, ahead: ClusterStore(
            postgres.address(),
            job.id,
            policy,
            loop_time() + ahead,
            name=name,
            clock=lambda: loop_time() + ahead,
            timing=timing,
        )
        self.workers: list[ClusterStore] = []
        self.asked: Counter[str] = Counter()

    async def join(self, ahead: float = 0.0) -> ClusterStore:
        """``ahead``: by how much its clock is."""
        store = self._open(f"worker {len(self.workers)}", ahead)
        await store.open()
        store.judge_with(accept_all)
        self.workers.append(store)
        return store

    async def leave(self) -> None:
        for store in self.workers:
            await store.aclose()

    async def crawl(self, store: ClusterStore, links: Callable[[str], list[str]]) -> None:
        """Until the job is over: whatever may be asked is settled, with its links."""
        while True:
            leases = await store.lease(4, loop_time())
            for lease in leases:
                self.asked[lease.url] += 1
                await self.settle(store, lease, links(lease.url))
            stats = await store.stats()
            if not stats.pending or await store.next_ready(loop_time()) is None:
                return
            if not leases:
                await asyncio.sleep(0.01)

    @staticmethod
    async def settle(store: ClusterStore, lease: Lease, links: list[str]) -> bool:
        found = tuple(Judged(Candidate(url, referrer=lease.url, depth=1)) for url in links)
        await store.release_host(lease, HostReport(reached=loop_time(), latency=0.0))
        [settled] = await store.settle([Settlement(lease, CAPTURED, loop_time(), found=found)])
        return settled


async def end_session(postgres: Postgres, worker: ClusterStore) -> None:
    """As the server does with one that is silent, and as a kill of the worker does."""
    assert worker.member is not None
    process = worker.member.connection.info.backend_pid
    other = await connect(postgres.address(), CALM)
    await other.execute("SELECT pg_terminate_backend(%s)", (process,))
    await other.close()


def loop_time() -> float:
    return asyncio.get_running_loop().time()


def run(work: Coroutine[Any, Any, None]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(in_time())


def test_three_workers_do_every_page_of_every_host_once(postgres: Postgres, make: MakeJob) -> None:
    job = make(*(page(host, 0) for host in HOSTS))
    pages = 6

    def links(url: str) -> list[str]:
        """Every page links to its neighbour, on its own host and on all others."""
        number = int(url.rpartition("/")[2]) + 1
        return [page(host, number) for host in HOSTS] if number < pages else []

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(3)]
        await asyncio.gather(*(team.crawl(worker, links) for worker in workers))
        stats = await workers[0].stats()
        assert (stats.pending, stats.outcomes) == (0, {Outcome.CAPTURED: len(HOSTS) * pages})
        await team.leave()
        assert set(team.asked.values()) == {1}
        assert len(team.asked) == len(HOSTS) * pages
        assert all(worker.holdings.owned for worker in workers)  # each had a part in it

    run(scenario())


def test_a_link_that_goes_round_is_never_taken_for_the_end(postgres: Postgres, make: MakeJob) -> None:
    """One page at a time is open, and it is always on a host of somebody else."""
    job = make(page(HOSTS[0], 0))
    rounds = 24

    def links(url: str) -> list[str]:
        number = int(url.rpartition("/")[2]) + 1
        return [page(HOSTS[number % len(HOSTS)], number)] if number < rounds else []

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(3)]
        await asyncio.gather(*(team.crawl(worker, links) for worker in workers))
        assert sum(team.asked.values()) == len(team.asked) == rounds
        await team.leave()

    run(scenario())


def test_a_limit_on_pages_holds_over_all_workers(postgres: Postgres, make: MakeJob) -> None:
    job = make(*(page(host, number) for host in HOSTS for number in range(5)), max_pages=23)

    async def scenario() -> None:
        policy = FrontierPolicy(UNPACED.pacing, max_pages=23)
        team = Team(postgres, job, policy, CALM)
        workers = [await team.join() for _ in range(3)]
        await asyncio.gather(*(team.crawl(worker, lambda _url: []) for worker in workers))
        assert sum(team.asked.values()) == 23
        assert (await workers[0].stats()).captured == 23
        await team.leave()

    run(scenario())


def test_pages_that_were_reserved_and_ended_uncaptured_go_to_workers_that_need_them(
    postgres: Postgres, make: MakeJob
) -> None:
    mine, yours = HOSTS[:2]
    assert bucket_of(mine) != bucket_of(yours)
    job = make(*(page(host, number) for host in (mine, yours) for number in range(6)), max_pages=6)

    async def scenario() -> None:
        team = Team(postgres, job, FrontierPolicy(UNPACED.pacing, max_pages=6), CALM)
        one, two = await team.join(), await team.join()
        while not all(worker.holdings.machine.counts.open.total() == 6 for worker in (one, two)):
            await asyncio.sleep(0.01)
        leases = await one.lease(4, loop_time())  # and with them all six pages of the limit
        while not leases or not two.last_word or two.last_word.pages_left:
            await asyncio.sleep(0.01)
        assert await two.lease(4, loop_time()) == []
        while leases:
            for lease in leases:
                await one.release_host(lease, HostReport(reached=loop_time(), latency=0.0))
                assert await one.settle([Settlement(lease, Verdict(Outcome.NOT_FOUND, "404"), loop_time())])
            leases = await one.lease(4, loop_time())
        await team.crawl(two, lambda _url: [])
        assert (await two.stats()).captured == 6
        assert one.session is not None  # it did not have to leave for that
        await team.leave()

    run(scenario())


def test_hosts_of_a_worker_that_died_are_left_alone_for_a_while_and_their_pages_are_not_lost(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(*(page(host, 0) for host in HOSTS))

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, FAST)
        dying = await team.join()
        while (await dying.stats()).known < len(HOSTS):
            await asyncio.sleep(0.01)
        [lease] = await dying.lease(1, loop_time())
        died = loop_time()
        assert dying._keeper is not None
        dying._keeper.cancel()
        await asyncio.wait([dying._keeper])
        await end_session(postgres, dying)
        heir = await team.join()
        team.workers.remove(dying)
        asked: dict[str, float] = {}
        while len(asked) < len(HOSTS):
            for one in await heir.lease(8, loop_time()):
                asked[one.url] = loop_time()
                assert await team.settle(heir, one, [])
            await asyncio.sleep(0.01)
        assert lease.url in asked
        assert min(asked.values()) >= died + FAST.inherit
        assert not await team.settle(dying, lease, [])  # whatever it still believes
        record = await heir.history(lease.url)
        assert len(record) == 1
        await dying.aclose()
        await team.leave()

    run(scenario())


def test_hosts_that_were_let_go_in_order_are_asked_after_their_pause(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(*(page(host, number) for host in HOSTS for number in range(2)))
    policy = FrontierPolicy(PacingPolicy(delay=0.3, sitemap_delay=0.3))

    async def scenario() -> None:
        team = Team(postgres, job, policy, CALM)
        first = await team.join()
        last: dict[str, float] = {}
        while len(last) < len(HOSTS):
            for lease in await first.lease(8, loop_time()):
                last[lease.host] = loop_time()
                await team.settle(first, lease, [])
            await asyncio.sleep(0.01)
        await first.aclose()
        second = await team.join()
        team.workers.remove(first)
        done = 0
        while done < len(HOSTS):
            for lease in await second.lease(8, loop_time()):
                assert loop_time() - last[lease.host] >= 0.3
                done += await team.settle(second, lease, [])
            await asyncio.sleep(0.01)
        await team.leave()

    run(scenario())


def test_a_session_that_ends_takes_all_leases_with_it_and_a_new_one_goes_on(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(*(page(host, 0) for host in HOSTS))

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, msgspec.structs.replace(CALM, inherit=0.5, rejoin=0.05))
        worker = await team.join()
        while (await worker.stats()).known < len(HOSTS):
            await asyncio.sleep(0.01)
        [lease] = await worker.lease(1, loop_time())
        assert worker.may_ask(lease.host)
        await end_session(postgres, worker)
        assert not await team.settle(worker, lease, [])
        assert not worker.may_ask(lease.host)
        await asyncio.gather(team.crawl(worker, lambda _url: []))
        assert {url: number for url, number in team.asked.items() if number > 1} == {}
        assert len(team.asked) == len(HOSTS)
        await team.leave()

    run(scenario())


def test_clocks_two_days_apart_change_no_wait(postgres: Postgres, make: MakeJob) -> None:
    job, two_days = make(page(HOSTS[0], 0)), 2 * 86_400.0

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        deferred = loop_time() - 0.5
        for ahead in (0.0, two_days, 0.0):
            store = await team.join(ahead)
            while not (leases := await store.lease(1, loop_time() + ahead)):
                await asyncio.sleep(0.01)
            assert loop_time() - deferred >= 0.5  # and within the time of this test
            deferred = loop_time()
            await store.release_host(leases[0], HostReport(reached=deferred + ahead, latency=0.0))
            why = Verdict(Outcome.SERVER_ERROR, "HTTP 503")
            assert await store.settle([Deferral(leases[0], deferred + ahead, deferred + ahead + 0.6, why)])
            await store.aclose()

    run(scenario())


def test_a_pause_of_a_host_is_as_long_for_those_whose_clocks_are_two_days_behind(
    postgres: Postgres, make: MakeJob
) -> None:
    job, two_days = make(page(HOSTS[0], 0)), 2 * 86_400.0

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        ahead = await team.join(two_days)
        await ahead.lease(1, loop_time() + two_days)
        await ahead.hold_host(HOSTS[0], loop_time() + two_days + 30.0, "it asked for a pause")
        await ahead.aclose()
        behind = await team.join()
        while not (waits := await behind.waiting_hosts(loop_time())):
            await asyncio.sleep(0.01)
            await behind.lease(1, loop_time())
        assert 0.0 < waits[0].ready_at - loop_time() <= 30.0
        await behind.aclose()

    run(scenario())


def test_a_worker_that_hears_nothing_leases_nothing(postgres: Postgres, make: MakeJob) -> None:
    job = make(page(HOSTS[0], 0))

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        worker = await team.join()
        while (await worker.stats()).known < 1:
            await asyncio.sleep(0.01)
        assert worker.member is not None
        host = host_key(page(HOSTS[0], 0))
        worker.member.answered -= CALM.no_lease + 1
        assert await worker.lease(1, loop_time()) == []
        assert worker.may_ask(host)  # what is under way may end
        worker.member.answered -= CALM.cut
        assert not worker.may_ask(host)
        await team.leave()

    run(scenario())


def test_pages_that_link_to_hosts_of_each_other_do_not_lock_each_other(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(*(page(host, 0) for host in HOSTS))
    rounds = 20

    def links(url: str) -> list[str]:
        host, number = host_key(url), int(url.rpartition("/")[2]) + 1
        others = [each for each in HOSTS if bucket_of(each) != bucket_of(host)]
        return [page(other, number) for other in reversed(others)] if number < rounds else []

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(2)]
        try:
            await asyncio.gather(*(team.crawl(worker, links) for worker in workers))
        except Lost as error:
            raise AssertionError(f"a session was lost: {error}") from error
        assert set(team.asked.values()) == {1}
        assert len(team.asked) == rounds * len(HOSTS)
        await team.leave()

    run(scenario())


def test_pages_that_end_while_another_is_under_way_are_written_together(
    postgres: Postgres, make: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(*(page(host, 0) for host in HOSTS))
    endings: list[int] = []

    async def counted(connection: Any, statements: Any, *rest: Any) -> None:
        given = list(statements)
        endings.extend(len(values[2]) for text, values in given if text == batch._ENDINGS)
        await batch.write(connection, given, *rest)

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, msgspec.structs.replace(CALM, commit=60.0, word=60.0))
        worker = await team.join()
        while (await worker.stats()).known < len(HOSTS):
            await asyncio.sleep(0.01)
        await worker.flush()
        monkeypatch.setattr(store_module, "write", counted)
        first, *others = await worker.lease(len(HOSTS), loop_time())
        link = page(HOSTS[0], 1)
        settling = [asyncio.create_task(team.settle(worker, one, [link])) for one in others]
        while link not in worker.holdings.machine.entries:
            await asyncio.sleep(0)
        [further] = await worker.lease(1, loop_time())  # what was found is there before it is written
        settling.append(asyncio.create_task(team.settle(worker, further, [])))
        await asyncio.sleep(0.05)
        assert await team.settle(worker, first, [])
        assert all(await asyncio.gather(*settling))
        await team.leave()
        assert (sum(endings), len(endings) <= 2) == (len(HOSTS) + 1, True)  # the keeper may have begun one

    run(scenario())


def test_a_robots_txt_is_known_before_it_is_written_and_written_though_the_session_ends(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make(page(HOSTS[0], 0))
    record = RobotsRecord("https://host-0.test", 200, b"User-agent: *", 1.0)

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, msgspec.structs.replace(CALM, inherit=0.0, rejoin=0.05))
        worker = await team.join()
        assert await asyncio.gather(*(worker.get_robots(record.origin) for _ in range(3))) == [None] * 3
        await end_session(postgres, worker)
        await worker.put_robots(record)
        assert await worker.get_robots(record.origin) == record
        stored = f"SELECT count(*) FROM sumi.robots WHERE job = {job.id}"
        while postgres.sql(stored).strip() != "1":
            await asyncio.sleep(0.02)
        await team.leave()

    run(scenario())


def test_a_session_that_ends_while_a_worker_joins_is_told_in_a_sentence(
    postgres: Postgres, make: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(page(HOSTS[0], 0))

    async def ended(_member: Membership) -> list[Place]:
        raise Lost("terminating connection")

    monkeypatch.setattr(Membership, "places", ended)

    async def scenario() -> None:
        worker = Team(postgres, job, UNPACED, CALM)._open("late", 0.0)
        with pytest.raises(StateError, match="session with the database has ended: terminating"):
            await worker.open()
        await worker.aclose()

    run(scenario())


def test_a_worker_whose_session_ends_while_it_joins_tries_again(
    postgres: Postgres, make: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(page(HOSTS[0], 0))
    places = Membership.places
    said: list[Event] = []

    async def ended_once(member: Membership) -> list[Place]:
        if not said:
            raise Lost("terminating connection")
        return await places(member)

    monkeypatch.setattr(Membership, "places", ended_once)

    async def scenario() -> None:
        worker = Team(postgres, job, UNPACED, CALM)._open("late", 0.0)
        await patiently(worker.open, said.append)
        assert worker.holdings.is_whole
        await worker.aclose()

    run(scenario())
    assert len(said) == 1


def test_a_job_that_came_to_its_end_is_complete_though_the_session_ends_then(
    postgres: Postgres, make: MakeJob
) -> None:
    """The server may be restarted between a worker's last page and its summary."""
    job = make(*(page(host, 0) for host in HOSTS))

    async def scenario() -> None:
        team = Team(postgres, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(2)]
        while not all(worker.holdings.owned for worker in workers):
            await asyncio.sleep(0.01)
        await asyncio.gather(*(team.crawl(worker, lambda _url: []) for worker in workers))
        for worker in workers:
            before = await worker.stats()
            await worker.aclose()  # it would join again
            worker.lose("terminating connection")
            assert (await worker.stats()) == before
            assert (before.pending, before.captured) == (0, len(HOSTS))

    run(scenario())

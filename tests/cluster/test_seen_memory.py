"""--seen-memory: URLs that are done are forgotten and looked up again, so that none is done twice and none is
lost, whatever of them is in memory."""

import asyncio
import re
from pathlib import Path

import pytest

from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome, Verdict
from sumi.ports import HostReport, Judged, Settlement
from sumi.state.cluster.store import ClusterStore
from tests.cluster.conftest import MakeJob
from tests.cluster.many_hosts import many_hosts
from tests.cluster.planted import ledger_of
from tests.cluster.same_outcomes import BRISK, UNPACED, differences, now
from tests.cluster.test_store import CAPTURED, HOSTS, page
from tests.commands import RunSumi
from tests.postgres import Postgres

HOST = HOSTS[0]
FAR = Verdict(Outcome.TOO_DEEP, "too deep")


@pytest.mark.parametrize("most_done", [0, 3, 20])
def test_workers_that_forget_end_every_url_as_the_specification_does(
    postgres: Postgres, tmp_path: Path, most_done: int
) -> None:
    assert differences(postgres, tmp_path.name, most_done + 4, most_done) == []


def opened(postgres: Postgres, job: int, most_done: int) -> ClusterStore:
    return ClusterStore(postgres.address(), job, UNPACED, now(), clock=now, timing=BRISK, most_done=most_done)


async def settled(store: ClusterStore, count: int) -> None:
    """So many pages, each of which is written."""
    done = 0
    while done < count:
        for lease in await store.lease(count - done, now()):
            await store.release_host(lease, HostReport(reached=now(), latency=0.0))
            done += sum(await store.settle([Settlement(lease, CAPTURED, now())]))
        await asyncio.sleep(0.005)


def test_what_was_forgotten_is_known_when_it_is_found_again(postgres: Postgres, make: MakeJob) -> None:
    job, pages = make().id, [page(HOST, number) for number in range(30)]

    async def scenario() -> None:
        store = opened(postgres, job, most_done=5)
        await store.open()
        await store.add([Judged(Candidate(url, Hop.SEED)) for url in pages])
        await settled(store, len(pages))
        known = store.holdings.machine.entries
        assert len(known) == 5
        stranger = page(HOST, 99)
        assert await store.unseen([*pages, stranger], 1, Hop.LINK) == [stranger]
        found = [Judged(Candidate(url, depth=1)) for url in (*pages[:3], stranger)]
        assert await store.add(found) == [False, False, False, True]
        assert (await store.stats()).known == len(pages) + 1
        await settled(store, 1)
        assert len(known) == 5
        # What a run does with pages that are done, it does with those that it forgot.
        assert await store.requeue(pages[:2], now()) == 2
        await settled(store, 2)
        assert [len(await store.history(url)) for url in pages[:3]] == [2, 2, 1]
        stats = await store.stats()
        assert (stats.pending, stats.outcomes) == (0, {Outcome.CAPTURED: len(pages) + 1})
        await store.aclose()

    asyncio.run(scenario())


def test_a_refusal_that_was_forgotten_is_lifted_by_a_shorter_way(postgres: Postgres, make: MakeJob) -> None:
    job, url = make().id, page(HOST, 1)

    async def scenario() -> None:
        store = opened(postgres, job, most_done=0)
        await store.open()
        await store.add([Judged(Candidate(url, depth=5), FAR)])
        assert url not in store.holdings.machine.entries
        assert await store.unseen([url], 7, Hop.LINK) == []
        assert await store.unseen([url], 2, Hop.LINK) == [url]
        assert await store.add([Judged(Candidate(url, depth=2))]) == [True]
        await settled(store, 1)
        assert (await store.stats()).outcomes == {Outcome.CAPTURED: 1}
        await store.aclose()

    asyncio.run(scenario())


def test_a_worker_that_joins_later_keeps_no_more_in_memory(postgres: Postgres, make: MakeJob) -> None:
    job, pages = make().id, [page(HOST, number) for number in range(30)]

    async def scenario() -> None:
        first = opened(postgres, job, most_done=100)
        await first.open()
        await first.add([Judged(Candidate(url, Hop.SEED)) for url in pages])
        await settled(first, 20)
        await first.aclose()
        second = opened(postgres, job, most_done=5)
        await second.open()
        assert len(second.holdings.machine.entries) == 5 + 10
        assert await second.unseen(pages, 1, Hop.LINK) == []
        stats = await second.stats()
        assert (stats.known, stats.pending, stats.captured) == (30, 10, 20)
        await settled(second, 10)
        assert len(second.holdings.machine.entries) == 5
        await second.aclose()

    asyncio.run(scenario())


def test_a_command_with_little_memory_makes_the_same_mirror(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path
) -> None:
    job = re.sub(r"\W", "-", tmp_path.name)
    hosts, pages = 4, 50
    with many_hosts(hosts, pages) as web:
        words = ("--state", postgres.address(), "--job", job, "--rate-limit", "0")
        little = ("-q", "--seen-memory", "64KiB")  # for about a hundred URLs
        done = run_sumi("mirror", web.start, *words, "--max-pages", "150", *little, *web.options())
        assert done.returncode == 0, done.stderr
        done = run_sumi("mirror", web.start, *words, "--max-pages", "0", *little, *web.options())
        assert done.returncode == 0, done.stderr
        assert set(web.pages_asked().values()) == {1}
        assert ledger_of(postgres, job) == (hosts * pages, hosts * pages, 0)
        asked = len(web.log)
        again = run_sumi("worker", postgres.address(), "--job", job, *little)
        assert again.returncode == 0, again.stderr
        assert len(web.log) == asked


@pytest.mark.parametrize("command", [("mirror",), ("capture",)])
def test_memory_of_a_job_without_a_database_is_refused(run_sumi: RunSumi, command: tuple[str, ...]) -> None:
    refused = run_sumi(*command, "http://127.0.0.1:9/", "--seen-memory", "1GiB")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--state" in refused.stderr

"""A URL costs the same among many as among few, in work and in memory, whatever the frontier is kept in."""

import asyncio
import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from sumi.jobs.map.store import caches
from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import HostReport, Judged, Settlement
from sumi.state import entries
from sumi.state.lmdb.rows import LmdbRows
from sumi.state.sqlite import SqliteStore
from tests.contract.backends import BACKENDS, Store

POLICY = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100))
CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")
AT_ONCE = 20
HOSTS = 5
# Both are more for each host than a database has read ahead.
FEW, MANY = 100 * HOSTS, 300 * HOSTS
# Of a URL in memory: in a dictionary with its strings, or in a row of which memory holds nothing.
MOST_BYTES = {"memory": 1500, "files": 1500, "growing": 60, "lmdb": 60, "map": 60, "sqlite": 60}

each_backend = pytest.mark.parametrize("backend", sorted(MOST_BYTES))


def pages(first: int, count: int) -> list[Judged]:
    numbers = range(first, first + count)
    return [Judged(Candidate(f"https://h{number % HOSTS}.test/page/{number}", depth=1)) for number in numbers]


async def fill(store: Store, count: int) -> None:
    for start in range(0, count, 100):
        await store.add(pages(start, 100))


async def visit_all(store: Store, most: int = sys.maxsize) -> int:
    """Every page links to three that are known."""
    links = [item.candidate.url for item in pages(0, 3)]
    done = 0
    while done < most and (leases := await store.lease(AT_ONCE, 1.0)):
        for lease in leases:
            assert await store.unseen(links, 2, Hop.LINK) == []
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
        settled = [Settlement(lease, CAPTURED, 1.0, PageFacts(status=200, title="A")) for lease in leases]
        assert all(await store.settle(settled))
        await store.next_ready(1.0)
        await store.stats()
        done += len(leases)
    return done


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, ours and the interpreter's: it depends on nothing but the work."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def calls_per_url(open_store: Callable[[], Store], urls: int) -> float:
    async def crawl() -> None:
        store = open_store()
        await fill(store, urls)
        assert await visit_all(store) == urls
        await store.aclose()

    return calls_of(lambda: asyncio.run(crawl())) / urls


@each_backend
def test_the_work_for_a_url_does_not_grow_with_their_number(backend: str, tmp_path: Path) -> None:
    def opened(name: str) -> Callable[[], Store]:
        (tmp_path / name).mkdir()
        return lambda: BACKENDS[backend](tmp_path / name, POLICY, 0.0)

    few, many = calls_per_url(opened("few"), FEW), calls_per_url(opened("many"), MANY)
    assert many <= 1.1 * few


@each_backend
def test_memory_for_a_url_is_bounded(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Bounds that are reached here, too.
    monkeypatch.setattr(LmdbRows, "most_stale", 100)
    monkeypatch.setattr(entries, "SPARE_DEADLINES", 50)
    monkeypatch.setattr(caches, "CACHED_URLS", 50)

    async def held_with(store: Store, urls: int) -> int:
        await fill(store, urls)
        await visit_all(store, urls // 4)
        gc.collect()  # or what is counted depends on when that was done last
        return tracemalloc.get_traced_memory()[0]

    async def growth(name: str) -> int:
        (tmp_path / name).mkdir()
        store = BACKENDS[backend](tmp_path / name, POLICY, 0.0)
        before = await held_with(store, FEW)
        after = await held_with(store, MANY)
        await store.aclose()
        return after - before

    asyncio.run(growth("first"))  # fills what is remembered of URLs, which is bounded and not of one store
    tracemalloc.start()
    try:
        grown = asyncio.run(growth("second"))
    finally:
        tracemalloc.stop()
    assert grown <= MOST_BYTES[backend] * (MANY - FEW)


def test_a_database_steps_through_as_many_rows_for_the_thousandth_page_as_for_the_first(
    tmp_path: Path,
) -> None:
    async def steps(urls: int) -> Counter[str]:
        folder = tmp_path / str(urls)
        folder.mkdir()
        store = SqliteStore(folder, POLICY, 0.0)
        await fill(store, urls)
        taken: Counter[str] = Counter()
        db: apsw.Connection = store._rows._db  # type: ignore[attr-defined]
        db.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: taken.update(event["stmt_status"]))
        await visit_all(store, 200)
        await store.aclose()
        return taken

    few, many = asyncio.run(steps(FEW)), asyncio.run(steps(MANY))
    assert many["SQLITE_STMTSTATUS_VM_STEP"] <= 1.1 * few["SQLITE_STMTSTATUS_VM_STEP"]
    assert not many["SQLITE_STMTSTATUS_FULLSCAN_STEP"]
    assert not many["SQLITE_STMTSTATUS_SORT"]
    assert not many["SQLITE_STMTSTATUS_AUTOINDEX"]

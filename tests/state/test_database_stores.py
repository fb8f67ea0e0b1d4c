"""What the backends on a database promise beyond the ports: no scans, growth, and whose folder it is."""

import asyncio
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import apsw
import lmdb
import pytest

from sumi.errors import StateDamaged, StateError, StateLocked
from sumi.model import Candidate, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import Durability, FrontierPolicy, PacingPolicy, StateBackend
from sumi.ports import Deferral, HostWait, Judged, Settlement
from sumi.state.database.store import FolderStore
from sumi.state.entries import State
from sumi.state.folder import backend_to_use
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.lmdb.packing import (
    pack_moment,
    pack_row,
    unpack_row,
)
from sumi.state.memory import MemoryStore
from sumi.state.sqlite import SqliteStore, sql
from sumi.state.sqlite.rows import SqliteRows

POLICY = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100))
STORES: dict[str, type[FolderStore]] = {"lmdb": LmdbStore, "sqlite": SqliteStore}
each_store = pytest.mark.parametrize("store", STORES.values(), ids=STORES.keys())


async def nothing() -> None:
    """No files."""


def pages(count: int) -> list[Judged]:
    return [Judged(Candidate(f"https://a.test/{number}")) for number in range(count)]


@pytest.mark.parametrize("statement", sql.HOT)
def test_repeated_statements_never_scan_a_table(statement: str) -> None:
    db = apsw.Connection(":memory:")
    db.execute(sql.SCHEMA)
    bindings = (None,) * statement.count("?")
    plan = [str(step[3]) for step in db.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]
    assert not [step for step in plan if re.match("SCAN (urls|attempts)", step)]
    assert not [step for step in plan if "TEMP B-TREE" in step]


@each_store
def test_a_second_process_is_refused_by_name(store: type[FolderStore], tmp_path: Path) -> None:
    first = store(tmp_path, POLICY, 0.0)
    with pytest.raises(StateLocked, match="in use by process"):
        store(tmp_path, POLICY, 0.0)
    asyncio.run(first.aclose())
    asyncio.run(store(tmp_path, POLICY, 0.0).aclose())


@each_store
def test_a_folder_of_another_backend_is_refused(store: type[FolderStore], tmp_path: Path) -> None:
    asyncio.run(FilesStore(tmp_path, POLICY, 0.0).aclose())
    with pytest.raises(StateError, match=r"made with --state files.*sumi state migrate"):
        store(tmp_path, POLICY, 0.0)
    with pytest.raises(StateError, match="made with --state files"):
        backend_to_use(tmp_path, StateBackend.LMDB)
    asyncio.run(FilesStore(tmp_path, POLICY, 0.0).aclose())  # nobody kept its lock


@each_store
def test_without_a_choice_the_existing_backend_is_used(store: type[FolderStore], tmp_path: Path) -> None:
    assert backend_to_use(tmp_path, None) == "files"
    assert backend_to_use(tmp_path, StateBackend.LMDB) == "lmdb"
    asyncio.run(store(tmp_path, POLICY, 0.0).aclose())
    assert backend_to_use(tmp_path, None) == store.backend
    for damage in ("", "{}", '{"sumi-state": "punch cards", "format": 1}'):
        (tmp_path / "format.json").write_text(damage)
        with pytest.raises(StateError, match="does not name the storage of the state"):
            backend_to_use(tmp_path, None)


@each_store
@pytest.mark.parametrize(
    ("version", "advice"), [(99, "use the version"), (1, "sumi state migrate --to files")]
)
def test_state_of_another_version_is_refused_with_advice(
    store: type[FolderStore], version: int, advice: str, tmp_path: Path
) -> None:
    (tmp_path / "format.json").write_text(f'{{"sumi-state": "{store.backend}", "format": {version}}}')
    for use in (store, store.reading):
        with pytest.raises(StateError, match=rf"says format {version}, .*{advice}.*--fresh"):
            use(tmp_path, POLICY, 0.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["format.json", "lock"]


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.sqlite") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(StateError, match="another program"):
        SqliteStore(tmp_path, POLICY, 0.0)


@each_store
def test_damage_is_named(store: type[FolderStore], tmp_path: Path) -> None:
    asyncio.run(store(tmp_path, POLICY, 0.0).aclose())
    file = tmp_path / f"state.{store.backend}"
    file.write_bytes(b"not a database " * 1000)
    with pytest.raises(StateDamaged, match=r"is damaged.*--fresh"):
        store(tmp_path, POLICY, 0.0)


@each_store
@pytest.mark.parametrize("durability", Durability)
def test_what_was_settled_since_the_last_sync_is_known_after_a_crash(
    store: type[FolderStore], durability: Durability, tmp_path: Path
) -> None:
    async def crawl() -> None:
        opened = store(tmp_path, POLICY, 0.0, durability)
        await opened.add(pages(2))
        for number in range(2):
            [lease] = await opened.lease(1, 0.0)
            await opened.settle([Settlement(lease, Verdict(Outcome.CAPTURED), 1.0, PageFacts(path="x"))])
            if number == 0:
                await opened.sync(nothing)
        await opened.aclose()

    asyncio.run(crawl())
    again = store(tmp_path, POLICY, 2.0, durability)
    assert again.resumed
    assert again.unsynced == ["https://a.test/1"]
    asyncio.run(again.aclose())


@each_store
def test_outputs_are_made_durable_before_the_records_that_name_them(
    store: type[FolderStore], tmp_path: Path
) -> None:
    async def scenario() -> None:
        opened = store(tmp_path, POLICY, 0.0)
        await opened.add(pages(1))
        [lease] = await opened.lease(1, 0.0)
        await opened.settle([Settlement(lease, Verdict(Outcome.CAPTURED), 1.0)])
        seen_by_outputs: list[list[str]] = []

        async def outputs() -> None:
            seen_by_outputs.append(opened.unsynced)

        await opened.sync(outputs)
        await opened.sync(outputs)  # nothing new: nothing to do
        assert seen_by_outputs == [["https://a.test/0"]]
        assert opened.unsynced == []
        await opened.aclose()

    asyncio.run(scenario())


@each_store
def test_a_page_settled_while_outputs_are_synced_waits_for_the_next_sync(
    store: type[FolderStore], tmp_path: Path
) -> None:
    """Its file may have been written too late for the sync that is under way."""

    async def scenario() -> None:
        opened = store(tmp_path, POLICY, 0.0)
        await opened.add(pages(2))
        first, second = await opened.lease(2, 0.0)
        await opened.settle([Settlement(first, Verdict(Outcome.CAPTURED), 1.0)])

        async def outputs() -> None:
            await opened.settle([Settlement(second, Verdict(Outcome.CAPTURED), 2.0)])

        await opened.sync(outputs)
        assert opened.unsynced == [second.url]
        await opened.sync(nothing)
        assert opened.unsynced == []
        await opened.aclose()

    asyncio.run(scenario())


@pytest.mark.parametrize(("strict", "synchronous"), [(True, "FULL"), (False, "NORMAL")])
def test_only_strict_waits_for_the_disk_with_every_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strict: bool, synchronous: str
) -> None:
    said: dict[str, object] = {}
    pragma = apsw.Connection.pragma

    class Heard(apsw.Connection):
        def pragma(self, name: str, *value: object) -> object:  # type: ignore[override]
            said[name] = value[0] if value else None
            return pragma(self, name, *value)

    monkeypatch.setattr("sumi.state.sqlite.rows.apsw.Connection", Heard)
    SqliteRows(tmp_path / "state.sqlite", strict=strict).close()
    assert said["synchronous"] == synchronous


@each_store
def test_memory_holds_what_is_leased_and_not_the_whole_crawl(
    store: type[FolderStore], tmp_path: Path
) -> None:
    async def scenario() -> None:
        opened = store(tmp_path, POLICY, 0.0)
        await opened.add(pages(500))
        leases = await opened.lease(5, 0.0)
        await opened.unseen([item.candidate.url for item in pages(500)], 0, leases[0].candidate.hop)
        assert [*opened._working.values()] == [opened._working[lease.url] for lease in leases]
        await opened.settle([Settlement(lease, Verdict(Outcome.CAPTURED), 1.0) for lease in leases])
        assert [*opened._working.values()] == []
        assert (await opened.stats()).known == 500
        await opened.aclose()

    asyncio.run(scenario())


@each_store
def test_a_host_with_nothing_but_retries_says_so(store: type[FolderStore], tmp_path: Path) -> None:
    async def scenario() -> None:
        opened = store(tmp_path, POLICY, 0.0)
        await opened.add(pages(2))
        leases = await opened.lease(2, 0.0)
        await opened.settle(
            [Deferral(lease, 1.0, due) for lease, due in zip(leases, (50.0, 30.0), strict=True)]
        )
        assert await opened.waiting_hosts(2.0) == [HostWait("a.test", 2, 0, 30.0, "retry")]
        assert await opened.next_ready(2.0) == 30.0
        await opened.aclose()

    asyncio.run(scenario())


LOOK = """
import asyncio, sys
from importlib import import_module
from pathlib import Path
from sumi.policy import FrontierPolicy
module, name, folder, url = sys.argv[1:]
looking = getattr(import_module(module), name).reading(Path(folder), FrontierPolicy(), 2.0)
stats, history = asyncio.run(looking.stats()), asyncio.run(looking.history(url))
asyncio.run(looking.aclose())
print(stats.known, stats.pending, dict(stats.outcomes)["captured"], history[0].rule)
"""


@each_store
def test_a_state_can_be_looked_at_while_it_is_worked_on(store: type[FolderStore], tmp_path: Path) -> None:
    async def scenario() -> None:
        opened = store(tmp_path, POLICY, 0.0)
        await opened.add(pages(3))
        [lease] = await opened.lease(1, 0.0)
        await opened.settle([Settlement(lease, Verdict(Outcome.CAPTURED, "HTTP 200"), 1.0)])
        # In another process, as a user would: LMDB refuses to open a file twice in one.
        command = [sys.executable, "-c", LOOK, store.__module__, store.__name__, str(tmp_path), lease.url]
        looked = subprocess.run(command, capture_output=True, text=True, check=True)
        assert looked.stdout.split() == ["3", "2", "1", "HTTP", "200"]
        assert len(await opened.lease(9, 2.0)) == 2
        await opened.aclose()

    asyncio.run(scenario())


@each_store
def test_a_state_copied_there_and_back_is_the_same(store: type[FolderStore], tmp_path: Path) -> None:
    async def scenario() -> None:
        source = MemoryStore(POLICY, 0.0)
        refused = Judged(Candidate("https://b.test/"), Verdict(Outcome.OUT_OF_SCOPE, "scope"))
        await source.add([*pages(4), refused])
        for verdict in (Outcome.CAPTURED, Outcome.TIMED_OUT):
            [lease] = await source.lease(1, 0.0)
            await source.settle([Settlement(lease, Verdict(verdict), 1.0, PageFacts(title="T"))])
        await source.put_note("a", "b")
        items = [item async for item in source.export()]
        target = store(tmp_path, POLICY, 0.0)
        await target.restore(items)
        assert await target.stats() == await source.stats()
        assert [record async for record in target.records()] == [record async for record in source.records()]
        again = MemoryStore(POLICY, 0.0)
        await again.restore([item async for item in target.export()])
        assert [item async for item in again.export()] == items
        assert [lease.url for lease in await target.lease(9, 0.0)] == [
            lease.url for lease in await source.lease(9, 0.0)
        ]
        await target.aclose()

    asyncio.run(scenario())


def test_a_cancelled_sync_keeps_the_database_locked_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path, POLICY, 0.0)
        await store.add(pages(1))
        loop = asyncio.get_running_loop()
        entered, cancelled = asyncio.Event(), Future[None]()
        order: list[str] = []
        really_sync: Callable[[], None] = store._rows.sync

        def slow_sync() -> None:
            loop.call_soon_threadsafe(entered.set)
            cancelled.result()
            really_sync()
            order.append("synced")

        monkeypatch.setattr(store._rows, "sync", slow_sync)
        syncing = asyncio.create_task(store.sync(nothing))
        await entered.wait()
        syncing.cancel()
        adding = asyncio.create_task(store.add(pages(2)))
        await asyncio.sleep(0)
        cancelled.set_result(None)
        await adding
        order.append("added")
        assert order == ["synced", "added"]
        await asyncio.gather(syncing, return_exceptions=True)
        await store.aclose()

    asyncio.run(scenario())


def forget_what_is_behind_in_sqlite(folder: Path) -> None:
    db = apsw.Connection(str(folder / "state.sqlite"))
    db.execute("DROP INDEX behind; UPDATE urls SET state = 2 WHERE state = 6")
    db.close()


def forget_what_is_behind_in_lmdb(folder: Path) -> None:
    env = lmdb.open(str(folder / "state.lmdb"), subdir=False, max_dbs=10)
    behind = env.open_db(b"behind", dupsort=True, dupfixed=True)
    delays, urls = env.open_db(b"delays"), env.open_db(b"urls")
    with env.begin(write=True) as tx:
        for row_id, packed in list(tx.cursor(urls)):
            row = unpack_row(row_id, packed)
            if row.state == State.BEHIND and row.due is not None:
                tx.put(row_id, pack_row(row._replace(state=State.DELAYED.value)), db=urls)
                tx.put(pack_moment(row.due, row.id), b"", db=delays)
        tx.drop(behind)
    env.close()


@pytest.mark.parametrize(
    ("store", "age"),
    [(SqliteStore, forget_what_is_behind_in_sqlite), (LmdbStore, forget_what_is_behind_in_lmdb)],
    ids=["sqlite", "lmdb"],
)
def test_a_state_from_before_there_was_a_lane_for_retries_opens_and_has_one_now(
    store: type[FolderStore], age: Callable[[Path], None], tmp_path: Path
) -> None:
    async def fail_one() -> None:
        before = store(tmp_path, POLICY, 0.0)
        await before.add(pages(3))
        [lease] = await before.lease(1, 0.0)
        await before.settle([Deferral(lease, 0.0, 5.0, Verdict(Outcome.SERVER_ERROR, "HTTP 500"))])
        await before.aclose()

    async def look() -> list[HostWait]:
        reading = store.reading(tmp_path, POLICY, 1.0)
        waits = await reading.waiting_hosts(1.0)
        await reading.aclose()
        return waits

    async def go_on() -> list[list[str]]:
        after = store(tmp_path, POLICY, 10.0)
        await after.add(pages(5))
        order = [[lease.url[-1] for lease in await after.lease(9, 10.0)]]
        order += [[url[-1] for url in [record.url async for record in after.records()]]]
        await after.aclose()
        return order

    asyncio.run(fail_one())
    age(tmp_path)
    [wait] = asyncio.run(look())
    assert wait.pending == 3
    assert asyncio.run(go_on()) == [["1", "2", "3", "4", "0"], ["0", "1", "2", "3", "4"]]

"""A state that starts as a journal and becomes a database once it knows too many URLs to keep them in memory.

A journal is fastest for one site and easy to inspect, but is read into memory at every start. Users need not
know in advance that a crawl will be large: its state is moved while it runs. Callers wait meanwhile; leases
and the times of hosts are kept. At every moment the disk holds either the complete journal or the complete
database: ``format.json`` says which.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from sumi.errors import StorageFailed, SumiError
from sumi.events import Busy, Listener, Warned
from sumi.files.disk_errors import explained
from sumi.model import Hop, Lease, PageFacts
from sumi.outcomes import Outcome
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import (
    Attempt,
    Deferral,
    FrontierStats,
    HostReport,
    HostWait,
    Judged,
    RobotsRecord,
    Settlement,
    UrlRecord,
)
from sumi.state.folder import mark_folder, sync_folder
from sumi.state.journal import FilesStore
from sumi.state.journal.journal import SEGMENT_NAME
from sumi.state.lock import FolderLock
from sumi.state.migrate import copy_all, verify_copy

if TYPE_CHECKING:
    from sumi.state.sqlite import SqliteStore

# A journal of this size is read in under a second, and its URLs take about 100 MB.
OUTGROWN_URLS: Final = 100_000
_UNFINISHED: Final = "moving"

_Store: TypeAlias = "FilesStore | SqliteStore"
T = TypeVar("T")


class GrowingStore:
    """Implements ``sumi.ports.Frontier`` and ``Ledger`` by whichever of the two it currently is."""

    def __init__(
        self,
        folder: Path,
        policy: FrontierPolicy,
        opened_at: float,
        durability: Durability = Durability.BATCH,
        tell: Listener | None = None,
        outgrown: int = OUTGROWN_URLS,
        lock: FolderLock | None = None,
    ) -> None:
        """``lock``: of the folder, if the caller holds it already, and then releases it."""
        self._folder = folder
        self._durability = durability
        self._tell = tell or (lambda _event: None)
        self._outgrown = outgrown
        self._own_lock = FolderLock(folder) if lock is None else None
        self._lock = lock or self._own_lock
        try:
            self._store: _Store = FilesStore(folder, policy, opened_at, durability, self._lock)
        except BaseException:
            self._unlock()
            raise
        self.resumed = self._store.resumed
        self._may_move = True
        self._open = asyncio.Event()  # cleared while the state is being moved
        self._open.set()
        self._inside = 0  # calls in progress

    async def _call(self, call: Callable[[_Store], Awaitable[T]]) -> T:
        if not self._open.is_set():
            await self._open.wait()
        self._inside += 1
        try:
            return await call(self._store)
        finally:
            self._inside -= 1

    async def _stream(self, call: Callable[[_Store], AsyncIterator[T]]) -> AsyncIterator[T]:
        if not self._open.is_set():
            await self._open.wait()
        self._inside += 1
        try:
            async for item in call(self._store):
                yield item
        finally:
            self._inside -= 1

    # ── from the journal into a database ───────────────────────────────────────────────────────────────

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """Also moves an outgrown journal: this is called about once a second, and no other call is active."""
        await self._call(lambda store: store.sync(outputs))
        store = self._store
        if isinstance(store, FilesStore) and self._is_outgrown(store) and not self._inside:
            await self._move(store, outputs)

    def _is_outgrown(self, store: FilesStore) -> bool:
        return self._may_move and store.known > self._outgrown

    async def _move(self, old: FilesStore, outputs: Callable[[], Awaitable[None]]) -> None:
        self._open.clear()
        try:
            await outputs()  # so that everything that is copied counts as synced
            self._tell(Busy(f"moving the state of {old.known:,} URLs to a database"))
            if await self._copied(old):
                self._store = self._reopened(old)
        finally:
            self._open.set()

    async def _copied(self, old: FilesStore) -> bool:
        """False if it failed; the journal is still intact then."""
        from sumi.state.sqlite import SqliteStore

        try:
            await self._copy(old)
        except SumiError as error:
            self._may_move = False
            self._tell(Warned(f"the state stays in text files; it could not be moved: {error}"))
            return False
        mark_folder(self._folder, SqliteStore.backend, SqliteStore.format)  # from now on it is a database
        return True

    async def _copy(self, old: FilesStore) -> None:
        """Into a subfolder, which is garbage if the copy is killed at any point."""
        from sumi.state.sqlite import SqliteStore

        unfinished = self._folder / _UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)
        with explained(unfinished):
            unfinished.mkdir()
        try:
            new = SqliteStore(unfinished, old.policy, old.opened_at)
            try:
                await copy_all(old, new)
                new.inherit(old.machine)
                await verify_copy(old, new, old.opened_at)
            finally:
                await new.aclose()
            self._install(unfinished / SqliteStore.file_name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _install(self, database: Path) -> None:
        if database.with_name(f"{database.name}-wal").exists():
            raise StorageFailed(f"{database} could not be closed cleanly; check the disk, then run again")
        with explained(database):
            os.rename(database, self._folder / database.name)
        sync_folder(self._folder)

    def _reopened(self, old: FilesStore) -> "SqliteStore":
        from sumi.state.sqlite import SqliteStore

        new = SqliteStore(self._folder, old.policy, old.opened_at, self._durability, self._lock)
        new.inherit(old.machine)
        old.close_journal()
        remove_journal(self._folder)
        return new

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    is_read_whole = False  # a journal that is too large becomes a database

    @property
    def torn_bytes(self) -> int:
        return self._store.torn_bytes

    @property
    def unsynced(self) -> list[str]:
        return self._store.unsynced

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        return await self._call(lambda store: store.add(judged))

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        return await self._call(lambda store: store.unseen(urls, depth, hop))

    async def lease(self, limit: int, now: float) -> list[Lease]:
        return await self._call(lambda store: store.lease(limit, now))

    async def next_ready(self, now: float) -> float | None:
        return await self._call(lambda store: store.next_ready(now))

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return await self._call(lambda store: store.renew(leases, now))

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        await self._call(lambda store: store.release_host(lease, report))

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        return await self._call(lambda store: store.settle(units))

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        return await self._call(lambda store: store.requeue(urls, at))

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        await self._call(lambda store: store.amend(facts))

    async def hold_host(self, host: str, until: float, why: str) -> None:
        await self._call(lambda store: store.hold_host(host, until, why))

    async def retune(self, policy: FrontierPolicy) -> None:
        await self._call(lambda store: store.retune(policy))

    async def stats(self) -> FrontierStats:
        return await self._call(lambda store: store.stats())

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return await self._call(lambda store: store.waiting_hosts(now))

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        return await self._call(lambda store: store.wait_of(host, now))

    async def aclose(self) -> None:
        await self._call(lambda store: store.aclose())
        self._unlock()

    def _unlock(self) -> None:
        if self._own_lock is not None:
            self._own_lock.release()

    # ── Ledger ─────────────────────────────────────────────────────────────────────────────────────────

    def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        return self._stream(lambda store: store.records(outcomes))

    def waiting_again(self) -> AsyncIterator[UrlRecord]:
        return self._stream(lambda store: store.waiting_again())

    async def record(self, url: str) -> UrlRecord | None:
        return await self._call(lambda store: store.record(url))

    async def history(self, url: str) -> list[Attempt]:
        return await self._call(lambda store: store.history(url))

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return await self._call(lambda store: store.get_robots(origin))

    async def put_robots(self, record: RobotsRecord) -> None:
        await self._call(lambda store: store.put_robots(record))

    async def get_note(self, key: str) -> str | None:
        return await self._call(lambda store: store.get_note(key))

    async def put_note(self, key: str, value: str) -> None:
        await self._call(lambda store: store.put_note(key, value))


def remove_journal(folder: Path) -> None:
    """Remove the journal of a state that has become a database, also if an earlier run was killed before it
    could. What cannot be removed does no harm."""
    with suppress(OSError):
        for path in folder.iterdir():
            if SEGMENT_NAME.fullmatch(path.name):
                path.unlink(missing_ok=True)

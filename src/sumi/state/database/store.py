"""Frontier and Ledger on an embedded database: the frontier's machine, with its entries and queues as rows.

The machine makes the decisions. This module loads and stores its entries: each call reads the rows it
concerns, lets the machine work on them in memory, and writes what changed as one transaction. Memory holds
what is leased and, per host, its pace and where its queue begins.

The database is used from the event loop's own thread: a batch takes a few milliseconds, and in a second
thread each of its rows would have to win the interpreter lock back. Only ``sync``, a few long calls, runs
elsewhere; the lock below keeps other calls from the database meanwhile, without blocking the loop.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sumi.errors import StorageFailed
from sumi.model import Hop, Kind, Lease, PageFacts
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
from sumi.state.database.queues import ReadAhead, StoredDelays, StoredQueues, StoredRetries
from sumi.state.database.rows import (
    FIRST_RANK,
    AttemptRow,
    Change,
    HostRow,
    Rank,
    Row,
    Rows,
    Totals,
    attempt_of,
    entry_of,
    record_of,
    stored_of,
)
from sumi.state.database.working_set import KnownLinks, WorkingSet
from sumi.state.entries import (
    REFUSED,
    SETTLED,
    Counts,
    Entry,
    Leases,
    Stored,
    StoredHost,
    StoredListing,
    StoredNote,
    StoredUrl,
)
from sumi.state.folder import claim_folder, sync_folder
from sumi.state.hosts import Hosts
from sumi.state.lock import FolderLock
from sumi.state.machine import FrontierMachine

ROWS_AT_ONCE = 1000
_DONE = frozenset({SETTLED.value, REFUSED.value})


class DatabaseStore:
    change_type: ClassVar[type[Change]] = Change  # a store that writes more has a subclass of it
    is_read_whole = False
    ahead_type: ClassVar[type[ReadAhead]] = ReadAhead
    torn_bytes = 0  # an embedded database repairs itself, and does not say how much was lost

    def __init__(
        self, rows: Rows, policy: FrontierPolicy, opened_at: float, own_lock: FolderLock | None = None
    ) -> None:
        """``own_lock``: released when the store is closed."""
        self._rows = rows
        self._own_lock = own_lock
        self._turn = asyncio.Lock()
        self._syncing = asyncio.Lock()
        self._draft = self.change_type()
        self._written = False  # since the last sync
        self._failure: StorageFailed | None = None
        self._known_links = KnownLinks()
        self._load(rows.totals(), policy, opened_at)

    def _load(self, totals: Totals, policy: FrontierPolicy, opened_at: float) -> None:
        rows, counts, leases = self._rows, Counts(), Leases()
        self._working = WorkingSet(rows, totals.known)
        starts: dict[str, Rank] = {}
        self._ahead = self.ahead_type(rows, starts, leases.ids)
        queues = StoredQueues(rows, self._working, starts, self._ahead)
        self._retries = StoredRetries(rows, self._working, leases.ids, counts.leased_of)
        self._delays = StoredDelays(rows)
        self._hosts = Hosts(policy, opened_at, self._working, counts, queues, self._retries)
        self._machine = FrontierMachine(self._working, counts, leases, self._hosts, self._delays)
        counts.open.update(totals.open)
        counts.outcomes.update(totals.outcomes)
        counts.listed, counts.captured = totals.listed, totals.captured
        self._serial, self._synced = totals.attempts, totals.synced
        self.resumed = totals.known > 0
        for stored in rows.hosts():
            self._hosts.restore(StoredHost(*stored))
        for open_host in rows.open_hosts():
            counts.open_of[open_host.host] += open_host.waiting + open_host.delayed
            if open_host.waiting:
                starts[open_host.host] = FIRST_RANK
        if policy.sitemaps_first and counts.open[Kind.SITEMAP]:
            for row in rows.open_sitemaps():
                self._hosts.count_sitemap(entry_of(row), 1)
        for host in counts.open_of:
            self._hosts.offer(host)

    def inherit(self, old: FrontierMachine) -> None:
        """Take over what is never stored: see ``FrontierMachine.inherit``."""
        self._machine.inherit(old)
        for entry in self._machine.leases.held.values():
            if entry.behind:
                self._retries.refresh(entry.host)
        for host in self._machine.counts.open_of:
            self._hosts.offer(host)

    @property
    def unsynced(self) -> list[str]:
        """URLs settled after the last sync mark: after a power cut, their files may be missing."""
        return self._rows.settled_since(self._synced)

    # ── Frontier: each change is made in memory and written as one transaction ─────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        async with self._turn:
            self._working.load(item.candidate.url for item in judged)
            changed = [self._machine.admit(item) for item in judged]
            self._write()
            return changed

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        if hop is Hop.LINK:
            urls = self._known_links.not_known(urls, depth)
        fresh: list[str] = []
        for start in range(0, len(urls), ROWS_AT_ONCE):
            some = urls[start : start + ROWS_AT_ONCE]
            async with self._turn:
                self._working.load(some)
                fresh += self._machine.unseen(some, depth, hop)
                self._known_links.note(map(self._working.get, some))
                self._working.release()
            if len(some) == ROWS_AT_ONCE:
                await asyncio.sleep(0)  # a sitemap of 50,000 entries must not block the loop
        return fresh

    async def lease(self, limit: int, now: float) -> list[Lease]:
        async with self._turn:
            self._rejoin_due(now)
            self._expire(now)
            leases = self._machine.lease(limit, now)
            self._working.release()
            return leases

    def _rejoin_due(self, now: float) -> None:
        earliest = self._delays.earliest
        if earliest is None or earliest > now:
            return
        while due := self._rows.due(now, ROWS_AT_ONCE):
            for row in due:
                self._machine.rejoin(self._working.adopt(row), now)
            self._write()
        self._delays.earliest = self._rows.next_due()

    def _expire(self, now: float) -> None:
        expired = self._machine.expire(now)
        for entry in expired:
            self._working.touch(entry.candidate.url)
        if expired:
            self._write()  # their order is read from the rows

    async def next_ready(self, now: float) -> float | None:
        return self._machine.next_ready()

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return [self._machine.renew(lease, now) for lease in leases]

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        async with self._turn:
            self._working.load(item.candidate.url for unit in units for item in unit.found)
            answers = [self._settle(unit) for unit in units]
            self._write()
            return answers

    def _settle(self, unit: Settlement | Deferral) -> bool:
        url = unit.lease.candidate.url
        self._working.touch(url)
        if self._machine.settle(unit) is None:
            return False
        verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
        if verdict is not None:
            self._add_attempt(self._working[url], unit.at, verdict.outcome, verdict.rule)
        return True

    def _add_attempt(self, entry: Entry, at: float, outcome: Outcome, rule: str) -> None:
        self._serial += 1
        row = AttemptRow(self._serial, entry.latest, entry.sequence, at, outcome, rule)
        entry.latest = self._serial
        self._draft.attempts.append(row)

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        async with self._turn:
            moved = 0
            for start in range(0, len(urls), ROWS_AT_ONCE):
                some = urls[start : start + ROWS_AT_ONCE]
                self._working.load(some)
                moved += sum(self._machine.requeue(url) for url in some)
                self._write()
            return moved

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        async with self._turn:
            self._working.load(facts)
            for url, new in facts.items():
                entry = self._machine.settled(url)
                if entry is not None:
                    entry.facts = new
            self._write()

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        pace = self._hosts.pace(lease.host)
        before = (pace.crawl_delay, pace.hold_until)
        self._machine.release(lease, report)
        if before != (pace.crawl_delay, pace.hold_until):
            async with self._turn:
                self._write_host(lease.host)

    async def hold_host(self, host: str, until: float, why: str) -> None:
        async with self._turn:
            self._hosts.hold(host, until, why)
            self._write_host(host)

    async def retune(self, policy: FrontierPolicy) -> None:
        self._hosts.retune(policy)

    async def stats(self) -> FrontierStats:
        return self._machine.stats()

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return self._machine.waiting_hosts(now)

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        return self._machine.wait_of(host, now)

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        if not self._written:
            return
        self._written, upto = False, self._serial
        await outputs()
        async with self._syncing:  # so that it is not closed in between
            await _finish_in_thread(self._rows.sync_unlocked)
            async with self._turn:
                await _finish_in_thread(self._rows.sync)
                self._synced = upto
                self._write_rows(Change(totals=self._totals()))

    async def aclose(self) -> None:
        async with self._syncing, self._turn:
            self._rows.close()
        if self._own_lock is not None:
            self._own_lock.release()

    def _write_host(self, host: str) -> None:
        self._draft.hosts.append(_host_row(self._hosts.stored(host)))
        self._write()

    def _write(self) -> None:
        change, self._draft = self._draft, self.change_type()
        change.inserted, change.updated = self._working.take_changes()
        for old, new in change.updated:
            if old.state in _DONE and new.state not in _DONE:
                self._known_links.forget(new.url)
        if change != self.change_type():
            change.totals = self._totals()
            self._write_rows(change)
            self._written = True

    def _write_rows(self, change: Change) -> None:
        """After a failed write, memory is ahead of the database: nothing more may be written."""
        if self._failure is not None:
            raise self._failure
        try:
            self._rows.write(change)
        except StorageFailed as error:
            self._failure = error
            raise

    def _totals(self) -> Totals:
        counts = self._machine.counts
        return Totals(
            known=len(self._working),
            open=dict(counts.open),
            outcomes={outcome: n for outcome, n in counts.outcomes.items() if n},
            listed=counts.listed,
            captured=counts.captured,
            attempts=self._serial,
            synced=self._synced,
        )

    # ── Ledger ─────────────────────────────────────────────────────────────────────────────────────────

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else frozenset(outcomes)
        if wanted is None or self._has_any(wanted):
            async for record in self._stream(lambda after, most: self._rows.page(after, most, wanted)):
                yield record

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        async for record in self._stream(self._rows.page_waiting_again):
            yield record

    async def _stream(self, page: Callable[[int, int], list[Row]]) -> AsyncIterator[UrlRecord]:
        after = -1
        while True:
            async with self._turn:
                rows = page(after, ROWS_AT_ONCE)
            for row in rows:
                yield record_of(row)
            if len(rows) < ROWS_AT_ONCE:
                return
            after = rows[-1].id

    def _has_any(self, wanted: frozenset[Outcome]) -> bool:
        """Avoids a scan for failures at every start of a crawl that has none."""
        return Outcome.PENDING in wanted or any(self._machine.counts.outcomes[one] for one in wanted)

    async def record(self, url: str) -> UrlRecord | None:
        async with self._turn:
            found = self._rows.find([url])
        return record_of(found[0]) if found else None

    async def history(self, url: str) -> list[Attempt]:
        async with self._turn:
            found = self._rows.find([url])
            return [attempt_of(row) for row in self._rows.attempts_of(found[0])] if found else []

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        async with self._turn:
            return self._rows.robots(origin)

    async def put_robots(self, record: RobotsRecord) -> None:
        async with self._turn:
            self._draft.robots.append(record)
            self._write()

    async def get_note(self, key: str) -> str | None:
        async with self._turn:
            return self._rows.note(key)

    async def put_note(self, key: str, value: str) -> None:
        async with self._turn:
            self._draft.notes.append((key, value))
            self._write()

    # ── Exporter and Importer ──────────────────────────────────────────────────────────────────────────

    async def export(self) -> AsyncIterator[Stored]:
        for key, value in self._rows.notes():
            yield StoredNote(key, value)
        for robots in self._rows.all_robots():
            yield robots
        for host in self._rows.hosts():
            yield StoredHost(*host)
        histories: dict[int, list[Attempt]] = {}
        for attempt in self._rows.attempts():
            histories.setdefault(attempt.id, []).append(attempt_of(attempt))
        after = -1
        while rows := self._rows.page(after, ROWS_AT_ONCE, None):
            for row in rows:
                yield stored_of(row, tuple(histories.get(row.id, ())))
            after = rows[-1].id
        yield StoredListing(self._machine.counts.listed)

    async def restore(self, items: Sequence[Stored]) -> None:
        async with self._turn:
            for item in items:
                self._restore(item)
            self._write()
            self._write_rows(Change(totals=self._totals()))

    def _restore(self, item: Stored) -> None:
        match item:
            case StoredNote():
                self._draft.notes.append((item.key, item.value))
            case RobotsRecord():
                self._draft.robots.append(item)
            case StoredHost():
                self._hosts.restore(item)
                self._draft.hosts.append(_host_row(item))
            case StoredUrl():
                entry = self._machine.restore(item, item.facts)
                for attempt in item.history:
                    self._add_attempt(entry, attempt.at, attempt.outcome, attempt.rule)
            case StoredListing():
                self._machine.counts.listed = item.pages


def _host_row(stored: StoredHost) -> HostRow:
    return HostRow(stored.host, stored.crawl_delay, stored.hold_until, stored.hold_why)


class FolderStore(DatabaseStore):
    """A database in a state folder, which it locks and marks as its own."""

    backend: ClassVar[str]  # as in format.json
    format: ClassVar[int]
    file_name: ClassVar[str]
    rows_type: ClassVar[type[Rows]]

    def __init__(
        self,
        folder: Path,
        policy: FrontierPolicy,
        opened_at: float,
        durability: Durability = Durability.BATCH,
        lock: FolderLock | None = None,
    ) -> None:
        """``lock``: of the folder, if the caller holds it already, and then releases it."""
        own_lock = FolderLock(folder) if lock is None else None
        try:
            claim_folder(folder, self.backend, self.format)
            rows = self.rows_type(folder / self.file_name, strict=durability is Durability.STRICT)
            sync_folder(folder)  # a database syncs its content, not always its name
            super().__init__(rows, policy, opened_at, own_lock)
        except BaseException:
            if own_lock is not None:
                own_lock.release()
            raise

    @classmethod
    def reading(cls, folder: Path, policy: FrontierPolicy, opened_at: float) -> DatabaseStore:
        """Read-only and without the lock; a run may be active."""
        claim_folder(folder, cls.backend, cls.format, must_exist=True)
        rows = cls.rows_type(folder / cls.file_name, strict=False, readonly=True)
        return DatabaseStore(rows, policy, opened_at)


async def _finish_in_thread(work: Callable[[], None]) -> None:
    """Run it in a thread, to its end even if we are cancelled: until then it uses the database."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise

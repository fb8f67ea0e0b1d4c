"""Frontier and Ledger on a journal: every change is applied in memory and appended as one line.

The settlement of a page, with its record and its discoveries, is one line, so it is atomic. Opening replays
the lines through the same code that wrote them. Leases are not written: on opening, what was leased waits
again.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from sumi.errors import StateDamaged
from sumi.model import Lease, PageFacts
from sumi.outcomes import Verdict
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Attempt, Deferral, HostReport, Judged, RobotsRecord, Settlement
from sumi.state.entries import Entry, Stored, StoredHost, StoredListing, StoredNote, StoredUrl
from sumi.state.folder import claim_folder
from sumi.state.journal.journal import Journal, JournalView, Place
from sumi.state.journal.records import (
    Added,
    Again,
    Amended,
    Ended,
    Find,
    HostSet,
    Imported,
    ListingSet,
    NotePut,
    PutBack,
    Record,
    RobotsPut,
    Synced,
    decode,
    encode,
)
from sumi.state.lock import FolderLock
from sumi.state.memory import NO_FACTS, MemoryStore

BACKEND = "files"
FORMAT = 1


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Everything that is read stays in memory. Scanning it for garbage again and again would take a quarter
    of the time that opening takes."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class ReadableJournal(Protocol):
    def replay(self) -> Iterator[tuple[Place, bytes]]: ...

    def read(self, place: Place) -> bytes: ...

    def close(self) -> None: ...


class FilesSnapshot(MemoryStore):
    """Implements ``sumi.ports.Snapshot``: a journal read into memory by the code that wrote it. Changes to it
    do not reach the disk."""

    def __init__(self, journal: ReadableJournal, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._lines = journal
        self._unsynced: list[tuple[int, str]] = []  # settled since the last sync mark, with their places
        with _collector_paused():
            self._machine.hosts.replaying = True
            self._replay()
            self._machine.hosts.finish_replay(self._entries.values())

    async def aclose(self) -> None:
        self._lines.close()

    async def history(self, url: str) -> list[Attempt]:
        return [attempt for of, attempt in self._attempts() if of == url]

    def _histories(self) -> Mapping[str, Sequence[Attempt]]:
        histories: dict[str, list[Attempt]] = {}
        for url, attempt in self._attempts():
            histories.setdefault(url, []).append(attempt)
        return histories

    def _attempts(self) -> Iterator[tuple[str, Attempt]]:
        for _, payload in self._lines.replay():
            record = decode(payload)
            if isinstance(record, Ended):
                yield record.url, Attempt(record.at, record.outcome, record.rule)
            elif isinstance(record, PutBack) and record.failure is not None:
                yield record.url, Attempt(record.at, record.failure, record.rule)
            elif isinstance(record, Imported):
                for attempt in record.stored.history:
                    yield record.stored.candidate.url, attempt

    def _facts_of(self, entry: Entry) -> PageFacts:
        if not isinstance(entry.facts, int):
            return NO_FACTS
        record = decode(self._lines.read(Place(entry.facts)))
        match record:
            case Ended() | Amended():
                return record.facts
            case Imported():
                return record.stored.facts
            case _:
                return NO_FACTS

    def _replay(self) -> None:
        for place, payload in self._lines.replay():
            try:
                record = decode(payload)
            except msgspec.MsgspecError as error:
                raise StateDamaged(f"the journal holds a record this version cannot read: {error}") from None
            try:
                self._apply(record, place)
            except KeyError as error:
                raise StateDamaged(f"the journal ends a URL that it never started: {error}") from None

    def _apply(self, record: Record, place: Place) -> None:
        match record:
            case Added():
                self._admit_all(record.found, None)
            case Ended():
                entry = self._entries[record.url]
                self._machine.finish(entry, Verdict(record.outcome, record.rule), record.at, int(place))
                self._unsynced.append((place, record.url))
                self._admit_all(record.found, record.url)
            case PutBack():
                self._apply_deferral(record)
            case Again():
                for url in record.urls:
                    self._machine.requeue(url)
            case Amended():
                self._entries[record.url].facts = int(place)
            case Imported():
                self._machine.restore(record.stored, int(place))
            case Synced():
                self._forget_synced(record.upto)
            case HostSet() | RobotsPut() | NotePut() | ListingSet():
                self._apply_other(record)

    def _apply_deferral(self, record: PutBack) -> None:
        entry = self._entries[record.url]
        failed = record.failure is not None
        # In case the wall clock was set back since: no wait gets longer than intended.
        wait = max(0.0, record.not_before - record.at)
        not_before = min(record.not_before, self._machine.hosts.schedule.opened_at + wait)
        self._machine.put_back(entry, failed, not_before, record.address)
        self._admit_all(record.found, record.url)

    def _apply_other(self, record: HostSet | RobotsPut | NotePut | ListingSet) -> None:
        match record:
            case HostSet():
                stored = StoredHost(record.host, record.crawl_delay, record.hold_until, record.hold_why)
                self._machine.hosts.restore(stored)
            case RobotsPut():
                self._robots[record.record.origin] = record.record
            case NotePut():
                self._notes[record.key] = record.value
            case ListingSet():
                self._machine.counts.listed = record.pages

    def _forget_synced(self, upto: int) -> None:
        self._unsynced = [(place, url) for place, url in self._unsynced if place >= upto]

    def _admit_all(self, found: list[Find], finder: str | None) -> None:
        for find in found:
            self._machine.admit(find.judged(finder))


class FilesStore(FilesSnapshot):
    is_read_whole = True

    def __init__(
        self,
        folder: Path,
        policy: FrontierPolicy,
        opened_at: float,
        durability: Durability = Durability.BATCH,
        lock: FolderLock | None = None,
    ) -> None:
        """``lock``: of the folder, if the caller holds it already, and then releases it."""
        self._strict = durability is Durability.STRICT
        self._own_lock = FolderLock(folder) if lock is None else None
        try:
            claim_folder(folder, BACKEND, FORMAT)
            self._journal = Journal(folder)
            super().__init__(self._journal, policy, opened_at)
        except BaseException:
            self._unlock()
            raise
        self._synced_to = self._journal.end if self._journal.ends_synced else Place(0)
        self.resumed = bool(self._entries)

    @classmethod
    def reading(cls, folder: Path, policy: FrontierPolicy, opened_at: float) -> FilesSnapshot:
        """Read-only and without the lock; a run may be active."""
        claim_folder(folder, BACKEND, FORMAT, must_exist=True)
        return FilesSnapshot(JournalView(folder), policy, opened_at)

    @property
    def known(self) -> int:
        return len(self._entries)

    @property
    def policy(self) -> FrontierPolicy:
        """With the latest limits."""
        return self._machine.hosts.policy

    @property
    def opened_at(self) -> float:
        return self._machine.hosts.schedule.opened_at

    @property
    def torn_bytes(self) -> int:
        """What opening had to cut off: the unfinished write of a crash."""
        return self._journal.torn_bytes

    @property
    def unsynced(self) -> list[str]:
        """URLs settled after the last sync mark: after a power cut, their files may be missing."""
        return [url for _, url in self._unsynced]

    # ── changes, each applied in memory and written ────────────────────────────────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        changed = await super().add(judged)
        news = [Find.of(item, None) for item, new in zip(judged, changed, strict=True) if new]
        if news:
            await self._write([Added(news)])
        return changed

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        applied = [self._machine.settle(unit) for unit in units]
        written = [(u, news) for u, news in zip(units, applied, strict=True) if news is not None]
        places = await self._write([_record_of(unit, news) for unit, news in written])
        for (unit, _), place in zip(written, places, strict=True):
            if isinstance(unit, Settlement):
                self._entries[unit.lease.url].facts = int(place)  # half the size
                self._unsynced.append((place, unit.lease.url))
        return [news is not None for news in applied]

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        moved = [url for url in urls if self._machine.requeue(url)]
        if moved:
            await self._write([Again(moved, at)])
        return len(moved)

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        known = {url: new for url, new in facts.items() if self._machine.settled(url) is not None}
        places = await self._write([Amended(url, new) for url, new in known.items()])
        for url, place in zip(known, places, strict=True):
            self._entries[url].facts = int(place)

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        pace = self._machine.hosts.pace(lease.host)
        before = (pace.crawl_delay, pace.hold_until)
        await super().release_host(lease, report)
        if before != (pace.crawl_delay, pace.hold_until):
            await self._write_host(lease.host)

    async def hold_host(self, host: str, until: float, why: str) -> None:
        await super().hold_host(host, until, why)
        await self._write_host(host)

    async def put_robots(self, record: RobotsRecord) -> None:
        await super().put_robots(record)
        await self._write([RobotsPut(record)])

    async def put_note(self, key: str, value: str) -> None:
        await super().put_note(key, value)
        await self._write([NotePut(key, value)])

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        upto = self._journal.end
        if upto == self._synced_to:
            return
        await outputs()
        await asyncio.to_thread(self._journal.sync)
        self._forget_synced(upto)
        all_synced = self._journal.end == upto  # otherwise more was written meanwhile
        self._journal.mark_synced(upto)
        self._synced_to = self._journal.end if all_synced else upto

    async def aclose(self) -> None:
        self.close_journal()
        self._unlock()

    def close_journal(self) -> None:
        """For a store that continues with the lock."""
        self._journal.close()

    def _unlock(self) -> None:
        if self._own_lock is not None:
            self._own_lock.release()

    async def _write_host(self, host: str) -> None:
        await self._write([_record_of_stored(self._machine.hosts.stored(host))])

    async def _write(self, records: Sequence[Record]) -> list[Place]:
        if not records:
            return []
        places = self._journal.append([encode(record) for record in records])
        if self._strict:
            await asyncio.to_thread(self._journal.sync)
        return places

    async def restore(self, items: Sequence[Stored]) -> None:
        records = [_record_of_stored(item) for item in items]
        for record, place in zip(records, await self._write(records), strict=True):
            self._apply(record, place)


def _record_of(unit: Settlement | Deferral, news: list[Judged]) -> Record:
    url = unit.lease.url
    found = [Find.of(item, url) for item in news]
    if isinstance(unit, Settlement):
        return Ended(url, unit.verdict.outcome, unit.at, unit.verdict.rule, unit.facts, found)
    return PutBack(
        url=url,
        at=unit.at,
        not_before=unit.not_before,
        failure=unit.why.outcome if unit.why else None,
        rule=unit.why.rule if unit.why else "",
        address=unit.address,
        found=found,
    )


def _record_of_stored(item: Stored) -> Record:
    match item:
        case StoredNote():
            return NotePut(item.key, item.value)
        case RobotsRecord():
            return RobotsPut(item)
        case StoredHost():
            return HostSet(item.host, item.crawl_delay, item.hold_until, item.hold_why)
        case StoredUrl():
            return Imported(item)
        case StoredListing():
            return ListingSet(item.pages)

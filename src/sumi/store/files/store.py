"""Frontier and Ledger on a journal: every change is applied in memory and appended as one line.

What a page yields (its record, its discoveries, its leaving the queue) is one line, so it is there whole or
not at all. Opening replays the lines through the same code that made them. Leases are not written: on
opening, whatever was leased is simply waiting again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from sumi.errors import StateDamaged, StateError
from sumi.model import Lease, PageFacts
from sumi.outcomes import Verdict
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Attempt, Deferral, HostReport, Judged, RobotsRecord, Settlement
from sumi.store.entries import Entry, State
from sumi.store.files.journal import Journal, Place, sync_folder
from sumi.store.files.lock import FolderLock
from sumi.store.files.records import (
    Added,
    Again,
    Ended,
    Find,
    HostSet,
    NotePut,
    PutBack,
    Record,
    RobotsPut,
    Synced,
    decode,
    encode,
)
from sumi.store.memory import NO_FACTS, MemoryStore

FORMAT = 1
FORMAT_NAME = "format.json"


class FilesStore(MemoryStore):
    def __init__(
        self,
        folder: Path,
        policy: FrontierPolicy,
        opened_at: float,
        durability: Durability = Durability.BATCH,
    ) -> None:
        super().__init__(policy, opened_at)
        self._strict = durability is Durability.STRICT
        self._lock = FolderLock(folder)
        _check_format(folder)
        self._journal = Journal(folder)
        self._unsynced: list[tuple[int, str]] = []  # settled since the last sync mark, and where
        self._replaying = True
        self._replay()
        self._replaying = False
        self._queue_all_waiting()
        self._synced_to = self._journal.end
        self.resumed = bool(self._entries)

    @property
    def torn_bytes(self) -> int:
        """What opening had to cut off: the unfinished write of a crash."""
        return self._journal.torn_bytes

    @property
    def unsynced(self) -> list[str]:
        """URLs settled after the last sync mark: after a power cut, their files may be missing."""
        return [url for _, url in self._unsynced]

    # ── changes, each applied and written ──────────────────────────────────────────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        changed = await super().add(judged)
        news = [Find.of(item, None) for item, new in zip(judged, changed, strict=True) if new]
        if news:
            await self._write([Added(news)])
        return changed

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        applied = [self._apply(unit) for unit in units]
        written = [(u, news) for u, news in zip(units, applied, strict=True) if news is not None]
        places = await self._write([_record_of(unit, news) for unit, news in written])
        for (unit, _), place in zip(written, places, strict=True):
            if isinstance(unit, Settlement):
                self._entries[unit.lease.url].facts = place
                self._unsynced.append((place, unit.lease.url))
        return [news is not None for news in applied]

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        moved = [url for url in urls if self._requeue(url)]
        if moved:
            await self._write([Again(moved, at)])
        return len(moved)

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        pace = self._schedule.pace(lease.host)
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
        self._journal.mark_synced(upto)
        self._synced_to = self._journal.end

    async def aclose(self) -> None:
        self._journal.close()
        self._lock.release()

    async def _write_host(self, host: str) -> None:
        pace = self._schedule.pace(host)
        await self._write([HostSet(host, pace.crawl_delay, pace.hold_until, pace.hold_why)])

    async def _write(self, records: Sequence[Record]) -> list[Place]:
        if not records:
            return []
        places = self._journal.append([encode(record) for record in records])
        if self._strict:
            await asyncio.to_thread(self._journal.sync)
        return places

    def _remember(self, unit: Settlement | Deferral) -> None:
        """The journal does."""

    async def history(self, url: str) -> list[Attempt]:
        attempts = []
        for _, payload in self._journal.replay():
            record = decode(payload)
            if isinstance(record, Ended) and record.url == url:
                attempts.append(Attempt(record.at, record.outcome, record.rule))
            elif isinstance(record, PutBack) and record.url == url and record.failure is not None:
                attempts.append(Attempt(record.at, record.failure, record.rule))
        return attempts

    def _facts_of(self, entry: Entry) -> PageFacts:
        if not isinstance(entry.facts, int):
            return NO_FACTS
        record = decode(self._journal.read(Place(entry.facts)))
        return record.facts if isinstance(record, Ended) else NO_FACTS

    # ── opening ────────────────────────────────────────────────────────────────────────────────────────

    def _replay(self) -> None:
        for place, payload in self._journal.replay():
            try:
                record = decode(payload)
            except msgspec.MsgspecError as error:
                raise StateDamaged(f"the journal holds a record this version cannot read: {error}") from None
            self._redo(record, place)

    def _redo(self, record: Record, place: Place) -> None:
        match record:
            case Added():
                self._admit_all(record.found, None)
            case Ended():
                entry = self._entries[record.url]
                self._finish(entry, Verdict(record.outcome, record.rule), record.at, place)
                self._unsynced.append((place, record.url))
                self._admit_all(record.found, record.url)
            case PutBack():
                entry = self._entries[record.url]
                failed = record.failure is not None
                self._put_back(entry, failed, record.not_before, record.address, record.redirected)
                self._admit_all(record.found, record.url)
            case Again():
                for url in record.urls:
                    self._requeue(url)
            case HostSet():
                pace = self._schedule.pace(record.host)
                pace.crawl_delay = record.crawl_delay
                pace.next_at = max(pace.next_at, self._schedule.opened_at + record.crawl_delay)
                pace.hold(record.hold_until, record.hold_why)
            case RobotsPut():
                self._robots[record.record.origin] = record.record
            case NotePut():
                self._notes[record.key] = record.value
            case Synced():
                self._forget_synced(record.upto)

    def _forget_synced(self, upto: int) -> None:
        self._unsynced = [(place, url) for place, url in self._unsynced if place >= upto]

    def _enqueue(self, entry: Entry) -> None:
        if self._replaying:  # most of what was queued once is long done: queue what is left, at the end
            entry.state = State.WAITING
            return
        super()._enqueue(entry)

    def _queue_all_waiting(self) -> None:
        for entry in self._entries.values():
            if entry.state is State.WAITING:
                self._enqueue(entry)

    def _admit_all(self, found: list[Find], finder: str | None) -> None:
        for find in found:
            self._admit(find.judged(finder))


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
        redirected=unit.redirected,
        found=found,
    )


def _check_format(folder: Path) -> None:
    """Refuse state of another format before touching it; mark a new folder as ours."""
    path = folder / FORMAT_NAME
    if not path.exists():
        path.write_text(f'{{"sumi-state": "files", "format": {FORMAT}}}\n')
        sync_folder(folder)
        return
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, str | int]).get("format")
    except msgspec.MsgspecError:
        found = None
    if found != FORMAT:
        raise StateError(
            f"{path} says format {found}, this version of sumi reads format {FORMAT}: "
            "use the version that wrote it, or start over with --fresh"
        )

"""A journal read back into memory through the code that made it: what opening and looking have in common."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from sumi.errors import StateDamaged
from sumi.model import PageFacts
from sumi.outcomes import Verdict
from sumi.policy import FrontierPolicy
from sumi.ports import Attempt, Deferral, Settlement, StoredHost
from sumi.state.entries import Entry, State
from sumi.state.journal.journal import Place
from sumi.state.journal.records import (
    Added,
    Again,
    Amended,
    Carried,
    Ended,
    Find,
    HostSet,
    ListingSet,
    NotePut,
    PutBack,
    Record,
    RobotsPut,
    Synced,
    decode,
)
from sumi.state.memory import NO_FACTS, MemoryStore


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """What is read back stays. To have it looked through for garbage again and again, as it grows, would take
    a quarter of the time that opening takes."""
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


class ReplayedStore(MemoryStore):
    def __init__(self, journal: ReadableJournal, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._lines = journal
        self._unsynced: list[tuple[int, str]] = []  # settled since the last sync mark, and where
        self._replaying = True
        with _collector_at_rest():
            self._replay()
            self._replaying = False
            self._queue_all_waiting()

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
            elif isinstance(record, Carried):
                for attempt in record.stored.history:
                    yield record.stored.candidate.url, attempt

    def _remember(self, unit: Settlement | Deferral) -> None:
        """The journal does."""

    def _facts_of(self, entry: Entry) -> PageFacts:
        if not isinstance(entry.facts, int):
            return NO_FACTS
        record = decode(self._lines.read(Place(entry.facts)))
        match record:
            case Ended() | Amended():
                return record.facts
            case Carried():
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
                self._redo(record, place)
            except KeyError as error:
                raise StateDamaged(f"the journal tells the end of a URL it never named: {error}") from None

    def _redo(self, record: Record, place: Place) -> None:
        match record:
            case Added():
                self._admit_all(record.found, None)
            case Ended():
                entry = self._entries[record.url]
                self._finish(entry, Verdict(record.outcome, record.rule), record.at, int(place))
                self._unsynced.append((place, record.url))
                self._admit_all(record.found, record.url)
            case PutBack():
                self._redo_deferral(record)
            case Again():
                for url in record.urls:
                    self._requeue(url)
            case Amended():
                self._entries[record.url].facts = int(place)
            case Carried():
                self._restore_url(record.stored, int(place))
            case Synced():
                self._forget_synced(record.upto)
            case HostSet() | RobotsPut() | NotePut() | ListingSet():
                self._redo_aside(record)

    def _redo_deferral(self, record: PutBack) -> None:
        entry = self._entries[record.url]
        failed = record.failure is not None
        # Counted from now if the wall clock was set back since: nobody waits longer than meant.
        wait = max(0.0, record.not_before - record.at)
        not_before = min(record.not_before, self._schedule.opened_at + wait)
        self._put_back(entry, failed, not_before, record.address, record.redirected)
        self._admit_all(record.found, record.url)

    def _redo_aside(self, record: HostSet | RobotsPut | NotePut | ListingSet) -> None:
        match record:
            case HostSet():
                self._recall_host(
                    StoredHost(record.host, record.crawl_delay, record.hold_until, record.hold_why)
                )
            case RobotsPut():
                self._robots[record.record.origin] = record.record
            case NotePut():
                self._notes[record.key] = record.value
            case ListingSet():
                self._listed = record.pages

    def _forget_synced(self, upto: int) -> None:
        self._unsynced = [(place, url) for place, url in self._unsynced if place >= upto]

    def _join_queue(self, entry: Entry) -> None:
        if self._replaying:  # most of what was queued once is long done: queue what is left, at the end
            entry.state = State.WAITING
            return
        super()._join_queue(entry)

    def _put_behind(self, entry: Entry, not_before: float) -> None:
        if self._replaying:
            entry.state, entry.deadline = State.BEHIND, not_before
            return
        super()._put_behind(entry, not_before)

    def _queue_all_waiting(self) -> None:
        for entry in self._entries.values():
            if entry.state is State.WAITING:
                self._join_queue(entry)
            elif entry.state is State.BEHIND:
                self._put_behind(entry, entry.deadline)

    def _admit_all(self, found: list[Find], finder: str | None) -> None:
        for find in found:
            self._admit(find.judged(finder))


class FilesSnapshot(ReplayedStore):
    """Implements ``sumi.ports.Snapshot``. What is changed in it changes nothing on disk."""

    async def aclose(self) -> None:
        self._lines.close()

"""Frontier and Ledger on an embedded database: the in-memory frontier, with its entries and queues as rows.

What decides (who may be asked when, what a finding changes, what counts) is inherited. Here is where entries
come from and go to: each call reads the rows it concerns, works on them in memory, and writes what changed as
one transaction. Memory holds what is leased and, per host, its pace and where its queue begins.

The database is used from the event loop's own thread: a batch takes a few milliseconds, and in a second
thread each of its rows would have to win the interpreter lock back. Only ``sync`` runs elsewhere, being few
long calls; the lock below keeps everybody else from the database during those that use it, without holding
up the loop.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from sumi.errors import StorageFailed
from sumi.model import Candidate, Hop, Lease, PageFacts
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
from sumi.ports import (
    Attempt,
    Deferral,
    HostReport,
    Judged,
    RobotsRecord,
    Settlement,
    Stored,
    StoredHost,
    StoredListing,
    StoredNote,
    StoredUrl,
    UrlRecord,
)
from sumi.state.entries import LEASED, WAITING, Entry
from sumi.state.indexed.in_thread import through_in_thread
from sumi.state.indexed.known_links import KnownLinks
from sumi.state.indexed.read_ahead import ReadAhead
from sumi.state.indexed.rows import (
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
from sumi.state.indexed.stored_retries import StoredRetries
from sumi.state.indexed.working_set import StoredDelays, WorkingSet
from sumi.state.memory import MemoryStore
from sumi.state.memory.leases import SITEMAP, SPARE_DEADLINES, holds

ROWS_AT_ONCE = 1000


class IndexedStore(MemoryStore):
    change_type: ClassVar[type[Change]] = Change  # a store that writes more than this has a change of its own
    is_read_whole = False
    torn_bytes = 0  # an embedded database mends itself, and does not say of how much

    def __init__(self, rows: Rows, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._rows = rows
        self._turn = asyncio.Lock()
        self._syncing = asyncio.Lock()
        self._draft = self.change_type()
        self._written = False  # since the last sync
        self._failure: StorageFailed | None = None
        self._leased_ids: set[int] = set()
        self._ahead = ReadAhead(self._rows, self._queues, self._leased_ids)
        self._known_links = KnownLinks()
        self._take_up(self._rows.totals())

    def _take_up(self, totals: Totals) -> None:
        entries = WorkingSet(self._rows, totals.known)
        self._entries = self._working = entries
        self._delayed = self._delays = StoredDelays(self._rows.next_due())
        retries = StoredRetries(self._rows, entries, self._leased_ids, self._leased_of)
        self._retries = self._stored_retries = retries
        self._open.update(totals.open)
        self._outcomes.update(totals.outcomes)
        self._listed, self._captured = totals.listed, totals.captured
        self._serial, self._synced = totals.attempts, totals.synced
        self.resumed = totals.known > 0
        for stored in self._rows.hosts():
            self._recall_host(StoredHost(*stored))
        for open_host in self._rows.open_hosts():
            self._open_of[open_host.host] += open_host.waiting + open_host.delayed
            if open_host.waiting:
                self._queues[open_host.host] = [(FIRST_RANK, "")]
        if self._policy.sitemaps_first and self._open[SITEMAP]:
            for row in self._rows.open_sitemaps():
                self._count_sitemap(entry_of(row), 1)
        for host in self._open_of:
            self._offer_if_busy(host)

    def go_on_from(self, old: MemoryStore) -> None:
        """Take over what is never written, from a store that held the same until now: when each host may be
        asked again, and who holds what until when."""
        self._schedule.go_on_from(old._schedule)
        self._last_token = old._last_token
        for held in old.leased_entries():
            entry = self._working[held.candidate.url]
            entry.state, entry.token, entry.holds_host = LEASED, held.token, held.holds_host
            entry.deadline = held.deadline
            heapq.heappush(self._deadlines, (entry.deadline, entry.token, entry.candidate.url))
            self._leased_ids.add(entry.sequence)
            self._leased[entry.candidate.kind] += 1
            self._leased_of[entry.host] += 1
            if entry.behind:
                self._stored_retries.look_again(entry.host)
        for host in self._open_of:
            self._offer_if_busy(host)

    @property
    def unsynced(self) -> list[str]:
        """URLs settled after the last sync mark: after a power cut, their files may be missing."""
        return self._rows.settled_since(self._synced)

    # ── Frontier: each change is worked out in memory and written as one transaction ───────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        async with self._turn:
            self._working.load(item.candidate.url for item in judged)
            changed = await super().add(judged)
            self._write()
            return changed

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        if hop is Hop.LINK:
            urls = self._known_links.strangers(urls, depth)
        fresh: list[str] = []
        for start in range(0, len(urls), ROWS_AT_ONCE):
            some = urls[start : start + ROWS_AT_ONCE]
            async with self._turn:
                self._working.load(some)
                fresh += await super().unseen(some, depth, hop)
                self._known_links.note(map(self._working.get, some))
                self._working.let_go()
            if len(some) == ROWS_AT_ONCE:
                await asyncio.sleep(0)  # a sitemap of 50,000 entries lets others have their turn in between
        return fresh

    async def lease(self, limit: int, now: float) -> list[Lease]:
        async with self._turn:
            self._rejoin_due(now)
            leases = await super().lease(limit, now)
            self._working.let_go()
            return leases

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        async with self._turn:
            self._working.load(item.candidate.url for unit in units for item in unit.found)
            answers = await super().settle(units)
            self._write()
            self._forget_deadlines()
            return answers

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        async with self._turn:
            moved = 0
            for start in range(0, len(urls), ROWS_AT_ONCE):
                some = urls[start : start + ROWS_AT_ONCE]
                self._working.load(some)
                moved += await super().requeue(some, at)
                self._write()
            return moved

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        async with self._turn:
            self._working.load(facts)
            await super().amend(facts)
            self._write()

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        pace = self._schedule.pace(lease.host)
        before = (pace.crawl_delay, pace.hold_until)
        self._release(lease, report)
        if before != (pace.crawl_delay, pace.hold_until):
            async with self._turn:
                self._write_host(lease.host)

    async def hold_host(self, host: str, until: float, why: str) -> None:
        async with self._turn:
            await super().hold_host(host, until, why)
            self._write_host(host)

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        if not self._written:
            return
        self._written, upto = False, self._serial
        await outputs()
        async with self._syncing:  # or it could be closed in between
            await through_in_thread(self._rows.sync_beside)
            async with self._turn:
                await through_in_thread(self._rows.sync)
                self._synced = upto
                self._write_rows(Change(totals=self._totals()))

    async def aclose(self) -> None:
        async with self._syncing, self._turn:
            self._rows.close()

    def _write_host(self, host: str) -> None:
        pace = self._schedule.pace(host)
        self._draft.hosts.append(HostRow(host, pace.crawl_delay, pace.hold_until, pace.hold_why))
        self._write()

    def _write(self) -> None:
        change, self._draft = self._draft, self.change_type()
        change.inserted, change.updated = self._working.take_changes()
        if change != self.change_type():
            change.totals = self._totals()
            self._write_rows(change)
            self._written = True

    def _write_rows(self, change: Change) -> None:
        """What is in memory is ahead of the database once a write has failed: nothing may build on it."""
        if self._failure is not None:
            raise self._failure
        try:
            self._rows.write(change)
        except StorageFailed as error:
            self._failure = error
            raise

    def _totals(self) -> Totals:
        return Totals(
            known=len(self._working),
            open=dict(self._open),
            outcomes={outcome: n for outcome, n in self._outcomes.items() if n},
            listed=self._listed,
            captured=self._captured,
            attempts=self._serial,
            synced=self._synced,
        )

    # ── queues and delays as rows ──────────────────────────────────────────────────────────────────────

    def _join_queue(self, entry: Entry) -> None:
        """A host's queue is in the store; ``_queues`` knows the hosts that have one, and where it begins."""
        entry.state = WAITING
        self._leased_ids.discard(entry.sequence)
        host, rank = entry.host, entry.rank
        queue = self._queues.get(host)
        if queue is None or rank < queue[0][0]:
            self._queues[host] = [(rank, "")]
        self._ahead.reconsider(host, rank)
        if queue is None or host in self._parked:
            self._unpark(host)

    def _put_behind(self, entry: Entry, not_before: float) -> None:
        self._leased_ids.discard(entry.sequence)
        super()._put_behind(entry, not_before)

    def _has_unasked(self, host: str) -> bool:
        return host in self._queues

    def _lift(self, entry: Entry, candidate: Candidate) -> None:
        self._known_links.forget(candidate.url)
        super()._lift(entry, candidate)

    def _requeue(self, url: str) -> bool:
        self._known_links.forget(url)
        return super()._requeue(url)

    def _shorten(self, entry: Entry, candidate: Candidate) -> None:
        self._ahead.reconsider(entry.host, entry.rank)
        super()._shorten(entry, candidate)

    def _first_unasked(self, hosts: Sequence[str]) -> list[Entry]:
        places = []
        for host in hosts:
            rank = self._first_rank_of(host)
            if rank is not None:
                places.append((host, rank[3]))
        self._leased_ids.update([row_id for _, row_id in places])
        return [self._working.adopt(row) for row in self._rows.queued(places)]

    def _first_rank_of(self, host: str) -> Rank | None:
        queue = self._queues.get(host)
        if queue is None:
            return None
        rank = self._ahead.first(host, queue[0][0])
        if rank is None:
            del self._queues[host]
            return None
        if rank[0] and self._pages_wait(host):
            self._parked.add(host)
            return None
        second = self._ahead.take(host)
        if second is None:
            del self._queues[host]
        else:
            queue[0] = (second, "")
        return rank

    def _rejoin_due(self, now: float) -> None:
        earliest = self._delays.earliest
        if earliest is None or earliest > now:
            return
        while due := self._rows.due(now, ROWS_AT_ONCE):
            for row in due:
                self._working.adopt(row)
                self._rejoin(row.url, now)
            self._write()
        self._delays.earliest = self._rows.next_due()

    def _delayed_hosts(self) -> Iterable[tuple[str, float]]:
        return () if self._delays.earliest is None else self._rows.first_due()

    def _held(self, lease: Lease) -> Entry | None:
        """What is leased is in memory: whoever asks for anything else need not wait for the database."""
        entry = self._working.loaded(lease.candidate.url)
        return entry if entry is not None and holds(lease, entry) else None

    def _end_lease(self, entry: Entry) -> None:
        self._leased_ids.discard(entry.sequence)
        super()._end_lease(entry)

    def _expire_leases(self, now: float) -> bool:
        expired = super()._expire_leases(now)
        if expired:
            self._write()  # in which order they come next is read from the rows
        return expired

    def _forget_deadlines(self) -> None:
        """Without this, the deadlines of pages long settled would fill the memory of a fast crawl."""
        if len(self._deadlines) > 2 * len(self._leased_ids) + SPARE_DEADLINES:
            leased = [e for e in self._working.values() if e.state is LEASED]
            self._deadlines = [(e.deadline, e.token, e.candidate.url) for e in leased]
            heapq.heapify(self._deadlines)

    def _remember(self, unit: Settlement | Deferral) -> None:
        verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
        if verdict is not None:
            entry = self._working[unit.lease.candidate.url]
            self._remember_attempt(entry, unit.at, verdict.outcome, verdict.rule)

    def _remember_attempt(self, entry: Entry, at: float, outcome: Outcome, rule: str) -> None:
        self._serial += 1
        row = AttemptRow(self._serial, entry.latest, entry.sequence, at, outcome, rule)
        entry.latest = self._serial
        self._draft.attempts.append(row)

    # ── Ledger ─────────────────────────────────────────────────────────────────────────────────────────

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else frozenset(outcomes)
        if wanted is None or self._has_any(wanted):
            async for record in self._stream(lambda after, most: self._rows.page(after, most, wanted)):
                yield record

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        async for record in self._stream(self._rows.page_of_again):
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
        """Spares every start of a run the search for failures in a crawl that has none."""
        return Outcome.PENDING in wanted or any(self._outcomes[outcome] for outcome in wanted)

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
        yield StoredListing(self._listed)

    async def restore(self, items: Sequence[Stored]) -> None:
        async with self._turn:
            await super().restore(items)
            self._write()
            self._write_rows(Change(totals=self._totals()))

    def _take_over(self, item: Stored) -> None:
        match item:
            case StoredNote():
                self._draft.notes.append((item.key, item.value))
            case RobotsRecord():
                self._draft.robots.append(item)
            case StoredHost():
                self._recall_host(item)
                self._draft.hosts.append(HostRow(item.host, item.crawl_delay, item.hold_until, item.hold_why))
            case StoredUrl():
                self._restore_url(item, item.facts)
                entry = self._working[item.candidate.url]
                for attempt in item.history:
                    self._remember_attempt(entry, attempt.at, attempt.outcome, attempt.rule)
            case StoredListing():
                self._listed = item.pages

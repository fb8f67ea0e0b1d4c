"""The executable specification of Frontier and Ledger: plain dictionaries and heaps, nothing durable.

Tests compare every other backend with this one. Methods are coroutines only because other backends need them
to be: none of these yields in the middle of a change.
"""

import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from sumi.frontier.retry import DelayedUrls, Retries
from sumi.model import Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
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
from sumi.state.entries import (
    BEHIND,
    DELAYED,
    REFUSED,
    WAITING,
    Counts,
    Entry,
    Leases,
    Stored,
    StoredHost,
    StoredListing,
    StoredNote,
    StoredUrl,
)
from sumi.state.hosts import Hosts
from sumi.state.machine import FrontierMachine

PAGE = Kind.PAGE
QueueItem = tuple[tuple[bool, int, float, int], str]


NO_FACTS = PageFacts()


def machine_in_memory(policy: FrontierPolicy, opened_at: float) -> FrontierMachine:
    entries: dict[str, Entry] = {}
    counts = Counts()
    hosts = Hosts(policy, opened_at, entries, counts, HeapQueues(entries), Retries())
    return FrontierMachine(entries, counts, Leases(), hosts, HeapDelays(entries))


class MemoryStore:
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        self._machine = machine_in_memory(policy, opened_at)
        self._entries = self._machine.entries
        self._history: dict[str, list[Attempt]] = {}
        self._robots: dict[str, RobotsRecord] = {}
        self._notes: dict[str, str] = {}

    @property
    def machine(self) -> FrontierMachine:
        """For a store that continues where this one ends."""
        return self._machine

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        return [self._machine.admit(item) for item in judged]

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        return self._machine.unseen(urls, depth, hop)

    async def lease(self, limit: int, now: float) -> list[Lease]:
        return self._machine.lease(limit, now)

    async def next_ready(self, now: float) -> float | None:
        return self._machine.next_ready()

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return [self._machine.renew(lease, now) for lease in leases]

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        self._machine.release(lease, report)

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        return [self._settle(unit) for unit in units]

    def _settle(self, unit: Settlement | Deferral) -> bool:
        if self._machine.settle(unit) is None:
            return False
        verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
        if verdict is not None:
            attempt = Attempt(unit.at, verdict.outcome, verdict.rule)
            self._history.setdefault(unit.lease.url, []).append(attempt)
        return True

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        return sum(self._machine.requeue(url) for url in urls)

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        for url, new in facts.items():
            entry = self._machine.settled(url)
            if entry is not None:
                entry.facts = new

    async def hold_host(self, host: str, until: float, why: str) -> None:
        self._machine.hosts.hold(host, until, why)

    async def retune(self, policy: FrontierPolicy) -> None:
        self._machine.hosts.retune(policy)

    async def stats(self) -> FrontierStats:
        return self._machine.stats()

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return self._machine.waiting_hosts(now)

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        return self._machine.wait_of(host, now)

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """Nothing here is durable."""
        await outputs()

    async def aclose(self) -> None:
        """Nothing to release."""

    # ── Ledger ─────────────────────────────────────────────────────────────────────────────────────────

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else frozenset(outcomes)
        for entry in list(self._entries.values()):
            if wanted is None or _outcome_of(entry) in wanted:
                yield self._record_of(entry)

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        for entry in list(self._entries.values()):
            if entry.verdict is None and entry.facts is not None:
                record = self._record_of(entry)
                if record.facts != NO_FACTS:
                    yield record

    async def record(self, url: str) -> UrlRecord | None:
        entry = self._entries.get(url)
        return None if entry is None else self._record_of(entry)

    async def history(self, url: str) -> list[Attempt]:
        return list(self._histories().get(url, ()))

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return self._robots.get(origin)

    async def put_robots(self, record: RobotsRecord) -> None:
        self._robots[record.origin] = record

    async def get_note(self, key: str) -> str | None:
        return self._notes.get(key)

    async def put_note(self, key: str, value: str) -> None:
        self._notes[key] = value

    def _record_of(self, entry: Entry) -> UrlRecord:
        candidate = entry.candidate
        return UrlRecord(
            url=candidate.url,
            hop=candidate.hop,
            kind=candidate.kind,
            depth=candidate.depth,
            referrer=candidate.referrer,
            outcome=_outcome_of(entry),
            rule=entry.verdict.rule if entry.verdict else "",
            at=entry.at,
            attempts=entry.attempts,
            facts=self._facts_of(entry),
            address=candidate.address,
        )

    def _facts_of(self, entry: Entry) -> PageFacts:
        return entry.facts if isinstance(entry.facts, PageFacts) else NO_FACTS

    def _histories(self) -> Mapping[str, Sequence[Attempt]]:
        return self._history

    # ── Exporter and Importer ──────────────────────────────────────────────────────────────────────────

    async def export(self) -> AsyncIterator[Stored]:
        for key, value in self._notes.items():
            yield StoredNote(key, value)
        for robots in self._robots.values():
            yield robots
        for host in self._machine.hosts.all_stored():
            yield host
        histories = self._histories()
        for entry in list(self._entries.values()):
            yield self._stored(entry, histories.get(entry.candidate.url, ()))
        yield StoredListing(self._machine.counts.listed)

    def _stored(self, entry: Entry, history: Sequence[Attempt]) -> StoredUrl:
        return StoredUrl(
            candidate=entry.candidate,
            refused=entry.state is REFUSED,
            verdict=entry.verdict,
            at=entry.at,
            attempts=entry.attempts,
            not_before=self._waits_until(entry),
            behind=entry.behind and entry.verdict is None,
            facts=self._facts_of(entry),
            history=tuple(history),
        )

    def _waits_until(self, entry: Entry) -> float:
        if entry.state in (DELAYED, BEHIND):
            return entry.deadline
        return self._machine.leases.due_before.get(entry.candidate.url, 0.0)

    async def restore(self, items: Sequence[Stored]) -> None:
        for item in items:
            self._restore(item)

    def _restore(self, item: Stored) -> None:
        match item:
            case StoredNote():
                self._notes[item.key] = item.value
            case RobotsRecord():
                self._robots[item.origin] = item
            case StoredHost():
                self._machine.hosts.restore(item)
            case StoredUrl():
                self._history[item.candidate.url] = list(item.history)
                self._machine.restore(item, item.facts)
            case StoredListing():
                self._machine.counts.listed = item.pages


class HeapQueues:
    """Implements ``Queues`` with a heap per host. A URL whose rank changes is pushed again; the outdated
    entry is recognized by its rank."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._queues: dict[str, list[QueueItem]] = {}  # none is empty
        self.hosts: Collection[str] = self._queues

    def has_any(self, host: str) -> bool:
        return self._pruned(host) is not None

    def join(self, entry: Entry) -> bool:
        queue = self._queues.setdefault(entry.host, [])
        heapq.heappush(queue, (entry.rank, entry.candidate.url))
        return len(queue) == 1

    def reconsider(self, entry: Entry) -> None:
        """Nothing to do: see the class."""

    def take(self, hosts: Sequence[str], pages_wait: Callable[[str], bool]) -> list[Entry]:
        entries = (self._first_of(host, pages_wait) for host in hosts)
        return [entry for entry in entries if entry is not None]

    def _first_of(self, host: str, pages_wait: Callable[[str], bool]) -> Entry | None:
        queue = self._pruned(host)
        if queue is None:
            return None
        entry = self._entries[queue[0][1]]
        if entry.candidate.kind is PAGE and pages_wait(host):
            return None
        heapq.heappop(queue)
        if not queue:
            del self._queues[host]
        return entry

    def _pruned(self, host: str) -> list[QueueItem] | None:
        """The host's queue after outdated entries at its front were dropped; None if it is empty then."""
        queue = self._queues.get(host)
        while queue:
            rank, url = queue[0]
            entry = self._entries.get(url)  # None: one that is done was forgotten
            if entry is not None and entry.state is WAITING and entry.rank == rank:
                return queue
            heapq.heappop(queue)
        self._queues.pop(host, None)
        return None


class HeapDelays(DelayedUrls):
    """Implements ``Delays`` with a heap."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__()
        self._entries = entries

    def first_due(self) -> Iterable[tuple[str, float]]:
        entries = map(self._entries.__getitem__, self.urls())
        return [(entry.host, entry.deadline) for entry in entries if entry.state is DELAYED]


def _outcome_of(entry: Entry) -> Outcome:
    return entry.verdict.outcome if entry.verdict else Outcome.PENDING

"""The executable specification of Frontier and Ledger: plain dictionaries and heaps, nothing durable.

Every other backend is compared with this one. Single-threaded: methods are coroutines only because other
backends need to be, and none of these ever yields in the middle of a change.
"""

import heapq
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence

import msgspec

from sumi.frontier.delayed import DelayedUrls
from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP
from sumi.frontier.schedule import HostSchedule
from sumi.model import ASSETS, Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
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
    Stored,
    StoredHost,
    StoredListing,
    StoredNote,
    StoredUrl,
    UrlRecord,
)
from sumi.store.entries import Entry, State
from sumi.urls import host_key

QueueItem = tuple[tuple[bool, int, float, int], str]

# What takes a place under max_pages.
COUNTED = frozenset({Outcome.CAPTURED, Outcome.UNCHANGED, Outcome.STALE})
NO_FACTS = PageFacts()


class MemoryStore:
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        self._policy = policy
        self._entries: dict[str, Entry] = {}
        self._queues: dict[str, list[QueueItem]] = {}
        self._schedule = HostSchedule(policy.pacing, opened_at)
        self._delayed = DelayedUrls()
        self._deadlines: list[tuple[float, int, str]] = []
        self._parked: set[str] = set()  # hosts whose pages wait for the sitemaps
        self._sitemaps_out_of_reach = False  # what is left of them is with hosts that are not asked any more
        self._outcomes: Counter[Outcome] = Counter()
        self._open: Counter[Kind] = Counter()  # waiting, delayed or leased
        self._leased: Counter[Kind] = Counter()
        self._open_of: Counter[str] = Counter()  # the same by host
        self._leased_of: Counter[str] = Counter()
        self._captured = 0
        self._listed = 0
        self._last_token = 0
        self._robots: dict[str, RobotsRecord] = {}
        self._notes: dict[str, str] = {}
        self._history: dict[str, list[Attempt]] = {}

    # ── Frontier: discovery ────────────────────────────────────────────────────────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        return [self._admit(item) for item in judged]

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        known = self._entries.get
        fresh = []
        for url in urls:
            entry = known(url)
            if entry is None or entry.could_change(depth, hop):
                fresh.append(url)
        return fresh

    def _admit(self, item: Judged) -> bool:
        entry = self._entries.get(item.candidate.url)
        if entry is None:
            self._register(item)
            return True
        if item.refusal is not None:
            return False
        if entry.state is State.REFUSED:
            self._lift(entry, item.candidate)
            return True
        if entry.could_change(item.candidate.depth, item.candidate.hop):
            self._shorten(entry, item.candidate)
            return True
        return False

    def _register(self, item: Judged) -> None:
        url = item.candidate.url
        entry = Entry(item.candidate, host_key(url), len(self._entries))
        self._entries[url] = entry
        if item.refusal is not None:
            entry.state, entry.verdict = State.REFUSED, item.refusal
            self._outcomes[item.refusal.outcome] += 1
            return
        self._open_entry(entry)

    def _lift(self, entry: Entry, candidate: Candidate) -> None:
        assert entry.verdict is not None
        self._outcomes[entry.verdict.outcome] -= 1
        entry.verdict = None
        entry.candidate = candidate
        self._open_entry(entry)

    def _open_entry(self, entry: Entry) -> None:
        self._count_open(entry)
        self._enqueue(entry)

    def _count_open(self, entry: Entry) -> None:
        candidate = entry.candidate
        self._open[candidate.kind] += 1
        self._open_of[entry.host] += 1
        if candidate.hop is Hop.MANIFEST and candidate.kind is Kind.PAGE:
            self._listed += 1
        if candidate.kind is Kind.SITEMAP:
            self._sitemaps_out_of_reach = False

    def _shorten(self, entry: Entry, candidate: Candidate) -> None:
        """A shorter way was found: the depth drops, and with it the place in the queue. What was taken for a
        sitemap stays one: the counts by kind were made when it entered."""
        entry.candidate = msgspec.structs.replace(candidate, kind=entry.candidate.kind)
        if entry.state is State.WAITING:
            self._enqueue(entry)  # its former place is recognised as stale by its rank

    def _enqueue(self, entry: Entry) -> None:
        entry.state = State.WAITING
        queue = self._queues.setdefault(entry.host, [])
        heapq.heappush(queue, (entry.rank, entry.candidate.url))
        if len(queue) == 1 or entry.host in self._parked:
            self._parked.discard(entry.host)
            self._schedule.offer(entry.host)

    # ── Frontier: leases ───────────────────────────────────────────────────────────────────────────────

    async def lease(self, limit: int, now: float) -> list[Lease]:
        self._expire_leases(now)
        for url in self._delayed.take_due(now):
            self._rejoin(url, now)
        leases: list[Lease] = []
        while len(leases) < limit and not self._nothing_wanted():
            host = self._schedule.take(now)
            if host is None:
                break
            entry = self._next_of(host)
            if entry is not None:
                leases.append(self._lease_out(entry, now))
                self._offer_if_busy(host)
        return leases

    async def next_ready(self, now: float) -> float | None:
        if self._nothing_wanted():
            return None
        ready = self._first_time()
        if ready is None and self._sitemaps_hold_pages() and not self._leased.total():
            # Every one that is left belongs to a host whose budget is spent, or that is given up: for this
            # run they will not come, and the pages of others need not wait for them.
            self._sitemaps_out_of_reach = True
            self._unpark_all()
            ready = self._first_time()
        return ready

    def _first_time(self) -> float | None:
        times = [t for t in (self._schedule.next_at(), self._delayed.next_at()) if t is not None]
        return min(times, default=None)

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return [self._renew(lease, now) for lease in leases]

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        entry = self._held(lease)
        if entry is None or not entry.holds_host:
            return
        entry.holds_host = False
        pace = self._schedule.pace(entry.host)
        if report is None:
            pace.unused()
        else:
            self._learn(entry, report)
        self._offer_if_busy(entry.host)

    def _learn(self, entry: Entry, report: HostReport) -> None:
        pacing = self._policy.pacing
        pace = self._schedule.pace(entry.host)
        if report.crawl_delay is not None:
            pace.crawl_delay = min(report.crawl_delay, pacing.max_crawl_delay)
        pace.answered(report.reached, report.latency, entry.candidate.kind, pacing)
        if report.throttled:
            pace.throttled(report.reached, report.retry_after, pacing)
        elif report.ok:
            pace.succeeded()
        else:
            pace.failed(report.reached, pacing)

    def _cap_reached(self) -> bool:
        cap = self._policy.max_pages
        return bool(cap) and self._captured + self._leased[Kind.PAGE] >= cap

    def _nothing_wanted(self) -> bool:
        """The limit is on pages: what they show and link to is still wanted once it is reached."""
        return self._cap_reached() and not any(self._open[kind] for kind in ASSETS)

    def _rejoin(self, url: str, now: float) -> None:
        entry = self._entries[url]
        if entry.state is State.DELAYED and entry.deadline <= now:
            self._enqueue(entry)

    def _next_of(self, host: str) -> Entry | None:
        """The host's first URL, taken from its queue; None if it has none that may go now."""
        queue = self._queues[host]
        while queue:
            rank, url = queue[0]
            entry = self._entries[url]
            stale = entry.state is not State.WAITING or entry.rank != rank
            if not stale and self._must_wait(entry):
                self._parked.add(host)
                return None
            heapq.heappop(queue)
            if not stale:
                return entry
        del self._queues[host]
        return None

    def _must_wait(self, entry: Entry) -> bool:
        """Pages do, for sitemaps, and for another page to fail where there is a limit on them."""
        return entry.candidate.kind is Kind.PAGE and (self._sitemaps_hold_pages() or self._cap_reached())

    def _sitemaps_hold_pages(self) -> bool:
        open_ones = self._open[Kind.SITEMAP] > 0 and not self._sitemaps_out_of_reach
        return self._policy.sitemaps_first and open_ones

    def _lease_out(self, entry: Entry, now: float) -> Lease:
        self._last_token += 1
        entry.state, entry.token, entry.holds_host = State.LEASED, self._last_token, True
        entry.deadline = now + self._policy.lease_seconds
        heapq.heappush(self._deadlines, (entry.deadline, entry.token, entry.candidate.url))
        kind = entry.candidate.kind
        self._leased[kind] += 1
        self._leased_of[entry.host] += 1
        self._schedule.pace(entry.host).leased(now, kind, self._policy.pacing)
        return Lease(entry.candidate, entry.host, entry.token, entry.deadline, entry.attempts, entry.address)

    def _offer_if_busy(self, host: str) -> None:
        if self._queues.get(host) and host not in self._parked:
            self._schedule.offer(host)
        else:
            self._schedule.withdraw(host)

    def _held(self, lease: Lease) -> Entry | None:
        """The entry, if this lease still holds it."""
        entry = self._entries.get(lease.url)
        if entry is None or entry.state is not State.LEASED or entry.token != lease.token:
            return None
        return entry

    def _renew(self, lease: Lease, now: float) -> bool:
        entry = self._held(lease)
        if entry is None:
            return False
        entry.deadline = now + self._policy.lease_seconds
        heapq.heappush(self._deadlines, (entry.deadline, entry.token, lease.url))
        return True

    def _expire_leases(self, now: float) -> None:
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, token, url = heapq.heappop(self._deadlines)
            entry = self._entries[url]
            if entry.state is State.LEASED and entry.token == token and entry.deadline == deadline:
                self._end_lease(entry)
                self._enqueue(entry)

    def _end_lease(self, entry: Entry) -> None:
        self._leased[entry.candidate.kind] -= 1
        self._leased_of[entry.host] -= 1
        entry.token = 0
        if entry.candidate.kind is Kind.PAGE and self._policy.max_pages and self._parked:
            self._unpark_all()
        if entry.holds_host:  # settled without a word on the network: the host is free again
            entry.holds_host = False
            self._schedule.pace(entry.host).unused()
            self._offer_if_busy(entry.host)

    # ── Frontier: settlement ───────────────────────────────────────────────────────────────────────────

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        return [self._apply(unit) is not None for unit in units]

    def _apply(self, unit: Settlement | Deferral) -> list[Judged] | None:
        """Apply one unit; the findings that were news, or None for a stale lease."""
        entry = self._held(unit.lease)
        if entry is None:
            return None
        self._end_lease(entry)
        self._remember(unit)
        if isinstance(unit, Settlement):
            self._finish(entry, unit.verdict, unit.at, unit.facts)
        else:
            self._put_back(entry, unit.why is not None, unit.not_before, unit.address, unit.redirected)
        return [item for item in unit.found if self._admit(item)]

    def _remember(self, unit: Settlement | Deferral) -> None:
        verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
        if verdict is not None:
            attempt = Attempt(unit.at, verdict.outcome, verdict.rule)
            self._history.setdefault(unit.lease.url, []).append(attempt)

    def _finish(self, entry: Entry, verdict: Verdict, at: float, facts: PageFacts | int) -> None:
        entry.state, entry.verdict, entry.at, entry.facts = State.SETTLED, verdict, at, facts
        self._outcomes[verdict.outcome] += 1
        self._captured += self._counts(entry)
        self._close_entry(entry)

    def _close_entry(self, entry: Entry) -> None:
        self._open[entry.candidate.kind] -= 1
        self._open_of[entry.host] -= 1
        if entry.candidate.kind is Kind.SITEMAP and not self._open[Kind.SITEMAP]:
            self._unpark_all()

    def _unpark_all(self) -> None:
        parked, self._parked = self._parked, set()
        for host in parked:
            self._offer_if_busy(host)

    def _put_back(
        self, entry: Entry, failed: bool, not_before: float, address: str, redirected: bool
    ) -> None:
        entry.attempts += failed
        entry.address = address or entry.address
        if redirected:
            entry.candidate = _one_redirect_on(entry.candidate)
        entry.state, entry.deadline = State.DELAYED, not_before
        self._delayed.put(entry.candidate.url, not_before)

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        return sum(self._requeue(url) for url in urls)

    def _requeue(self, url: str) -> bool:
        entry = self._entries.get(url)
        if entry is None or entry.state is not State.SETTLED or entry.verdict is None:
            return False
        self._outcomes[entry.verdict.outcome] -= 1
        self._captured -= self._counts(entry)
        entry.verdict, entry.attempts, entry.address = None, 0, ""
        self._open[entry.candidate.kind] += 1
        self._open_of[entry.host] += 1
        self._enqueue(entry)
        return True

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        for url, new in facts.items():
            entry = self._entries.get(url)
            if entry is not None and entry.state is State.SETTLED:
                entry.facts = new

    @staticmethod
    def _counts(entry: Entry) -> bool:
        counted = entry.verdict is not None and entry.verdict.outcome in COUNTED
        return counted and entry.candidate.kind is Kind.PAGE

    async def hold_host(self, host: str, until: float, why: str) -> None:
        self._schedule.pace(host).hold(until, why)
        self._offer_if_busy(host)

    async def retune(self, policy: FrontierPolicy) -> None:
        self._policy = policy
        self._sitemaps_out_of_reach = False  # with a larger budget they may be
        self._schedule.retune(policy.pacing)
        self._unpark_all()
        for host in self._queues:
            self._offer_if_busy(host)

    async def stats(self) -> FrontierStats:
        return FrontierStats(
            known=len(self._entries),
            pending=self._open.total(),
            leased=self._leased.total(),
            outcomes={outcome: n for outcome, n in self._outcomes.items() if n},
            listed=self._listed,
            captured=self._captured,
        )

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        waiting = ((host, count - self._leased_of[host]) for host, count in self._open_of.items())
        retries = self._first_retries()
        return [
            self._wait_of(host, pending, now, retries.get(host, 0.0)) for host, pending in waiting if pending
        ]

    def _first_retries(self) -> dict[str, float]:
        """Of hosts that have nothing but delayed URLs: when the first of them may go."""
        first: dict[str, float] = {}
        for entry in map(self._entries.__getitem__, self._delayed.urls()):
            if entry.state is State.DELAYED and not self._queues.get(entry.host):
                first[entry.host] = min(entry.deadline, first.get(entry.host, entry.deadline))
        return first

    def _wait_of(self, host: str, pending: int, now: float, retry_at: float = 0.0) -> HostWait:
        pace = self._schedule.pace(host)
        if pace.over_budget(self._policy.pacing):
            why = BUDGET_SPENT
        elif pace.given_up(self._policy.pacing):
            return HostWait(host, pending, pace.in_flight, float("inf"), GIVEN_UP)
        elif pace.in_flight:
            why = "in flight"
        elif pace.hold_until > max(now, pace.next_at):
            why = pace.hold_why
        elif host in self._parked:
            why = "sitemaps first"
        else:
            why = "spacing"
        if retry_at > max(now, pace.next_at, pace.hold_until):
            return HostWait(host, pending, pace.in_flight, retry_at, "retry")
        return HostWait(host, pending, pace.in_flight, max(pace.next_at, pace.hold_until), why)

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """Nothing here survives anything."""
        await outputs()

    async def aclose(self) -> None:
        """Nothing to release."""

    # ── Ledger ─────────────────────────────────────────────────────────────────────────────────────────

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else frozenset(outcomes)
        for entry in list(self._entries.values()):
            if wanted is None or _outcome_of(entry) in wanted:
                yield self._record_of(entry)

    async def record(self, url: str) -> UrlRecord | None:
        entry = self._entries.get(url)
        return None if entry is None else self._record_of(entry)

    async def history(self, url: str) -> list[Attempt]:
        return list(self._history.get(url, ()))

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return self._robots.get(origin)

    async def put_robots(self, record: RobotsRecord) -> None:
        self._robots[record.origin] = record

    async def get_note(self, key: str) -> str | None:
        return self._notes.get(key)

    async def put_note(self, key: str, value: str) -> None:
        self._notes[key] = value

    # ── Exporter and Importer ──────────────────────────────────────────────────────────────────────────

    async def export(self) -> AsyncIterator[Stored]:
        for key, value in self._notes.items():
            yield StoredNote(key, value)
        for robots in self._robots.values():
            yield robots
        for host, pace in self._schedule.paces():
            yield StoredHost(host, pace.crawl_delay, pace.hold_until, pace.hold_why)
        histories = self._histories()
        for entry in list(self._entries.values()):
            yield self._stored(entry, histories.get(entry.candidate.url, ()))
        yield StoredListing(self._listed)

    async def restore(self, items: Sequence[Stored]) -> None:
        for item in items:
            self._take_over(item)

    def _histories(self) -> Mapping[str, Sequence[Attempt]]:
        return self._history

    def _stored(self, entry: Entry, history: Sequence[Attempt]) -> StoredUrl:
        return StoredUrl(
            candidate=entry.candidate,
            refused=entry.state is State.REFUSED,
            verdict=entry.verdict,
            at=entry.at,
            attempts=entry.attempts,
            address=entry.address,
            not_before=entry.deadline if entry.state is State.DELAYED else 0.0,
            facts=self._facts_of(entry),
            history=tuple(history),
        )

    def _take_over(self, item: Stored) -> None:
        match item:
            case StoredNote():
                self._notes[item.key] = item.value
            case RobotsRecord():
                self._robots[item.origin] = item
            case StoredHost():
                self._recall_host(item)
            case StoredUrl():
                self._history[item.candidate.url] = list(item.history)
                self._restore_url(item, item.facts)
            case StoredListing():
                self._listed = item.pages

    def _recall_host(self, stored: StoredHost) -> None:
        """Counted from now at the latest: a wall clock set back since makes nobody wait for ever."""
        pace, opened_at = self._schedule.pace(stored.host), self._schedule.opened_at
        pace.crawl_delay = stored.crawl_delay
        pace.next_at = max(pace.next_at, opened_at + stored.crawl_delay)
        pace.hold(min(stored.hold_until, opened_at + self._policy.pacing.max_hold), stored.hold_why)

    def _restore_url(self, stored: StoredUrl, facts: PageFacts | int) -> None:
        candidate, verdict = stored.candidate, stored.verdict
        entry = Entry(candidate, host_key(candidate.url), len(self._entries))
        entry.attempts, entry.address = stored.attempts, stored.address
        entry.at, entry.facts = stored.at, facts
        self._entries[candidate.url] = entry
        if stored.refused and verdict is not None:
            entry.state, entry.verdict = State.REFUSED, verdict
            self._outcomes[verdict.outcome] += 1
            return
        self._count_open(entry)
        if verdict is not None:
            self._finish(entry, verdict, stored.at or 0.0, facts)
        elif stored.not_before:
            entry.state, entry.deadline = State.DELAYED, stored.not_before
            self._delayed.put(candidate.url, stored.not_before)
        else:
            self._enqueue(entry)

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
        )

    def _facts_of(self, entry: Entry) -> PageFacts:
        return entry.facts if isinstance(entry.facts, PageFacts) else NO_FACTS


def _outcome_of(entry: Entry) -> Outcome:
    return entry.verdict.outcome if entry.verdict else Outcome.PENDING


def _one_redirect_on(c: Candidate) -> Candidate:
    return Candidate(c.url, c.hop, c.kind, c.depth, c.referrer, c.score, c.redirects + 1)

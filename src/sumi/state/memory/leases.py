"""Who may be asked now: the hosts' queues, the leases, and what the end of one teaches about its host.

A host's work is in two lanes. In its queue is what was never asked, in the order of the crawl. Behind that is
what failed before: it goes when its own wait is over and the queue has nothing that may go now.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from sumi.frontier.pacing import INFINITY, HostPace
from sumi.frontier.retry_queue import DelayedUrls, Retries
from sumi.frontier.schedule import HostSchedule
from sumi.model import ASSETS, Kind, Lease
from sumi.policy import FrontierPolicy
from sumi.ports import HostReport
from sumi.state.entries import BEHIND, DELAYED, LEASED, WAITING, Entry
from sumi.state.memory.discovery import Discovery

PAGE, SITEMAP = Kind.PAGE, Kind.SITEMAP  # for the sake of speed: see sumi.state.entries
SPARE_DEADLINES = 1000  # of leases that have ended, before they are cleared away
QueueItem = tuple[tuple[bool, int, float, int], str]


class Leases(Discovery):
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy)
        self._queues: dict[str, list[QueueItem]] = {}
        self._schedule = HostSchedule(policy.pacing, opened_at)
        self._delayed = DelayedUrls()
        self._retries = Retries()
        self._deadlines: list[tuple[float, int, str]] = []
        # Hosts whose pages wait for their sitemaps or for room under the cap: in the queue, and behind it.
        self._parked: set[str] = set()
        self._parked_retries: set[str] = set()
        # What is leased and failed before: when its wait ended, which is where it belongs after a crash.
        self._due_before: dict[str, float] = {}
        self._leased: Counter[Kind] = Counter()
        self._leased_of: Counter[str] = Counter()
        self._captured = 0
        self._last_token = 0

    # ── what waits ─────────────────────────────────────────────────────────────────────────────────────

    def _enqueue(self, entry: Entry) -> None:
        if entry.behind:
            self._put_behind(entry, 0.0)
        else:
            self._join_queue(entry)

    def _join_queue(self, entry: Entry) -> None:
        entry.state = WAITING
        queue = self._queues.setdefault(entry.host, [])
        heapq.heappush(queue, (entry.rank, entry.candidate.url))
        if len(queue) == 1 or entry.host in self._parked:
            self._unpark(entry.host)

    def _put_behind(self, entry: Entry, not_before: float) -> None:
        entry.state, entry.deadline = BEHIND, not_before
        is_page, url = entry.candidate.kind is PAGE, entry.candidate.url
        self._retries.put(entry.host, is_page, not_before, entry.sequence, url)
        self._offer_if_busy(entry.host)

    # ── leasing ────────────────────────────────────────────────────────────────────────────────────────

    async def lease(self, limit: int, now: float) -> list[Lease]:
        self._expire_leases(now)
        for url in self._delayed.take_due(now):
            self._rejoin(url, now)
        leases: list[Lease] = []
        limited = bool(self._policy.max_pages)
        while len(leases) < limit and not (limited and self._nothing_wanted()):
            hosts = self._schedule.take(self._at_once(limit - len(leases)), now)
            if not hosts:
                break
            for entry in self._next_of(hosts, now):
                leases.append(self._lease_out(entry, now))
                self._offer_if_busy(entry.host)
        return leases

    def _at_once(self, wanted: int) -> int:
        """No more than a limit on pages has room for: whether it is reached is looked at in between."""
        cap = self._policy.max_pages
        return max(1, min(wanted, cap - self._captured - self._leased[PAGE])) if cap else wanted

    async def next_ready(self, now: float) -> float | None:
        if self._nothing_wanted():
            return None
        host_at, url_at = self._schedule.next_at(), self._delayed.next_at()
        if host_at is None or url_at is None:
            return url_at if host_at is None else host_at
        return min(host_at, url_at)

    def _next_of(self, hosts: Sequence[str], now: float) -> list[Entry]:
        """What each of these hosts is asked next, taken from where it waited."""
        pacing, pace = self._policy.pacing, self._schedule.pace
        entries = self._first_unasked([host for host in hosts if pace(host).ready_at(pacing) <= now])
        if len(entries) < len(hosts):
            served = {entry.host for entry in entries}
            entries += self._first_retries_of([host for host in hosts if host not in served], now)
        if pacing.delay == pacing.manifest_delay:
            return entries
        return [entry for entry in entries if not self._comes_too_soon(entry, now)]

    def _first_unasked(self, hosts: Sequence[str]) -> list[Entry]:
        entries = (self._first_of(host) for host in hosts)
        return [entry for entry in entries if entry is not None]

    def _first_of(self, host: str) -> Entry | None:
        queue = self._pruned(host)
        if queue is None:
            return None
        entry = self._entries[queue[0][1]]
        if entry.candidate.kind is PAGE and self._pages_wait(host):
            self._parked.add(host)
            return None
        heapq.heappop(queue)
        if not queue:
            del self._queues[host]
        return entry

    def _pruned(self, host: str) -> list[QueueItem] | None:
        """Its queue without former places of what has moved since; None if that is all there was."""
        queue = self._queues.get(host)
        while queue:
            rank, url = queue[0]
            entry = self._entries[url]
            if entry.state is WAITING and entry.rank == rank:
                return queue
            heapq.heappop(queue)
        self._queues.pop(host, None)
        return None

    def _first_retries_of(self, hosts: Iterable[str], now: float) -> list[Entry]:
        entries = []
        for host in hosts:
            entry = self._first_retry_of(host, now)
            if entry is None:
                self._offer_if_busy(host)
            else:
                entries.append(entry)
        return entries

    def _first_retry_of(self, host: str, now: float) -> Entry | None:
        if host not in self._retries or self._retry_at(host) > now:
            return None
        due = self._retries.first_due
        if due(host, True) < INFINITY and self._pages_wait(host):
            self._parked_retries.add(host)
        is_page = host not in self._parked_retries and due(host, True) < due(host, False)
        url = self._retries.take(host, is_page, now)
        return None if url is None else self._entries[url]

    def _comes_too_soon(self, entry: Entry, now: float) -> bool:
        """Pages and sitemaps have rates of their own: then it goes back until its own gap is kept too."""
        ready_at = self._schedule.pace(entry.host).kind_at(entry.candidate.kind, self._policy.pacing)
        if ready_at <= now:
            return False
        if entry.behind:
            self._put_behind(entry, entry.deadline)
        else:
            self._join_queue(entry)
        self._schedule.offer(entry.host, ready_at)
        return True

    def _lease_out(self, entry: Entry, now: float) -> Lease:
        self._last_token += 1
        if entry.behind:
            self._due_before[entry.candidate.url] = entry.deadline
        entry.state, entry.token, entry.holds_host = LEASED, self._last_token, True
        entry.deadline = now + self._policy.lease_seconds
        heapq.heappush(self._deadlines, (entry.deadline, entry.token, entry.candidate.url))
        kind = entry.candidate.kind
        self._leased[kind] += 1
        self._leased_of[entry.host] += 1
        self._schedule.pace(entry.host).leased(now, kind, self._policy.pacing)
        return Lease(entry.candidate, entry.host, entry.token, entry.deadline, entry.attempts)

    # ── when a host may be asked ───────────────────────────────────────────────────────────────────────

    def _offer_if_busy(self, host: str) -> None:
        self._schedule.offer(host, self._ready_at(host))

    def _ready_at(self, host: str) -> float:
        """When it may be asked for something that it has."""
        pace, pacing = self._schedule.pace(host), self._policy.pacing
        is_busy = self._queues.get(host) and host not in self._parked
        at = pace.ready_at(pacing) if is_busy else INFINITY
        return min(at, self._retry_at(host)) if host in self._retries else at

    def _retry_at(self, host: str) -> float:
        due = self._retries.first_due(host, False)
        if host not in self._parked_retries:
            due = min(due, self._retries.first_due(host, True))
        pace, unasked_left = self._schedule.pace(host), self._has_unasked(host)
        return max(due, pace.retry_at(self._policy.pacing, unasked_left=unasked_left))

    def _has_unasked(self, host: str) -> bool:
        return self._pruned(host) is not None

    def _cap_reached(self) -> bool:
        cap = self._policy.max_pages
        return bool(cap) and self._captured + self._leased[PAGE] >= cap

    def _nothing_wanted(self) -> bool:
        """The limit is on pages: what they show and link to is still wanted once it is reached."""
        return self._cap_reached() and not any(self._open[kind] for kind in ASSETS)

    def _pages_wait(self, host: str) -> bool:
        """For the host's own sitemaps, and for another page to fail where there is a limit on them."""
        return self._cap_reached() or (self._policy.sitemaps_first and host in self._sitemaps_of)

    def _unpark(self, host: str) -> None:
        self._parked.discard(host)
        self._parked_retries.discard(host)
        self._offer_if_busy(host)

    def _unpark_all(self) -> None:
        parked = self._parked | self._parked_retries
        self._parked.clear()
        self._parked_retries.clear()
        for host in parked:
            self._offer_if_busy(host)

    # ── what a host teaches ────────────────────────────────────────────────────────────────────────────

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return [self._renew(lease, now) for lease in leases]

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        self._release(lease, report)

    def _release(self, lease: Lease, report: HostReport | None) -> None:
        entry = self._held(lease)
        if entry is None or not entry.holds_host:
            return
        entry.holds_host = False
        pace = self._schedule.pace(entry.host)
        if report is None:
            pace.unused()
        else:
            self._learn(pace, entry, report)
        self._offer_if_busy(entry.host)

    def _learn(self, pace: HostPace, entry: Entry, report: HostReport) -> None:
        pacing = self._policy.pacing
        if report.crawl_delay is not None:
            pace.crawl_delay = min(report.crawl_delay, pacing.max_crawl_delay)
        kind = Kind.SITEMAP if report.asked_for else entry.candidate.kind  # robots.txt has their pace
        pace.answered(report.reached, report.latency, kind, pacing)
        if report.throttled:
            pace.throttled(report.reached, report.status, report.retry_after, pacing)
        elif report.ok:
            pace.succeeded()
        else:
            pace.failed(report.asked_for or entry.candidate.url, report.reached, pacing)

    async def hold_host(self, host: str, until: float, why: str) -> None:
        self._schedule.pace(host).hold(until, why)
        self._offer_if_busy(host)

    async def retune(self, policy: FrontierPolicy) -> None:
        self._policy = policy
        self._schedule.policy = policy.pacing
        self._unpark_all()
        for host in {*self._queues, *self._retries.hosts()}:
            self._offer_if_busy(host)

    def leased_entries(self) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.state is LEASED]

    def _rejoin(self, url: str, now: float) -> None:
        entry = self._entries[url]
        if entry.state is DELAYED and entry.deadline <= now:
            self._enqueue(entry)

    def _held(self, lease: Lease) -> Entry | None:
        """The entry, if this lease still holds it."""
        entry = self._entries.get(lease.candidate.url)
        return entry if entry is not None and holds(lease, entry) else None

    def _renew(self, lease: Lease, now: float) -> bool:
        entry = self._held(lease)
        if entry is None:
            return False
        entry.deadline = now + self._policy.lease_seconds
        heapq.heappush(self._deadlines, (entry.deadline, entry.token, lease.url))
        return True

    def _expire_leases(self, now: float) -> bool:
        """Whether there were any."""
        expired = False
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, token, url = heapq.heappop(self._deadlines)
            entry = self._entries.get(url)  # as one that changes, where entries are rows
            if entry is not None and _is_due_by(entry, deadline, token):
                self._end_lease(entry)
                self._enqueue(entry)
                expired = True
        return expired

    def _forget_deadlines(self) -> None:
        """Of leases that have ended. Otherwise they stay until they are due."""
        if len(self._deadlines) > 2 * self._leased.total() + SPARE_DEADLINES:
            self._deadlines = [
                one for one in self._deadlines if _is_due_by(self._entries[one[2]], one[0], one[1])
            ]
            heapq.heapify(self._deadlines)

    def _end_lease(self, entry: Entry) -> None:
        kind = entry.candidate.kind
        self._leased[kind] -= 1
        self._leased_of[entry.host] -= 1
        entry.token, entry.deadline = 0, 0.0
        if entry.behind:
            self._due_before.pop(entry.candidate.url, None)
        self._forget_deadlines()
        if kind is PAGE and self._policy.max_pages and (self._parked or self._parked_retries):
            self._unpark_all()
        if entry.holds_host:  # settled without a word on the network: the host is free again
            entry.holds_host = False
            self._schedule.pace(entry.host).unused()
            self._offer_if_busy(entry.host)


def _is_due_by(entry: Entry, deadline: float, token: int) -> bool:
    """Whether a lease that was to end then is still held, and was not renewed."""
    return entry.state is LEASED and entry.token == token and entry.deadline == deadline


def holds(lease: Lease, entry: Entry) -> bool:
    """Whether this lease is the one that the entry is held by."""
    return entry.state is LEASED and entry.token == lease.token

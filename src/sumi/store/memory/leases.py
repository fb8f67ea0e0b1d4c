"""Who may be asked now: the hosts' queues, the leases, and what the end of one teaches about its host."""

import heapq
from collections import Counter
from collections.abc import Sequence

from sumi.frontier.delayed import DelayedUrls
from sumi.frontier.pacing import HostPace
from sumi.frontier.schedule import HostSchedule
from sumi.model import ASSETS, Kind, Lease
from sumi.policy import FrontierPolicy
from sumi.ports import HostReport
from sumi.store.entries import DELAYED, LEASED, WAITING, Entry
from sumi.store.memory.discovery import Discovery

PAGE, SITEMAP = Kind.PAGE, Kind.SITEMAP  # for the sake of speed: see sumi.store.entries
QueueItem = tuple[tuple[bool, int, float, int], str]


class Leases(Discovery):
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy)
        self._queues: dict[str, list[QueueItem]] = {}
        self._schedule = HostSchedule(policy.pacing, opened_at)
        self._delayed = DelayedUrls()
        self._deadlines: list[tuple[float, int, str]] = []
        self._parked: set[str] = set()  # hosts whose pages wait for the sitemaps
        self._leased: Counter[Kind] = Counter()
        self._leased_of: Counter[str] = Counter()
        self._captured = 0
        self._last_token = 0

    def _enqueue(self, entry: Entry) -> None:
        entry.state = WAITING
        queue = self._queues.setdefault(entry.host, [])
        heapq.heappush(queue, (entry.rank, entry.candidate.url))
        if len(queue) == 1 or entry.host in self._parked:
            self._parked.discard(entry.host)
            self._schedule.offer(entry.host)

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
            for entry in self._next_of(hosts):
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
        ready = self._first_time()
        if ready is None and self._sitemaps_hold_pages() and not self._leased.total():
            # Every one that is left belongs to a host whose budget is spent, or that is given up: for this
            # run they will not come, and the pages of others need not wait for them.
            self._sitemaps_out_of_reach = True
            self._unpark_all()
            ready = self._first_time()
        return ready

    def _first_time(self) -> float | None:
        host_at, url_at = self._schedule.next_at(), self._delayed.next_at()
        if host_at is None or url_at is None:
            return url_at if host_at is None else host_at
        return min(host_at, url_at)

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
        pace.answered(report.reached, report.latency, entry.candidate.kind, pacing)
        if report.throttled:
            pace.throttled(report.reached, report.retry_after, pacing)
        elif report.ok:
            pace.succeeded()
        elif report.silent or not entry.attempts:
            # A page that breaks its server does so at every try, which says no more about the host than once.
            pace.failed(report.reached, pacing)

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

    def leased_entries(self) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.state is LEASED]

    def _cap_reached(self) -> bool:
        cap = self._policy.max_pages
        return bool(cap) and self._captured + self._leased[PAGE] >= cap

    def _nothing_wanted(self) -> bool:
        """The limit is on pages: what they show and link to is still wanted once it is reached."""
        return self._cap_reached() and not any(self._open[kind] for kind in ASSETS)

    def _rejoin(self, url: str, now: float) -> None:
        entry = self._entries[url]
        if entry.state is DELAYED and entry.deadline <= now:
            self._enqueue(entry)

    def _next_of(self, hosts: Sequence[str]) -> list[Entry]:
        """Each host's first URL, taken from its queue, of those that have one that may go now."""
        pages_wait = self._pages_wait()
        entries = (self._first_of(host, pages_wait) for host in hosts)
        return [entry for entry in entries if entry is not None]

    def _first_of(self, host: str, pages_wait: bool) -> Entry | None:
        queue = self._queues[host]
        while queue:
            rank, url = queue[0]
            entry = self._entries[url]
            stale = entry.state is not WAITING or entry.rank != rank
            if not stale and pages_wait and entry.candidate.kind is PAGE:
                self._parked.add(host)
                return None
            heapq.heappop(queue)
            if not stale:
                return entry
        del self._queues[host]
        return None

    def _pages_wait(self) -> bool:
        """For sitemaps, and for another page to fail where there is a limit on them."""
        return self._sitemaps_hold_pages() or self._cap_reached()

    def _sitemaps_hold_pages(self) -> bool:
        if not self._policy.sitemaps_first:
            return False
        return self._open[SITEMAP] > 0 and not self._sitemaps_out_of_reach

    def _lease_out(self, entry: Entry, now: float) -> Lease:
        self._last_token += 1
        entry.state, entry.token, entry.holds_host = LEASED, self._last_token, True
        entry.deadline = now + self._policy.lease_seconds
        heapq.heappush(self._deadlines, (entry.deadline, entry.token, entry.candidate.url))
        kind = entry.candidate.kind
        self._leased[kind] += 1
        self._leased_of[entry.host] += 1
        self._schedule.pace(entry.host).leased(now, kind, self._policy.pacing)
        return Lease(entry.candidate, entry.host, entry.token, entry.deadline, entry.attempts)

    def _offer_if_busy(self, host: str) -> None:
        if self._queues.get(host) and host not in self._parked:
            self._schedule.offer(host)
        else:
            self._schedule.withdraw(host)

    def _unpark_all(self) -> None:
        parked, self._parked = self._parked, set()
        for host in parked:
            self._offer_if_busy(host)

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

    def _expire_leases(self, now: float) -> None:
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, token, url = heapq.heappop(self._deadlines)
            entry = self._entries[url]
            if entry.state is LEASED and entry.token == token and entry.deadline == deadline:
                self._end_lease(entry)
                self._enqueue(entry)

    def _end_lease(self, entry: Entry) -> None:
        kind = entry.candidate.kind
        self._leased[kind] -= 1
        self._leased_of[entry.host] -= 1
        entry.token = 0
        if kind is PAGE and self._policy.max_pages and self._parked:
            self._unpark_all()
        if entry.holds_host:  # settled without a word on the network: the host is free again
            entry.holds_host = False
            self._schedule.pace(entry.host).unused()
            self._offer_if_busy(entry.host)


def holds(lease: Lease, entry: Entry) -> bool:
    """Whether this lease is the one that the entry is held by."""
    return entry.state is LEASED and entry.token == lease.token

"""Whom to ask now, and for what: the hosts' queues, their paces, and what an exchange teaches about a host.

A host's work is in two lanes. In its queue is what was never asked, in the order of the crawl. Behind that is
what failed before: it goes when its own wait is over and the queue has nothing that may go now.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, INFINITY, HostPace, is_circuit_hold
from sumi.frontier.retry import Retries
from sumi.frontier.schedule import HostSchedule
from sumi.model import Candidate, Kind
from sumi.policy import FrontierPolicy
from sumi.ports import HostReport, HostWait, StoredHost
from sumi.state.entries import BEHIND, WAITING, Counts, Entry
from sumi.urls import host_key

PAGE = Kind.PAGE  # for the sake of speed: see sumi.state.entries


class Queues(Protocol):
    """What was never asked of each host, in the order of the crawl."""

    # That have a queue, perhaps only of former places (see ``has_any``): asked three times for every page.
    hosts: Collection[str]

    def has_any(self, host: str) -> bool: ...

    def join(self, entry: Entry) -> bool:
        """It takes its place; whether its host had no queue before."""
        ...

    def reconsider(self, entry: Entry) -> None:
        """Its rank is about to change."""
        ...

    def take(self, hosts: Sequence[str], pages_wait: Callable[[str], bool]) -> list[Entry]:
        """The first of each host that has one, unless it is a page and pages wait."""
        ...


class Hosts:
    def __init__(
        self,
        policy: FrontierPolicy,
        opened_at: float,
        entries: Mapping[str, Entry],
        counts: Counts,
        queues: Queues,
        retries: Retries,
    ) -> None:
        self.policy = policy
        self.schedule = HostSchedule(policy.pacing, opened_at)
        self.pace = self.schedule.pace
        self.replaying = False  # while a journal is read back: what waits is queued at the end
        self._entries = entries
        self._counts = counts
        self._queues = queues
        self._queued_hosts = queues.hosts
        self._retries = retries
        self._sitemaps_of: Counter[str] = Counter()  # open ones, by the host whose pages wait for them
        # Hosts whose pages wait for their sitemaps or for room under the cap: in the queue, and behind it.
        self._parked: set[str] = set()
        self._parked_retries: set[str] = set()

    # ── what waits ─────────────────────────────────────────────────────────────────────────────────────

    def queue(self, entry: Entry) -> None:
        if entry.behind:
            self.put_behind(entry, 0.0)
        else:
            self._join_queue(entry)

    def _join_queue(self, entry: Entry) -> None:
        entry.state = WAITING
        if not self.replaying and (self._queues.join(entry) or entry.host in self._parked):
            self._unpark(entry.host)

    def put_behind(self, entry: Entry, not_before: float) -> None:
        entry.state, entry.deadline = BEHIND, not_before
        if not self.replaying:
            is_page, url = entry.candidate.kind is PAGE, entry.candidate.url
            self._retries.put(entry.host, is_page, not_before, entry.sequence, url)
            self.offer(entry.host)

    def finish_replay(self, entries: Iterable[Entry]) -> None:
        """Queue those that wait. Most of what was queued once is long done when a journal has been read."""
        self.replaying = False
        for entry in entries:
            if entry.state is WAITING:
                self._join_queue(entry)
            elif entry.state is BEHIND:
                self.put_behind(entry, entry.deadline)

    def reconsider(self, entry: Entry) -> None:
        self._queues.reconsider(entry)

    def count_sitemap(self, entry: Entry, change: int) -> None:
        """Pages wait for the sitemaps of their own host, if that host named them: nobody else can make them
        wait."""
        if not is_foreign_sitemap(entry.candidate, entry.host):
            self._sitemaps_of[entry.host] += change
            if not self._sitemaps_of[entry.host]:
                del self._sitemaps_of[entry.host]
                self._unpark(entry.host)

    # ── whom to ask now ────────────────────────────────────────────────────────────────────────────────

    def take(self, wanted: int, now: float) -> list[Entry] | None:
        """What some hosts are asked next, taken from where it waited; None if no host may be asked.

        No more than a limit on pages has room for: whether it is reached is looked at in between."""
        cap = self.policy.max_pages
        if cap:
            wanted = max(1, min(wanted, cap - self._counts.captured - self._counts.leased[PAGE]))
        hosts = self.schedule.take(wanted, now)
        return self._next_of(hosts, now) if hosts else None

    def _next_of(self, hosts: Sequence[str], now: float) -> list[Entry]:
        pacing, pace = self.policy.pacing, self.pace
        ready = [host for host in hosts if pace(host).ready_at(pacing) <= now]
        entries = self._queues.take(ready, self._park_pages)
        if len(entries) < len(hosts):
            served = {entry.host for entry in entries}
            entries += self._first_retries_of([host for host in hosts if host not in served], now)
        if pacing.delay == pacing.manifest_delay:
            return entries
        return [entry for entry in entries if not self._comes_too_soon(entry, now)]

    def _park_pages(self, host: str) -> bool:
        if not self._pages_wait(host):
            return False
        self._parked.add(host)
        return True

    def _first_retries_of(self, hosts: Iterable[str], now: float) -> list[Entry]:
        entries = []
        for host in hosts:
            entry = self._first_retry_of(host, now)
            if entry is None:
                self.offer(host)
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
        ready_at = self.pace(entry.host).kind_at(entry.candidate.kind, self.policy.pacing)
        if ready_at <= now:
            return False
        if entry.behind:
            self.put_behind(entry, entry.deadline)
        else:
            self._join_queue(entry)
        self.schedule.offer(entry.host, ready_at)
        return True

    def offer(self, host: str) -> None:
        """To be asked as soon as it may be, if it has work."""
        self.schedule.offer(host, self._ready_at(host))

    def _ready_at(self, host: str) -> float:
        is_busy = host in self._queued_hosts and host not in self._parked
        at = self.pace(host).ready_at(self.policy.pacing) if is_busy else INFINITY
        return min(at, self._retry_at(host)) if host in self._retries else at

    def _retry_at(self, host: str) -> float:
        due = self._retries.first_due(host, False)
        if host not in self._parked_retries:
            due = min(due, self._retries.first_due(host, True))
        unasked_left = self._queues.has_any(host)
        return max(due, self.pace(host).retry_at(self.policy.pacing, unasked_left=unasked_left))

    def cap_reached(self) -> bool:
        cap = self.policy.max_pages
        return bool(cap) and self._counts.captured + self._counts.leased[PAGE] >= cap

    def _pages_wait(self, host: str) -> bool:
        """For the host's own sitemaps, and for another page to fail where there is a limit on them."""
        return self.cap_reached() or (self.policy.sitemaps_first and host in self._sitemaps_of)

    def _unpark(self, host: str) -> None:
        self._parked.discard(host)
        self._parked_retries.discard(host)
        self.offer(host)

    def _unpark_all(self) -> None:
        parked = self._parked | self._parked_retries
        self._parked.clear()
        self._parked_retries.clear()
        for host in parked:
            self.offer(host)

    # ── what an exchange teaches ───────────────────────────────────────────────────────────────────────

    def leased(self, entry: Entry, now: float) -> None:
        self.pace(entry.host).leased(now, entry.candidate.kind, self.policy.pacing)

    def release(self, entry: Entry, report: HostReport | None) -> None:
        """The network is done with the host of this entry; None: it was not used at all."""
        if not entry.holds_host:
            return
        entry.holds_host = False
        pace = self.pace(entry.host)
        if report is None:
            pace.unused()
        else:
            self._learn(pace, entry, report)
        self.offer(entry.host)

    def _learn(self, pace: HostPace, entry: Entry, report: HostReport) -> None:
        pacing = self.policy.pacing
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

    def ended(self, entry: Entry) -> None:
        """Its lease. Where nothing was said about the network, the host is free again."""
        if entry.candidate.kind is PAGE and self.policy.max_pages and (self._parked or self._parked_retries):
            self._unpark_all()
        self.release(entry, None)

    def hold(self, host: str, until: float, why: str) -> None:
        self.pace(host).hold(until, why)
        self.offer(host)

    def retune(self, policy: FrontierPolicy) -> None:
        self.policy = policy
        self.schedule.policy = policy.pacing
        self._unpark_all()
        for host in {*self._queued_hosts, *self._retries.hosts()}:
            self.offer(host)

    def stored(self, host: str) -> StoredHost:
        """What of its politeness outlives the process."""
        pace = self.pace(host)
        return StoredHost(host, pace.crawl_delay, pace.hold_until, pace.hold_why)

    def all_stored(self) -> list[StoredHost]:
        return [self.stored(host) for host, _ in self.schedule.paces()]

    def restore(self, stored: StoredHost) -> None:
        """Counted from now at the latest: a wall clock set back since makes nobody wait for ever."""
        pace, opened_at = self.pace(stored.host), self.schedule.opened_at
        pace.crawl_delay = stored.crawl_delay
        pace.next_at = max(pace.next_at, opened_at + stored.crawl_delay)
        if not is_circuit_hold(stored.hold_why):
            pace.hold(min(stored.hold_until, opened_at + self.policy.pacing.max_hold), stored.hold_why)

    # ── what people are told ───────────────────────────────────────────────────────────────────────────

    def first_retries(self) -> Iterable[tuple[str, float]]:
        """Hosts with something that failed before, and when the first of it may go."""
        return [(host, self.first_retry(host)) for host in self._retries.hosts()]

    def first_retry(self, host: str) -> float:
        return min(self._retries.first_due(host, is_page) for is_page in (False, True))

    def has_unasked(self, host: str) -> bool:
        return self._queues.has_any(host)

    def wait(self, host: str, pending: int, now: float, retry_at: float = 0.0) -> HostWait:
        """Why it is not being asked. ``retry_at``: when its first retry may go, where it has nothing else."""
        pace, pacing = self.pace(host), self.policy.pacing
        unasked_left = self._queues.has_any(host)
        until, held = pace.wait(pacing, unasked_left=unasked_left)
        if pace.over_budget(pacing):
            return HostWait(host, pending, pace.in_flight, max(pace.next_at, until), BUDGET_SPENT)
        if unasked_left and pace.given_up(pacing):
            return HostWait(host, pending, pace.in_flight, INFINITY, GIVEN_UP)
        if pace.in_flight:
            why = "in flight"
        elif until > max(now, pace.next_at):
            why = held
        elif host in self._parked:
            why = "sitemaps first"
        else:
            why = "spacing"
        if retry_at > max(now, pace.next_at, until):
            return HostWait(host, pending, pace.in_flight, retry_at, "retry")
        return HostWait(host, pending, pace.in_flight, max(pace.next_at, until), why)


def is_foreign_sitemap(candidate: Candidate, host: str) -> bool:
    """A sitemap that another host named: that one must not hold up this one's pages with it."""
    if candidate.kind is not Kind.SITEMAP or candidate.referrer is None:
        return False
    return host_key(candidate.referrer) != host

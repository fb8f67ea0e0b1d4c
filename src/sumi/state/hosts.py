"""Which hosts to ask now, and for what: their queues, their paces, and what an exchange shows about a host.

A host's work is in two lanes. Its queue holds URLs that were never requested, in crawl order. Behind it are
retries: one is taken when it is due and nothing in the queue may be fetched now.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, INFINITY, HostPace, is_circuit_hold
from sumi.frontier.retry import Retries
from sumi.frontier.schedule import HostSchedule
from sumi.model import Candidate, Kind
from sumi.policy import FrontierPolicy
from sumi.ports import HostReport, HostWait
from sumi.state.entries import BEHIND, WAITING, Counts, Entry, StoredHost
from sumi.urls import host_key

PAGE = Kind.PAGE  # for speed: see sumi.state.entries


class Queues(Protocol):
    """The URLs of each host that were never requested, in crawl order."""

    # Those that have a queue, perhaps only of outdated entries (see ``has_any``). Used three times per page.
    hosts: Collection[str]

    def has_any(self, host: str) -> bool: ...

    def join(self, entry: Entry) -> bool:
        """Queue it; returns whether its host had no queue before."""
        ...

    def reconsider(self, entry: Entry) -> None:
        """Its rank is about to change."""
        ...

    def take(self, hosts: Sequence[str], pages_wait: Callable[[str], bool]) -> list[Entry]:
        """Remove the first URL of each host and return it, unless it is a page and its host's pages wait."""
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
        self.replaying = False  # while a journal is read: what waits is queued at the end
        self._entries = entries
        self._counts = counts
        self._queues = queues
        self._queued_hosts = queues.hosts
        self._retries = retries
        self._sitemaps_of: Counter[str] = Counter()  # open ones, by the host whose pages wait for them
        # Hosts whose pages wait for sitemaps or for the page limit: those in the queue, and retries.
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
        """Queue what waits: most URLs that a journal queues are settled later in it."""
        self.replaying = False
        for entry in entries:
            if entry.state is WAITING:
                self._join_queue(entry)
            elif entry.state is BEHIND:
                self.put_behind(entry, entry.deadline)

    def reconsider(self, entry: Entry) -> None:
        self._queues.reconsider(entry)

    def count_sitemap(self, entry: Entry, change: int) -> None:
        """Pages wait for the sitemaps that their own host names. No other host can make them wait."""
        if not is_foreign_sitemap(entry.candidate, entry.host):
            self._sitemaps_of[entry.host] += change
            if not self._sitemaps_of[entry.host]:
                del self._sitemaps_of[entry.host]
                self._unpark(entry.host)

    # ── which hosts to ask now ─────────────────────────────────────────────────────────────────────────

    def take(self, wanted: int, now: float) -> list[Entry] | None:
        """The next URLs of some hosts, removed from their queues; None if no host may be asked.

        No more than the page limit allows: the caller checks in between whether it is reached."""
        places = self.places()
        if places is not None:
            wanted = max(1, min(wanted, places))
        hosts = self.schedule.take(wanted, now)
        return self._next_of(hosts, now) if hosts else None

    def _next_of(self, hosts: Sequence[str], now: float) -> list[Entry]:
        pacing, pace = self.policy.pacing, self.pace
        ready = [host for host in hosts if pace(host).ready_at(pacing) <= now]
        entries = self._queues.take(ready, self._park_pages)
        if len(entries) < len(hosts):
            served = {entry.host for entry in entries}
            entries += self._first_retries_of([host for host in hosts if host not in served], now)
        if pacing.delay == pacing.sitemap_delay:
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
        """Pages and sitemaps may have different rates: then it goes back until its own delay has passed."""
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
        """Schedule the host for as soon as it may be asked, if it has work."""
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

    def places(self) -> int | None:
        """How many more pages may be leased; None: there is no limit."""
        cap = self.policy.max_pages
        return cap - self._counts.captured - self._counts.leased[PAGE] if cap else None

    def cap_reached(self) -> bool:
        cap = self.policy.max_pages
        return bool(cap) and self._counts.captured + self._counts.leased[PAGE] >= cap

    def _pages_wait(self, host: str) -> bool:
        """Until the host's own sitemaps are read; and while the page limit is reached, until a page fails."""
        return self.cap_reached() or (self.policy.sitemaps_first and host in self._sitemaps_of)

    def _unpark(self, host: str) -> None:
        self._parked.discard(host)
        self._parked_retries.discard(host)
        self.offer(host)

    def unpark_all(self) -> None:
        parked = self._parked | self._parked_retries
        self._parked.clear()
        self._parked_retries.clear()
        for host in parked:
            self.offer(host)

    # ── what an exchange shows ─────────────────────────────────────────────────────────────────────────

    def leased(self, entry: Entry, now: float) -> None:
        self.pace(entry.host).leased(now, entry.candidate.kind, self.policy.pacing)

    def release(self, entry: Entry, report: HostReport | None) -> None:
        """Free the host's network slot; no report: it was not used at all."""
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
        """Its lease has ended. If its network slot was not released, it is now."""
        if entry.candidate.kind is PAGE and self.policy.max_pages and (self._parked or self._parked_retries):
            self.unpark_all()
        self.release(entry, None)

    def hold(self, host: str, until: float, why: str) -> None:
        self.pace(host).hold(until, why)
        self.offer(host)

    def retune(self, policy: FrontierPolicy) -> None:
        self.policy = policy
        self.schedule.policy = policy.pacing
        self.unpark_all()
        for host in {*self._queued_hosts, *self._retries.hosts()}:
            self.offer(host)

    def forget(self, host: str) -> None:
        """It is no longer ours to ask, and nothing of it is leased."""
        self._retries.forget(host)
        self._sitemaps_of.pop(host, None)
        self._parked.discard(host)
        self._parked_retries.discard(host)
        self.schedule.forget(host)

    def stored(self, host: str) -> StoredHost:
        """What must be remembered about the host when the process ends."""
        pace = self.pace(host)
        return StoredHost(host, pace.crawl_delay, pace.hold_until, pace.hold_why)

    def all_stored(self) -> list[StoredHost]:
        return [self.stored(host) for host, _ in self.schedule.paces()]

    def restore(self, stored: StoredHost) -> None:
        """Waits are counted from now at the latest, in case the wall clock was set back since."""
        pace, opened_at = self.pace(stored.host), self.schedule.opened_for(stored.host)
        pace.crawl_delay = stored.crawl_delay
        pace.next_at = max(pace.next_at, opened_at + stored.crawl_delay)
        if not is_circuit_hold(stored.hold_why):
            pace.hold(min(stored.hold_until, opened_at + self.policy.pacing.max_hold), stored.hold_why)

    # ── reporting ──────────────────────────────────────────────────────────────────────────────────────

    def first_retries(self) -> Iterable[tuple[str, float]]:
        """Hosts with retries, and when the first one is due."""
        return [(host, self.first_retry(host)) for host in self._retries.hosts()]

    def first_retry(self, host: str) -> float:
        return min(self._retries.first_due(host, is_page) for is_page in (False, True))

    def has_unasked(self, host: str) -> bool:
        return self._queues.has_any(host)

    def wait(self, host: str, pending: int, now: float, retry_at: float = 0.0) -> HostWait:
        """Why it is not asked now. ``retry_at``: when its first retry is due, if it has nothing else."""
        pace, pacing = self.pace(host), self.policy.pacing
        unasked_left = self._queues.has_any(host)
        until, held = pace.wait(pacing, unasked_left=unasked_left)
        if pace.over_budget(pacing):
            return HostWait(host, pending, pace.in_flight, max(pace.next_at, until), BUDGET_SPENT)
        if unasked_left and pace.given_up(pacing):
            return HostWait(host, pending, pace.in_flight, INFINITY, GIVEN_UP)
        if pace.in_flight or pace.borrowed:
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
    """Whether another host named the sitemap, which must not delay the pages of this one."""
    if candidate.kind is not Kind.SITEMAP or candidate.referrer is None:
        return False
    return host_key(candidate.referrer) != host

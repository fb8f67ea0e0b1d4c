"""The frontier's state machine: what a discovery changes, which URLs are leased now, how a lease ends.

Every store uses this one, wherever it keeps its entries. It does no I/O, and ``now`` is an argument. Its
parts: ``Hosts`` chooses the hosts to ask, ``Leases`` knows what is leased, ``Counts`` counts URLs by kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from sys import intern
from typing import Protocol

import msgspec

from sumi.frontier.pacing import INFINITY
from sumi.model import ASSETS, LISTED, Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import KEPT, Ending, Verdict
from sumi.ports import Deferral, FrontierStats, HostReport, HostWait, Judged, Settlement
from sumi.state.entries import DELAYED, REFUSED, SETTLED, WAITING, Counts, Entry, Leases, StoredUrl
from sumi.state.hosts import Hosts, is_foreign_sitemap
from sumi.urls import host_key

PAGE, SITEMAP = Kind.PAGE, Kind.SITEMAP  # for speed: see sumi.state.entries
MOST_VERDICTS = 256


class Delays(Protocol):
    """URLs that were never requested and are not due yet."""

    def put(self, url: str, not_before: float) -> None: ...

    def take_due(self, now: float) -> list[str]: ...

    def next_at(self) -> float | None: ...

    def first_due(self) -> Iterable[tuple[str, float]]:
        """Hosts with such URLs, and when those are due."""
        ...


class FrontierMachine:
    def __init__(
        self, entries: dict[str, Entry], counts: Counts, leases: Leases, hosts: Hosts, delays: Delays
    ) -> None:
        self.entries = entries  # every URL ever added
        self.counts = counts
        self.leases = leases
        self.hosts = hosts
        self._delays = delays
        self._verdicts: dict[Verdict, Verdict] = {}

    # ── what a discovery changes ───────────────────────────────────────────────────────────────────────

    def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        known, settled = self.entries.get, SETTLED
        fresh = []
        for url in urls:  # nearly all of them are known, and most of those settled
            entry = known(url)
            if entry is None or (entry.state is not settled and entry.could_change(depth, hop)):
                fresh.append(url)
        return fresh

    def admit(self, item: Judged) -> bool:
        """Whether it changed what is known."""
        entry = self.entries.get(item.candidate.url)
        if entry is None:
            self._register(item)
            return True
        if item.refusal is not None:
            return False
        if entry.state is REFUSED:
            self.lift(entry, item.candidate)
            return True
        if entry.could_change(item.candidate.depth, item.candidate.hop):
            self.shorten(entry, item.candidate)
            return True
        return False

    def _register(self, item: Judged) -> None:
        url = item.candidate.url
        entry = Entry(item.candidate, intern(host_key(url)), self.next_sequence())
        self.entries[url] = entry
        if item.refusal is not None:
            entry.state, entry.verdict = REFUSED, item.refusal
            self.counts.outcomes[item.refusal.outcome] += 1
            return
        self._open(entry)

    def next_sequence(self) -> int:
        return len(self.entries)

    def lift(self, entry: Entry, candidate: Candidate) -> None:
        """The gate refused it, and now accepts it."""
        assert entry.verdict is not None
        self.counts.outcomes[entry.verdict.outcome] -= 1
        entry.verdict = None
        entry.candidate = candidate
        self._open(entry)

    def _open(self, entry: Entry) -> None:
        entry.behind = is_foreign_sitemap(entry.candidate, entry.host)
        self._count_open(entry)
        self.hosts.queue(entry)

    def _count_open(self, entry: Entry) -> None:
        candidate, counts = entry.candidate, self.counts
        counts.open[candidate.kind] += 1
        counts.open_of[entry.host] += 1
        if candidate.hop in LISTED and candidate.kind is PAGE:
            counts.listed += 1
        if candidate.kind is SITEMAP:
            self.hosts.count_sitemap(entry, 1)

    def shorten(self, entry: Entry, candidate: Candidate) -> None:
        """A shorter path was found: the depth drops, and its place in the queue changes. A sitemap stays one,
        because it was counted as one when it was added. It is still requested as it was first written."""
        self.hosts.reconsider(entry)
        known = entry.candidate
        is_sitemap = known.kind is SITEMAP
        if is_sitemap:
            self.hosts.count_sitemap(entry, -1)
        entry.candidate = msgspec.structs.replace(candidate, kind=known.kind, address=known.address)
        if is_sitemap:
            self.hosts.count_sitemap(entry, 1)
        if entry.state is WAITING:
            self.hosts.queue(entry)

    # ── leasing ────────────────────────────────────────────────────────────────────────────────────────

    def lease(self, limit: int, now: float) -> list[Lease]:
        self.expire(now)
        for url in self._delays.take_due(now):
            self.rejoin(self.entries[url], now)
        leases: list[Lease] = []
        while len(leases) < limit and not self._nothing_wanted():
            entries = self.hosts.take(limit - len(leases), now)
            if entries is None:
                break
            for entry in entries:
                leases.append(self._lease_out(entry, now))
                self.hosts.offer(entry.host)
        return leases

    def _lease_out(self, entry: Entry, now: float) -> Lease:
        lease = self.leases.give(entry, now + self.hosts.policy.lease_seconds)
        self.counts.leased[entry.candidate.kind] += 1
        self.counts.leased_of[entry.host] += 1
        self.hosts.leased(entry, now)
        return lease

    def _nothing_wanted(self) -> bool:
        """The limit is on pages: their images and files are still fetched once it is reached."""
        return self.hosts.cap_reached() and not any(self.counts.open[kind] for kind in ASSETS)

    def next_ready(self) -> float | None:
        if self._nothing_wanted():
            return None
        host_at, url_at = self.hosts.schedule.next_at(), self._delays.next_at()
        if host_at is None or url_at is None:
            return url_at if host_at is None else host_at
        return min(host_at, url_at)

    def rejoin(self, entry: Entry, now: float) -> None:
        """It was delayed, and is due now."""
        if entry.state is DELAYED and entry.deadline <= now:
            self.hosts.queue(entry)

    def expire(self, now: float) -> list[Entry]:
        """URLs whose leases have expired; they wait again."""
        expired = self.leases.expired(now)
        for entry in expired:
            self._end_lease(entry)
            self.hosts.queue(entry)
        return expired

    def renew(self, lease: Lease, now: float) -> bool:
        return self.leases.renew(lease, now + self.hosts.policy.lease_seconds)

    def release(self, lease: Lease, report: HostReport | None) -> None:
        entry = self.leases.held_by(lease)
        if entry is not None:
            self.hosts.release(entry, report)

    def _end_lease(self, entry: Entry) -> None:
        self.counts.leased[entry.candidate.kind] -= 1
        self.counts.leased_of[entry.host] -= 1
        self.leases.end(entry)
        self.hosts.ended(entry)

    def inherit(self, old: "FrontierMachine") -> None:
        """Take over what is never stored, from a machine with the same content: when each host may be asked
        again, and all leases."""
        self.hosts.schedule.inherit(old.hosts.schedule)
        self.leases.inherit(old.leases, self.entries)
        for entry in self.leases.held.values():
            self.counts.leased[entry.candidate.kind] += 1
            self.counts.leased_of[entry.host] += 1

    # ── how a lease ends ───────────────────────────────────────────────────────────────────────────────

    def settle(self, unit: Settlement | Deferral) -> list[Judged] | None:
        """The discoveries that were new, or None for a stale lease."""
        entry = self.leases.held_by(unit.lease)
        if entry is None:
            return None
        self._end_lease(entry)
        if isinstance(unit, Settlement):
            self.finish(entry, unit.verdict, unit.at, unit.facts)
        else:
            self.put_back(entry, unit.why is not None, unit.not_before, unit.address)
        return [item for item in unit.found if self.admit(item)] if unit.found else []

    def finish(self, entry: Entry, verdict: Verdict, at: float, facts: PageFacts | int) -> None:
        entry.state, entry.at, entry.facts = SETTLED, at, facts
        entry.verdict = self._shared(verdict)
        counts, kind = self.counts, entry.candidate.kind
        counts.outcomes[verdict.outcome] += 1
        counts.captured += counts_as_page(entry, verdict)
        counts.open[kind] -= 1
        counts.open_of[entry.host] -= 1
        if kind is SITEMAP:
            self.hosts.count_sitemap(entry, -1)

    def _shared(self, verdict: Verdict) -> Verdict:
        """One object for equal verdicts, which saves memory: most pages end alike."""
        if len(self._verdicts) < MOST_VERDICTS:
            return self._verdicts.setdefault(verdict, verdict)
        return self._verdicts.get(verdict, verdict)

    def put_back(self, entry: Entry, failed: bool, not_before: float, address: str) -> None:
        entry.attempts += failed
        entry.behind = entry.behind or failed
        if address:
            address = "" if address == entry.candidate.url else address
            entry.candidate = msgspec.structs.replace(entry.candidate, address=address)
        self._delay(entry, not_before)

    def _delay(self, entry: Entry, not_before: float) -> None:
        if entry.behind:
            self.hosts.put_behind(entry, not_before)
        else:
            entry.state, entry.deadline = DELAYED, not_before
            self._delays.put(entry.candidate.url, not_before)

    def requeue(self, url: str) -> bool:
        """Whether it was settled."""
        entry = self.entries.get(url)
        if entry is None or entry.state is not SETTLED or entry.verdict is None:
            return False
        self.counts.outcomes[entry.verdict.outcome] -= 1
        self.counts.captured -= counts_as_page(entry, entry.verdict)
        # A page that failed, in an earlier run or in this one, is a retry.
        entry.behind = entry.verdict.ending is Ending.FAILED
        entry.verdict, entry.attempts = None, 0
        self.counts.open[entry.candidate.kind] += 1
        self.counts.open_of[entry.host] += 1
        if entry.candidate.kind is SITEMAP:
            self.hosts.count_sitemap(entry, 1)
        self.hosts.queue(entry)
        return True

    def settled(self, url: str) -> Entry | None:
        """The entry, if it is settled."""
        entry = self.entries.get(url)
        return entry if entry is not None and entry.state is SETTLED else None

    def restore(self, stored: StoredUrl, facts: PageFacts | int) -> Entry:
        """Import a URL from another store."""
        candidate, verdict = stored.candidate, stored.verdict
        if stored.address:
            candidate = msgspec.structs.replace(candidate, address=stored.address)
        entry = Entry(candidate, intern(host_key(candidate.url)), self.next_sequence())
        entry.attempts, entry.at, entry.facts = stored.attempts, stored.at, facts
        entry.behind = stored.behind or (stored.attempts > 0 and verdict is None)
        self.entries[candidate.url] = entry
        if stored.refused and verdict is not None:
            entry.state, entry.verdict = REFUSED, verdict
            self.counts.outcomes[verdict.outcome] += 1
            return entry
        self._count_open(entry)
        if verdict is not None:
            self.finish(entry, verdict, stored.at or 0.0, facts)
        elif stored.not_before:
            self._delay(entry, stored.not_before)
        else:
            self.hosts.queue(entry)
        return entry

    # ── reporting ──────────────────────────────────────────────────────────────────────────────────────

    def stats(self) -> FrontierStats:
        counts = self.counts
        return FrontierStats(
            known=len(self.entries),
            pending=counts.open.total(),
            leased=len(self.leases.held),
            outcomes={outcome: n for outcome, n in counts.outcomes.items() if n},
            listed=counts.listed,
            captured=counts.captured,
            pending_pages=counts.open[PAGE],
        )

    def waiting_hosts(self, now: float) -> list[HostWait]:
        open_of, leased_of = self.counts.open_of, self.counts.leased_of
        delayed = self._first_delays()
        return [
            self.hosts.wait(host, count - leased_of[host], now, delayed.get(host, 0.0))
            for host, count in open_of.items()
            if count > leased_of[host]
        ]

    def wait_of(self, host: str, now: float) -> HostWait | None:
        pending = self.counts.open_of[host] - self.counts.leased_of[host]
        due = 0.0 if self.hosts.has_unasked(host) else self.hosts.first_retry(host)
        return self.hosts.wait(host, pending, now, due if due < INFINITY else 0.0) if pending else None

    def _first_delays(self) -> Mapping[str, float]:
        """When the first URL is due, of hosts that have only delayed URLs and retries."""
        first: dict[str, float] = {}
        for host, due in chain(self._delays.first_due(), self.hosts.first_retries()):
            if not self.hosts.has_unasked(host):
                first[host] = min(due, first.get(host, due))
        return first


def counts_as_page(entry: Entry, verdict: Verdict) -> bool:
    """Whether it counts against max_pages."""
    return verdict.outcome in KEPT and entry.candidate.kind is PAGE

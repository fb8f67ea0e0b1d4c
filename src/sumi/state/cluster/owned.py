"""The frontier's state machine over the hosts that one worker owns: buckets of hosts come and go."""

from collections.abc import Collection
from sys import intern
from typing import Any

from sumi.frontier.pacing import INFINITY
from sumi.frontier.retry import Retries
from sumi.frontier.schedule import HostSchedule
from sumi.model import LISTED, Kind
from sumi.policy import FrontierPolicy
from sumi.state.cluster.batch import unclean
from sumi.state.cluster.keys import bucket_of, first_number
from sumi.state.cluster.rows import HEAD_ANSWERED, Opened
from sumi.state.entries import REFUSED, SETTLED, Counts, Entry, Leases
from sumi.state.hosts import Hosts, is_foreign_sitemap
from sumi.state.machine import FrontierMachine, counts_as_page
from sumi.state.memory import HeapDelays, HeapQueues

PAGE = Kind.PAGE


class OwnedSchedule(HostSchedule):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.opened_of: dict[int, float] = {}  # by bucket: when it became ours, and its hosts may be asked

    def opened_for(self, host: str) -> float:
        return self.opened_of.get(bucket_of(host), self.opened_at)


class OwnedHosts(Hosts):
    def __init__(self, policy: FrontierPolicy, opened_at: float, *parts: Any) -> None:
        super().__init__(policy, opened_at, *parts)
        self.schedule: OwnedSchedule = OwnedSchedule(policy.pacing, opened_at)
        self.pace = self.schedule.pace
        self.withheld: set[int] = set()  # buckets of which nothing is leased: on their way in or out
        self.allowance = 0  # pages of the job's limit that only this worker may capture
        self.unreserved = 0  # and those that nobody has reserved, when that was last heard

    def places(self) -> int | None:
        return self.allowance - self._counts.leased[PAGE] if self.policy.max_pages else None

    def spare(self) -> int:
        """Pages that were reserved for more URLs than there are: some ended uncaptured, or left."""
        return max(self.allowance - self._counts.open[PAGE], 0) if self.policy.max_pages else 0

    def cap_reached(self) -> bool:
        left = self.allowance + self.unreserved
        return bool(self.policy.max_pages) and self._counts.leased[PAGE] >= left

    def _ready_at(self, host: str) -> float:
        if self.withheld and bucket_of(host) in self.withheld:
            return INFINITY
        return super()._ready_at(host)


class OwnedQueues(HeapQueues):
    def forget(self, host: str) -> None:
        self._queues.pop(host, None)


class OwnedDelays(HeapDelays):
    """Of URLs that are still ours."""

    def take_due(self, now: float) -> list[str]:
        return [url for url in super().take_due(now) if url in self._entries]

    def urls(self) -> Any:
        return (url for url in super().urls() if url in self._entries)


class OwnedMachine(FrontierMachine):
    hosts: OwnedHosts

    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        entries: dict[str, Entry] = {}
        counts = Counts()
        self._queues = OwnedQueues(entries)
        hosts = OwnedHosts(policy, opened_at, entries, counts, self._queues, Retries())
        super().__init__(entries, counts, Leases(), hosts, OwnedDelays(entries))
        self._sequence = 0
        self.heads: set[str] = (
            set()
        )  # URLs whose HEAD was answered, and whose content has yet to be requested

    def next_sequence(self) -> int:
        self._sequence += 1
        return self._sequence

    def number_from(self, server_time: float) -> None:
        """So that URLs are in the order of their discovery, nearly so over all workers."""
        self._sequence = max(self._sequence, first_number(server_time))

    def adopt(self, sequence: int) -> None:
        """The next URL that is restored has this number."""
        self._sequence = sequence - 1

    def revive(self, row: Opened, offset: float) -> None:
        """A URL of a bucket that is opened. ``offset``: from our clock to the server's."""
        candidate, verdict = row.candidate(), row.verdict()
        entry = Entry(candidate, intern(unclean(row.host)), row.sequence)
        entry.latest, entry.facts = row.serial or 0, 1 if row.has_facts else 0
        entry.attempts = row.attempts or 0
        if row.settled_at is not None:
            entry.at = row.settled_at - offset
        self.entries[candidate.url] = entry
        if verdict is None:
            self._wait_again(entry, row, offset)
            return
        entry.verdict = self._shared(verdict)
        entry.state = SETTLED if row.refused is None else REFUSED
        self.counts.outcomes[verdict.outcome] += 1
        if entry.state is SETTLED:
            self.counts.captured += counts_as_page(entry, verdict)
            self.counts.listed += candidate.hop in LISTED and candidate.kind is PAGE

    def _wait_again(self, entry: Entry, row: Opened, offset: float) -> None:
        entry.behind = bool(row.behind) or entry.attempts > 0
        if row.what == HEAD_ANSWERED:
            self.heads.add(entry.candidate.url)
        if row.what is None:
            entry.behind = is_foreign_sitemap(entry.candidate, entry.host)
        self._count_open(entry)
        if row.due is None and not entry.behind:
            self._queues.join(entry)  # its host is offered when the whole bucket is there
        elif row.due is None:
            self.hosts.put_behind(entry, 0.0)
        else:
            self._delay(entry, row.due - offset)

    def open_of(self, buckets: Collection[int]) -> dict[int, int]:
        """URLs to do, by bucket."""
        found = dict.fromkeys(buckets, 0)
        for host, number in self.counts.open_of.items():
            bucket = bucket_of(host)
            if bucket in found:
                found[bucket] += number
        return found

    def busy(self, buckets: Collection[int]) -> bool:
        """Whether anything of them is leased."""
        return any(bucket_of(entry.host) in buckets for entry in self.leases.held.values())

    def withhold(self, buckets: Collection[int]) -> None:
        """Nothing more of them is leased."""
        self.hosts.withheld.update(buckets)
        self._offer_again(buckets)

    def allow(self, buckets: Collection[int]) -> None:
        """What was withheld may be leased."""
        self.hosts.withheld.difference_update(buckets)
        self._offer_again(buckets)

    def _offer_again(self, buckets: Collection[int]) -> None:
        for host in list(self.counts.open_of):
            if bucket_of(host) in buckets:
                self.hosts.offer(host)

    def forget(self, buckets: Collection[int]) -> None:
        """They have another owner from now on; nothing of them is leased."""
        gone = [entry for entry in self.entries.values() if bucket_of(entry.host) in buckets]
        hosts = {entry.host for entry in gone}
        hosts |= {host for host, _ in self.hosts.schedule.paces() if bucket_of(host) in buckets}
        for entry in gone:
            self._uncount(entry)
            del self.entries[entry.candidate.url]
        for host in hosts:
            self.hosts.forget(host)
            self._queues.forget(host)
            self.counts.open_of.pop(host, None)
            self.counts.leased_of.pop(host, None)
        for bucket in buckets:
            self.hosts.schedule.opened_of.pop(bucket, None)
            self.hosts.withheld.discard(bucket)

    def _uncount(self, entry: Entry) -> None:
        counts, candidate = self.counts, entry.candidate
        if candidate.hop in LISTED and candidate.kind is PAGE and entry.state is not REFUSED:
            counts.listed -= 1
        if entry.state is SETTLED or entry.state is REFUSED:
            assert entry.verdict is not None
            counts.outcomes[entry.verdict.outcome] -= 1
            counts.captured -= entry.state is SETTLED and counts_as_page(entry, entry.verdict)
        else:
            counts.open[candidate.kind] -= 1

    def forget_url(self, url: str) -> None:
        """In memory, not in the counts: there is nothing more to do with it."""
        entry = self.entries.get(url)
        if entry is not None and (entry.state is SETTLED or entry.state is REFUSED):
            del self.entries[url]

    def vector(self) -> dict[str, int]:
        """What is counted of a job, in one form for all workers."""
        counts = self.counts
        found = {"known": len(self.entries), "listed": counts.listed, "captured": counts.captured}
        found.update({f"open {kind}": number for kind, number in counts.open.items()})
        found.update({f"outcome {outcome}": number for outcome, number in counts.outcomes.items()})
        return found

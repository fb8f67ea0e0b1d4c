"""The buckets that a worker owns, the frontier over them, and what it has changed since it joined."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from sumi.policy import FrontierPolicy
from sumi.state.cluster.batch import unclean
from sumi.state.cluster.keys import BUCKETS, bucket_of
from sumi.state.cluster.owned import OwnedMachine
from sumi.state.cluster.rows import Opened
from sumi.state.entries import StoredHost


class Holdings:
    def __init__(self, policy: FrontierPolicy, opened_at: float, most_done: int | None = None) -> None:
        """``most_done``: URLs with nothing more to do that are kept in memory; None: all."""
        self.policy = policy
        self.is_partial = False  # some are not in memory
        self.ownership = 0  # another number whenever buckets come or go
        self._most_done = most_done
        self._done: dict[str, None] = {}  # the longest unused first; each is written
        self.machine = OwnedMachine(policy, opened_at)
        self.owned: set[int] = set()
        self.leaving: set[int] = set()  # to be let go once nothing of them is in flight
        self._base: dict[str, int] = {}  # what was there when it became ours
        self._was_busy: set[int] = set()  # as the database knows it

    @property
    def is_whole(self) -> bool:
        """Whether all hosts are ours, so that nobody else finds or does anything."""
        return len(self.owned) == BUCKETS and not self.leaving

    def owns(self, bucket: int) -> bool:
        """Ours to ask."""
        return bucket in self.owned

    def takes(self, bucket: int) -> bool:
        """Ours to add to."""
        return bucket in self.owned and bucket not in self.leaving

    def reset(self, now: float) -> None:
        """Nothing is ours any more. Tokens go on: a lease of before must not be taken for one of later."""
        old = self.machine
        self.machine = OwnedMachine(self.policy, now)
        self.machine.leases.continue_from(old.leases)
        self.machine.number_from(0.0)
        self.owned, self.leaving = set(), set()
        self._base, self._was_busy = {}, set()
        self.is_partial, self._done = False, {}
        self.ownership += 1

    def begin(self, asked_from: Mapping[int, float]) -> None:
        """Before anything of these buckets is restored. Their hosts count as asked at the given moments, and
        are not asked before everything is there."""
        self.machine.hosts.withheld.update(asked_from)
        # What was remembered of a host after it had left would let us ask it at once.
        for host, _ in list(self.machine.hosts.schedule.paces()):
            if bucket_of(host) in asked_from:
                self.machine.hosts.forget(host)
        self.machine.hosts.schedule.opened_of.update(asked_from)

    def restore(self, rows: Sequence[Opened], offset: float) -> None:
        """At one go: what is restored is nothing that this worker changed."""
        machine, before = self.machine, self.machine.vector()
        latest = machine.next_sequence()
        for row in rows:
            if not self._has_room_for(row):
                self.is_partial = True
            else:
                machine.revive(row, offset)
            if row.sequence > latest:
                latest = row.sequence
        machine.adopt(latest + 1)
        self._count_from(before)

    def _has_room_for(self, row: Opened) -> bool:
        if self._most_done is None or not row.is_done:
            return True
        if len(self._done) >= self._most_done:
            return False
        self._done[unclean(row.url)] = None
        return True

    def revive(self, rows: Sequence[Opened], offset: float) -> None:
        """What was forgotten, as it was; it may be forgotten again with the next batch."""
        before = self.machine.vector()
        for row in rows:
            if unclean(row.url) not in self.machine.entries:
                self.machine.revive(row, offset)
                if row.is_done:
                    self._done[unclean(row.url)] = None
        self._count_from(before)

    def written(self, urls: Sequence[str]) -> None:
        """There is nothing more to do with these, and the database knows. Forget what there is no room
        for."""
        if self._most_done is None:
            return
        self._done.update(dict.fromkeys(urls))
        spare = len(self._done) - self._most_done
        if spare > 0:
            before = self.machine.vector()
            for url in list(islice(self._done, spare)):
                del self._done[url]
                self.machine.forget_url(url)
            self.is_partial = True
            self._count_from(before)

    def keep(self, url: str) -> None:
        """What is in memory about it is not written yet."""
        self._done.pop(url, None)

    def restore_hosts(self, hosts: Collection[StoredHost]) -> None:
        for host in hosts:
            self.machine.hosts.restore(host)

    def _count_from(self, before: dict[str, int]) -> None:
        """What changed since ``before`` (``machine.vector()``) counts as having been so when it became
        ours."""
        for name, number in self.machine.vector().items():
            self._base[name] = self._base.get(name, 0) + number - before.get(name, 0)

    def delta(self) -> dict[str, int]:
        """What this worker has changed, in numbers."""
        found = self.machine.vector()
        for name, number in self._base.items():
            found[name] = found.get(name, 0) - number
        return {name: number for name, number in found.items() if number}

    def will_settle(self, until: float) -> bool:
        """Whether more pages are under way, or will be."""
        ready_at = self.machine.next_ready()
        return bool(self.machine.leases.held) or (ready_at is not None and ready_at < until)

    def turned(self) -> dict[int, int]:
        """Buckets that became busy or idle since the last call, with the number of their open URLs."""
        busy = {bucket_of(host) for host, number in self.machine.counts.open_of.items() if number}
        changed = (busy ^ self._was_busy) & self.owned
        self._was_busy = busy
        return self.machine.open_of(changed) if changed else {}

    def waiting(self, buckets: Collection[int], now: float) -> set[int]:
        """Those whose owner of before may still ask their hosts."""
        opened = self.machine.hosts.schedule.opened_of
        return {bucket for bucket in buckets if opened.get(bucket, now) > now}

    def own(self, buckets: Collection[int]) -> None:
        """Everything of them is there."""
        self.owned.update(buckets)
        self.ownership += 1
        self.machine.allow(buckets)

    def leave(self, buckets: Collection[int]) -> None:
        """Nothing more of them is leased; links to them go by mail."""
        self.leaving.update(buckets)
        self.machine.withhold(buckets)

    def drop(self, buckets: Collection[int]) -> dict[int, int]:
        """Forget them; returns the number of their open URLs."""
        opens = self.machine.open_of(buckets)
        before = self.machine.vector()
        self.machine.forget(buckets)
        self._count_from(before)
        self._done = {url: None for url in self._done if url in self.machine.entries}
        self.ownership += 1
        self.owned.difference_update(buckets)
        self.leaving.difference_update(buckets)
        self._was_busy.difference_update(buckets)
        return opens

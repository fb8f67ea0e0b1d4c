"""Which host may be asked next: a heap of hosts with work, keyed by the time each is allowed.

Choosing costs O(log hosts) and never scans. Heap entries are not updated in place: a host carries the
number of its one valid entry, and entries with another number are dropped when they surface.
"""

import heapq
from collections.abc import Iterator

from sumi.frontier.pacing import INFINITY, HostPace
from sumi.policy import PacingPolicy


class HostSchedule:
    def __init__(self, policy: PacingPolicy, opened_at: float) -> None:
        self.policy = policy
        self.opened_at = opened_at
        self._paces: dict[str, HostPace] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._valid: dict[str, int] = {}
        self._counter = 0

    def pace(self, host: str) -> HostPace:
        pace = self._paces.get(host)
        if pace is None:
            pace = self._paces[host] = HostPace(self.opened_at, self.policy)
        return pace

    def paces(self) -> Iterator[tuple[str, HostPace]]:
        return iter(self._paces.items())

    def retune(self, policy: PacingPolicy) -> None:
        """New limits; hosts in the heap are placed anew."""
        self.policy = policy
        for host in list(self._valid):
            self.offer(host)

    def offer(self, host: str) -> None:
        """The host has work. It takes its place in the heap, or leaves it while it may not be asked."""
        ready_at = self.pace(host).ready_at(self.policy)
        if ready_at == INFINITY:
            self._valid.pop(host, None)
            return
        self._counter += 1
        self._valid[host] = self._counter
        heapq.heappush(self._heap, (ready_at, self._counter, host))

    def withdraw(self, host: str) -> None:
        """The host has no work left."""
        self._valid.pop(host, None)

    def take(self, now: float) -> str | None:
        """A host that may be asked at ``now``; it leaves the heap until offered again."""
        ready_at = self.next_at()
        if ready_at is None or ready_at > now:
            return None
        _, _, host = heapq.heappop(self._heap)
        del self._valid[host]
        return host

    def next_at(self) -> float | None:
        """When the first host becomes free by the passing of time alone."""
        heap, valid = self._heap, self._valid
        while heap:
            ready_at, number, host = heap[0]
            if valid.get(host) == number:
                return ready_at
            heapq.heappop(heap)
        return None

"""Which host is next: a heap of hosts with work, keyed by the time at which each is allowed.

Choosing costs O(log hosts) and never scans. Heap entries are not updated in place: each host has one valid
entry, and any other is dropped when it reaches the top.
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
        self._valid: dict[str, tuple[float, int, str]] = {}
        self._counter = 0

    def pace(self, host: str) -> HostPace:
        pace = self._paces.get(host)
        if pace is None:
            pace = self._paces[host] = HostPace(self.opened_for(host), self.policy)
        return pace

    def opened_for(self, host: str) -> float:
        """From when on we may ask this host."""
        return self.opened_at

    def forget(self, host: str) -> None:
        """It is no longer ours to ask."""
        self._paces.pop(host, None)
        self._valid.pop(host, None)

    def paces(self) -> Iterator[tuple[str, HostPace]]:
        return iter(self._paces.items())

    def inherit(self, other: "HostSchedule") -> None:
        """Take over what that one learnt about the hosts; offer those with work again afterwards."""
        self._paces = other._paces

    def offer(self, host: str, ready_at: float) -> None:
        """The host has work, and is due then; ``inf`` takes it out of the heap."""
        if ready_at == INFINITY:
            self._valid.pop(host, None)
            return
        placed = self._valid.get(host)
        if placed is not None and placed[0] == ready_at:
            return  # offered at both ends of a lease, often with the same time
        self._counter += 1
        entry = self._valid[host] = (ready_at, self._counter, host)
        heapq.heappush(self._heap, entry)

    def take(self, limit: int, now: float) -> list[str]:
        """Up to ``limit`` hosts that are due, the one that is overdue for longest first; they leave the heap
        until offered again."""
        heap, valid = self._heap, self._valid
        hosts: list[str] = []
        while heap and len(hosts) < limit and heap[0][0] <= now:
            entry = heapq.heappop(heap)
            host = entry[2]
            if valid.get(host) is entry:
                del valid[host]
                hosts.append(host)
        return hosts

    def next_at(self) -> float | None:
        """When the first host becomes due by the passing of time alone."""
        heap, valid = self._heap, self._valid
        while heap:
            entry = heap[0]
            if valid.get(entry[2]) is entry:
                return entry[0]
            heapq.heappop(heap)
        return None

"""Which host may be asked next: a heap of hosts with work, keyed by the time each is allowed.

Choosing costs O(log hosts) and never scans. Heap entries are not updated in place: a host knows its one
valid entry, and any other is dropped when it surfaces.
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
            pace = self._paces[host] = HostPace(self.opened_at, self.policy)
        return pace

    def paces(self) -> Iterator[tuple[str, HostPace]]:
        return iter(self._paces.items())

    def go_on_from(self, other: "HostSchedule") -> None:
        """With what that one learnt of the hosts; those with work are to be offered anew."""
        self._paces = other._paces

    def offer(self, host: str, ready_at: float) -> None:
        """The host has work from then on. It takes its place in the heap, or leaves it: never is no time."""
        if ready_at == INFINITY:
            self._valid.pop(host, None)
            return
        placed = self._valid.get(host)
        if placed is not None and placed[0] == ready_at:
            return  # it is offered when a lease begins and when it ends, often to the same effect
        self._counter += 1
        entry = self._valid[host] = (ready_at, self._counter, host)
        heapq.heappush(self._heap, entry)

    def take(self, limit: int, now: float) -> list[str]:
        """Up to ``limit`` hosts that may be asked at ``now``, the one that has been free for longest first;
        they leave the heap until offered again."""
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
        """When the first host becomes free by the passing of time alone."""
        heap, valid = self._heap, self._valid
        while heap:
            entry = heap[0]
            if valid.get(entry[2]) is entry:
                return entry[0]
            heapq.heappop(heap)
        return None

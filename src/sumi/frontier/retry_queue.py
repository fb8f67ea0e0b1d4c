"""URLs that wait for another try, apart from their host's queue."""

import heapq
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from sumi.frontier.pacing import INFINITY


class DelayedUrls:
    """In the order in which their waits end."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []

    def put(self, url: str, not_before: float) -> None:
        heapq.heappush(self._heap, (not_before, url))

    def take_due(self, now: float) -> list[str]:
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[1])
        return due

    def next_at(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def urls(self) -> Iterator[str]:
        return (url for _, url in self._heap)

    def __len__(self) -> int:
        return len(self._heap)


Lane: TypeAlias = list[tuple[float, int, str]]  # a heap: when it is due, discovery order, URL


class Retries:
    """By host, pages apart from the rest. They go behind everything of the host that was never requested,
    each
    lane in the order in which the waits end."""

    def __init__(self) -> None:
        self._lanes: dict[str, tuple[Lane, Lane]] = {}  # by host: pages are the second

    def __contains__(self, host: str) -> bool:
        return host in self._lanes

    def hosts(self) -> Iterable[str]:
        return self._lanes

    def put(self, host: str, is_page: bool, due: float, sequence: int, url: str) -> None:
        lanes = self._lanes.setdefault(host, ([], []))
        heapq.heappush(lanes[is_page], (due, sequence, url))

    def first_due(self, host: str, is_page: bool) -> float:
        """When the first of them may go; ``inf`` if there is none."""
        lanes = self._lanes.get(host)
        return lanes[is_page][0][0] if lanes and lanes[is_page] else INFINITY

    def take(self, host: str, is_page: bool, now: float) -> str | None:
        """The first, if its time has come."""
        if self.first_due(host, is_page) > now:
            return None
        lanes = self._lanes[host]
        url = heapq.heappop(lanes[is_page])[2]
        if not lanes[not is_page] and not lanes[is_page]:
            del self._lanes[host]
        return url

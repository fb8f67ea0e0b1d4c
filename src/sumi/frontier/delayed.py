"""URLs that wait for a time of their own (a retry), apart from their host's queue."""

import heapq
from collections.abc import Iterator


class DelayedUrls:
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

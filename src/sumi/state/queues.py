"""What waits, in memory: a heap for each host, and one of URLs that wait for a time of their own."""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from sumi.frontier.retry import DelayedUrls
from sumi.model import Kind
from sumi.state.entries import DELAYED, WAITING, Entry

PAGE = Kind.PAGE
QueueItem = tuple[tuple[bool, int, float, int], str]


class HeapQueues:
    """Implements ``Queues``. A URL that moves joins again: its former place is known by its rank."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._queues: dict[str, list[QueueItem]] = {}  # none is empty
        self.hosts: Collection[str] = self._queues

    def has_any(self, host: str) -> bool:
        return self._pruned(host) is not None

    def join(self, entry: Entry) -> bool:
        queue = self._queues.setdefault(entry.host, [])
        heapq.heappush(queue, (entry.rank, entry.candidate.url))
        return len(queue) == 1

    def reconsider(self, entry: Entry) -> None:
        """Nothing to do: see above."""

    def take(self, hosts: Sequence[str], pages_wait: Callable[[str], bool]) -> list[Entry]:
        entries = (self._first_of(host, pages_wait) for host in hosts)
        return [entry for entry in entries if entry is not None]

    def _first_of(self, host: str, pages_wait: Callable[[str], bool]) -> Entry | None:
        queue = self._pruned(host)
        if queue is None:
            return None
        entry = self._entries[queue[0][1]]
        if entry.candidate.kind is PAGE and pages_wait(host):
            return None
        heapq.heappop(queue)
        if not queue:
            del self._queues[host]
        return entry

    def _pruned(self, host: str) -> list[QueueItem] | None:
        """Its queue without former places of what has moved since; None if that is all there was."""
        queue = self._queues.get(host)
        while queue:
            rank, url = queue[0]
            entry = self._entries[url]
            if entry.state is WAITING and entry.rank == rank:
                return queue
            heapq.heappop(queue)
        self._queues.pop(host, None)
        return None


class HeapDelays(DelayedUrls):
    """Implements ``Delays``."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__()
        self._entries = entries

    def first_due(self) -> Iterable[tuple[str, float]]:
        entries = map(self._entries.__getitem__, self.urls())
        return [(entry.host, entry.deadline) for entry in entries if entry.state is DELAYED]

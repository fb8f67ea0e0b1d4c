"""URLs that are asked behind everything of their host that never was: what failed before.

By host, pages apart from the rest, each in the order in which their own waits end.
"""

import heapq
from collections.abc import Iterable
from typing import TypeAlias

from sumi.frontier.pacing import INFINITY

Lane: TypeAlias = list[tuple[float, int, str]]  # a heap: when it is due, discovery order, URL


class Retries:
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

"""How far pages are from each origin: the least number of links, kept right whatever the order of fetching.

Depths only ever drop. When a page comes closer, so may all that it points to: this is told from page to page,
nearest first, so that each page is told once. How much is done at a time is bounded; the rest is kept in the
database and goes on with the next write, or before the run ends.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from sumi.store.terrain.changes import DepthRow

FAR: Final = 2**31
# About 40 MB with ten origins. When full it is emptied: pages that everybody points to are soon back.
CACHED_PAGES: Final = 100_000
# Pages told per write: a tenth of a second or so, in which nobody else gets a turn.
MOST_AT_ONCE: Final = 5_000

Vector = list[int]  # by number of the origin


class StoredDepths(Protocol):
    def depths_of(self, page: int) -> Iterable[tuple[str, int]]: ...

    def targets_of(self, page: int) -> list[int]: ...


class Depths:
    def __init__(self, origins: Sequence[str], stored: StoredDepths) -> None:
        self._origins = origins
        self._number = {origin: number for number, origin in enumerate(origins)}
        self._stored = stored
        self._vectors: dict[int, Vector] = {}
        self._changed: set[tuple[int, int]] = set()
        self._closer: dict[int, None] = {}
        self._barren: set[int] = set()  # pages known to point nowhere, as all that were not read yet
        self._to_tell: list[tuple[int, int, int]] = []  # a heap of depth, page, origin

    @property
    def unfinished(self) -> bool:
        return bool(self._to_tell)

    def enter(self, page: int, origin: str | None) -> None:
        """A new page; all pages of an origin are at depth 0."""
        self._vectors[page] = [FAR] * len(self._origins)
        self._barren.add(page)
        if origin is not None:
            self._drop(page, self._number[origin], 0)

    def least(self, page: int) -> int:
        """From the nearest origin."""
        return min(self._of(page))

    def resume(self, work: Iterable[DepthRow]) -> None:
        """Take up what an earlier write left."""
        for page, origin, depth in work:
            number = self._number.get(origin)
            if number is not None:
                heapq.heappush(self._to_tell, (depth, page, number))

    def spread(self, edges: Mapping[int, Sequence[int]]) -> None:
        """Pages with the links that were just read from them, and all that follows."""
        self._barren.difference_update(edges)
        for page, targets in edges.items():
            for number, depth in enumerate(self._of(page)):
                if depth < FAR:
                    self._tell(targets, number, depth + 1)
        read: dict[int, Sequence[int]] = {}
        while self._to_tell and len(read) < MOST_AT_ONCE:
            depth, page, number = heapq.heappop(self._to_tell)
            if self._of(page)[number] == depth:
                if page not in read:
                    read[page] = self._targets(page, edges)
                self._tell(read[page], number, depth + 1)

    def take_changes(self) -> tuple[list[DepthRow], list[int], list[DepthRow]]:
        """New depth records, the pages whose least depth dropped, and the work that is left."""
        rows = [
            DepthRow(page, self._origins[number], self._vectors[page][number])
            for page, number in self._changed
        ]
        work = [DepthRow(page, self._origins[number], depth) for depth, page, number in self._to_tell]
        closer = list(self._closer)
        self._changed.clear()
        self._closer.clear()
        self._to_tell.clear()
        return sorted(rows), closer, work

    def forget(self) -> None:
        """Between writes, when everything that changed is written."""
        if len(self._vectors) > CACHED_PAGES:
            self._vectors.clear()
            self._barren.clear()

    def _targets(self, page: int, edges: Mapping[int, Sequence[int]]) -> Sequence[int]:
        targets = [*self._stored.targets_of(page), *edges.get(page, ())]
        if not targets:
            self._barren.add(page)
        return targets

    def _tell(self, targets: Iterable[int], number: int, depth: int) -> None:
        for target in targets:
            vector = self._vectors.get(target) or self._of(target)
            if vector[number] > depth:
                self._drop(target, number, depth)
                if target not in self._barren:
                    heapq.heappush(self._to_tell, (depth, target, number))

    def _drop(self, page: int, number: int, depth: int) -> None:
        vector = self._vectors[page]
        if depth < min(vector):
            self._closer[page] = None
        vector[number] = depth
        self._changed.add((page, number))

    def _of(self, page: int) -> Vector:
        vector = self._vectors.get(page)
        if vector is None:
            vector = self._vectors[page] = [FAR] * len(self._origins)
            for origin, depth in self._stored.depths_of(page):
                number = self._number.get(origin)
                if number is not None:
                    vector[number] = depth
        return vector

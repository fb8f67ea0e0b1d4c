"""How far pages are from each origin: the least number of links, kept right whatever the order of fetching.

Depths only ever drop. When a page comes closer, so may all that it points to: this is told from page to page,
nearest first, so that few are told twice. How much is done at a time is bounded; the rest is kept in the
database and goes on with the next write, or before the run ends.
"""

import heapq
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from sumi.jobs.map.store.changes import NewDepths, Work
from sumi.jobs.map.store.page_vectors import PageVectors
from sumi.jobs.map.store.vectors import Vector, Vectors

# Pages whose stored links are read by one query.
READ_AT_ONCE = 200


class DepthBounds(msgspec.Struct, frozen=True):
    # Links told per write: less than a tenth of a second, in which nobody else gets a turn.
    links_at_once: int = 100_000
    # For the different combinations of distances that pages have: with five origins 270,000 of them.
    vector_bytes: int = 50_000_000


USUAL_BOUNDS = DepthBounds()


class StoredDepths(Protocol):
    def depths_of(self, pages: Collection[int]) -> Iterable[tuple[int, int, int]]:
        """Page, number of the origin, and distance."""
        ...

    def targets_of(self, pages: Collection[int]) -> dict[int, list[int]]: ...


class Depths:
    def __init__(self, origins: Sequence[str], stored: StoredDepths, bounds: DepthBounds) -> None:
        # In order, so that each has the same number for every run of one configuration.
        self._origins = sorted(origins)
        self._number = {origin: number for number, origin in enumerate(self._origins)}
        self._stored = stored
        self._bounds = bounds
        self._all = Vectors(len(origins))
        self._vectors = PageVectors(len(origins), bounds.vector_bytes)
        self._before: dict[int, Vector] = {}  # pages that changed since the last write, as they were
        self._to_tell: list[Work] = []  # a heap
        self._waiting: set[int] = set()  # the pages in it
        self._unread = UnreadPages()

    def enter(self, page: int, origin: str | None) -> None:
        """A new page; all pages of an origin are at depth 0."""
        self._vectors[page] = self._all.nowhere
        self._unread.enter(page)
        if origin is not None:
            self._move(page, self._all.of({self._number[origin]: 0}))

    def least(self, page: int) -> int:
        """From the nearest origin."""
        return min(self._all.depths(self._vectors[page]))

    def resume(self, work: Iterable[Work]) -> None:
        """Take up what an earlier write left."""
        pages = [page for _, page in work]
        self._load(pages)
        for page in pages:
            self._before.setdefault(page, self._vectors[page])  # so that its stored links are told too
            self._await_turn(page)

    def spread(self, edges: Mapping[int, Sequence[int]]) -> None:
        """Pages with the links that were just read from them, and all that follows."""
        self._load(edges)
        for page in edges:
            self._unread.read(page)
            self._await_turn(page)
        told = 0
        while self._to_tell and told < self._bounds.links_at_once:
            told += self._tell_nearest(edges)

    def take_changes(self) -> tuple[list[NewDepths], list[int], list[Work]]:
        """New depth records, the pages whose least depth dropped, and the work that is left."""
        alike: dict[tuple[Vector, Vector], list[int]] = {}  # many pages changed from the same to the same
        for page, before in self._before.items():
            now = self._vectors[page]
            if now != before:
                alike.setdefault((before, now), []).append(page)
        closer: list[int] = []
        rows: list[list[int]] = [[] for _ in self._origins]
        for (before, now), pages in alike.items():
            was, is_now = self._all.depths(before), self._all.depths(now)
            if min(is_now) < min(was):
                closer += pages
            for at, depth in enumerate(is_now):
                if depth < was[at]:
                    rows[at] += [page << 32 | depth for page in pages]
        work = self._to_tell
        self._before, self._to_tell, self._waiting = {}, [], set()
        return self._new_depths(rows), sorted(closer), work

    def _new_depths(self, rows: Sequence[list[int]]) -> list[NewDepths]:
        """In the order of pages, which is that of the table."""
        return [
            NewDepths(at, origin, array("q", sorted(rows[at])))
            for at, origin in enumerate(self._origins)
            if rows[at]
        ]

    def forget(self) -> None:
        """Between writes, when everything that changed is written."""
        self._all.forget()
        self._vectors.forget_if_full()

    def _tell_nearest(self, edges: Mapping[int, Sequence[int]]) -> int:
        """Some pages that are equally near; how many links they had."""
        nearest = self._to_tell[0].depth
        pages: list[int] = []
        while self._to_tell and self._to_tell[0].depth == nearest and len(pages) < READ_AT_ONCE:
            pages.append(heapq.heappop(self._to_tell).page)
        self._waiting.difference_update(pages)
        # What is stored was told when it was found: again only if the page has come closer since.
        stored = self._stored.targets_of([page for page in pages if page in self._before])
        targets = {page: [*stored.get(page, ()), *edges.get(page, ())] for page in pages}
        self._load(target for some in targets.values() for target in some)
        for page, some in targets.items():
            self._tell(some, self._all.further(self._vectors[page]))
        return sum(map(len, targets.values())) + len(pages)

    def _tell(self, targets: Iterable[int], told: Vector) -> None:
        table, places, guards = self._vectors.table, self._vectors.places, self._all.guards
        guarded = told | guards
        for target in targets:
            before = table[places[target]]
            if (guarded - before) & guards != guards:
                self._move(target, self._all.nearer(before, told))

    def _move(self, page: int, now: Vector) -> None:
        self._before.setdefault(page, self._vectors[page])
        self._vectors[page] = now
        if page not in self._unread:
            self._await_turn(page)

    def _await_turn(self, page: int) -> None:
        if page not in self._waiting:
            self._waiting.add(page)
            heapq.heappush(self._to_tell, Work(self.least(page), page))

    def _load(self, pages: Iterable[int]) -> None:
        missing = self._vectors.missing(pages)
        if not missing:
            return
        found: dict[int, dict[int, int]] = {}
        for page, number, depth in self._stored.depths_of(missing):
            found.setdefault(page, {})[number] = depth
        for page in missing:
            self._vectors[page] = self._all.of(found[page]) if page in found else self._all.nowhere


class UnreadPages:
    """Pages that this process entered and nobody has read yet: they surely point nowhere. One bit each."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._read = bytearray()

    def enter(self, page: int) -> None:
        if self._first is None:
            self._first = page

    def read(self, page: int) -> None:
        place = page if self._first is None else page - self._first
        if self._first is None or place < 0:
            return
        if place >> 3 >= len(self._read):
            self._read.extend(bytes((place >> 3) + 1024 - len(self._read)))
        self._read[place >> 3] |= 1 << (place & 7)

    def __contains__(self, page: int) -> bool:
        if self._first is None or page < self._first:
            return False
        place = page - self._first
        return place >> 3 >= len(self._read) or not self._read[place >> 3] >> (place & 7) & 1

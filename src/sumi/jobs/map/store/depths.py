"""The depth of every page from each origin: the least number of links, whatever the order of fetching.

Depths only drop. When the depth of a page drops, so may those of the pages it links to; this propagates from
page to page, nearest first, so that few are updated twice. The work per write is bounded; the rest is stored
and continues with the next write, or before the run ends.
"""

import heapq
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from sumi.jobs.map.store.rows import MapRows, NewDepths, Work

Vector: TypeAlias = int

FAR: Final = 2**30  # no path is known
_LANE: Final = 32  # bits: FAR + 1 and the guard bit fit
_GUARD: Final = 2**31
# About 10 MB. Cleared when full: there are few different vectors, and those in use are soon back.
REMEMBERED: Final = 50_000
# The size of one vector in both tables: a fixed part, and its lanes (an int uses 4 bytes for 30 bits).
_BYTES_EACH: Final = 160
_BYTES_PER_ORIGIN: Final = 5
_GROWTH: Final = 16_384
# Pages whose stored links are read by one query.
READ_AT_ONCE = 200


class DepthBounds(msgspec.Struct, frozen=True):
    # Links updated per write: less than a tenth of a second, during which the event loop is blocked.
    links_at_once: int = 100_000
    # For the distinct vectors of depths: 270,000 of them with five origins.
    vector_bytes: int = 50_000_000


USUAL_BOUNDS = DepthBounds()


class Depths:
    def __init__(self, origins: Sequence[str], stored: MapRows, bounds: DepthBounds) -> None:
        # Sorted, so that an origin has the same number in every run of a configuration.
        self._origins = sorted(origins)
        self._number = {origin: number for number, origin in enumerate(self._origins)}
        self._stored = stored
        self._bounds = bounds
        self._all = Vectors(len(origins))
        self._vectors = PageVectors(len(origins), bounds.vector_bytes)
        self._before: dict[int, Vector] = {}  # pages changed since the last write, with their old vectors
        self._queue: list[Work] = []  # a heap of pages whose links have yet to be updated
        self._queued: set[int] = set()  # the pages in it
        self._unread = UnreadPages()

    def enter(self, page: int, origin: str | None) -> None:
        """Add a new page; all pages of an origin are at depth 0."""
        self._vectors[page] = self._all.nowhere
        self._unread.enter(page)
        if origin is not None:
            self._move(page, self._all.of({self._number[origin]: 0}))

    def least(self, page: int) -> int:
        """The depth from the nearest origin."""
        return min(self._all.depths(self._vectors[page]))

    def resume(self, work: Iterable[Work]) -> None:
        """Continue the work that an earlier write left."""
        pages = [page for _, page in work]
        self._load(pages)
        for page in pages:
            self._before.setdefault(page, self._vectors[page])  # so that its stored links are updated too
            self._enqueue(page)

    def propagate(self, edges: Mapping[int, Sequence[int]]) -> None:
        """``edges``: pages with the links that were just found on them."""
        self._load(edges)
        for page in edges:
            self._unread.read(page)
            self._enqueue(page)
        links = 0
        while self._queue and links < self._bounds.links_at_once:
            links += self._propagate_nearest(edges)

    def take_changes(self) -> tuple[list[NewDepths], list[int], list[Work]]:
        """New depths, the pages whose least depth dropped, and the work that is left."""
        alike: dict[tuple[Vector, Vector], list[int]] = {}  # many pages change in the same way
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
        work = self._queue
        self._before, self._queue, self._queued = {}, [], set()
        return self._new_depths(rows), sorted(closer), work

    def _new_depths(self, rows: Sequence[list[int]]) -> list[NewDepths]:
        """Sorted by page, as the table is."""
        return [
            NewDepths(at, origin, array("q", sorted(rows[at])))
            for at, origin in enumerate(self._origins)
            if rows[at]
        ]

    def forget(self) -> None:
        """Trim the caches. Call it between writes, when all changes are written."""
        self._all.forget()
        self._vectors.forget_if_full()

    def _propagate_nearest(self, edges: Mapping[int, Sequence[int]]) -> int:
        """Update the links of some of the nearest pages; returns how many links they have."""
        nearest = self._queue[0].depth
        pages: list[int] = []
        while self._queue and self._queue[0].depth == nearest and len(pages) < READ_AT_ONCE:
            pages.append(heapq.heappop(self._queue).page)
        self._queued.difference_update(pages)
        # Stored links were updated when they were found; again only if the depth of the page has dropped.
        stored = self._stored.targets_of([page for page in pages if page in self._before])
        targets = {page: [*stored.get(page, ()), *edges.get(page, ())] for page in pages}
        self._load(target for some in targets.values() for target in some)
        for page, some in targets.items():
            self._lower(some, self._all.further(self._vectors[page]))
        return sum(map(len, targets.values())) + len(pages)

    def _lower(self, targets: Iterable[int], limit: Vector) -> None:
        """No target is farther than ``limit``."""
        table, places, guards = self._vectors.table, self._vectors.places, self._all.guards
        guarded = limit | guards
        for target in targets:
            before = table[places[target]]
            if (guarded - before) & guards != guards:
                self._move(target, self._all.nearer(before, limit))

    def _move(self, page: int, now: Vector) -> None:
        self._before.setdefault(page, self._vectors[page])
        self._vectors[page] = now
        if page not in self._unread:
            self._enqueue(page)

    def _enqueue(self, page: int) -> None:
        if page not in self._queued:
            self._queued.add(page)
            heapq.heappush(self._queue, Work(self.least(page), page))

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
    """Pages that this process added and has not read yet, so they have no links. One bit each."""

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


class Vectors:
    """The depths of a page from all origins, packed into one integer.

    Each origin has a lane of bits with a guard bit on top, which is set only to compare: one subtraction then
    compares all lanes of two vectors. A link that changes nothing, as most do, costs no more than that,
    however many pages and origins there are.
    """

    def __init__(self, origins: int) -> None:
        self._bytes = origins * _LANE // 8
        self._unpack = struct.Struct(f"<{origins}I").unpack
        self._one_on = _in_each_lane(1, origins)
        self.guards: Final = _in_each_lane(_GUARD, origins)
        self.nowhere: Final = _in_each_lane(FAR, origins)
        self._unpacked: dict[Vector, tuple[int, ...]] = {}

    def of(self, depths: Mapping[int, int]) -> Vector:
        """``depths`` by number of the origin."""
        vector = self.nowhere
        for number, depth in depths.items():
            vector += (depth - FAR) << number * _LANE
        return vector

    def depths(self, vector: Vector) -> tuple[int, ...]:
        """By number of the origin."""
        known = self._unpacked.get(vector)
        if known is None:
            known = self._unpack(vector.to_bytes(self._bytes, "little"))
            self._unpacked[vector] = known
        return known

    def further(self, vector: Vector) -> Vector:
        """One link farther. Only for comparisons: FAR + 1 is not a depth."""
        return vector + self._one_on

    def nearer(self, one: Vector, other: Vector) -> Vector:
        """The minimum of both in each lane. It is ``one`` if all guard bits of ``(other | guards) - one`` are
        set: then no lane of ``other`` is less."""
        not_nearer = ((one | self.guards) - other) & self.guards
        lanes = not_nearer - (not_nearer >> (_LANE - 1))  # all bits of the lanes to take from ``other``
        return one ^ ((one ^ other) & lanes)

    def forget(self) -> None:
        if len(self._unpacked) > REMEMBERED:
            self._unpacked.clear()


class PageVectors:
    """The vector of every page, in four bytes each: most pages share theirs with thousands of others.

    A dictionary had room for half a million pages. At a million, a seventh of the time went into reading
    vectors back from the database.
    """

    def __init__(self, origins: int, most_bytes: int) -> None:
        """``most_bytes``: for the distinct vectors. When full, everything is dropped."""
        self._most = most_bytes // (_BYTES_EACH + _BYTES_PER_ORIGIN * origins)
        # Public for inner loops: the vector of a page is ``table[places[page]]``.
        self.places = array("I")  # 0: not known
        self.table: list[Vector] = [0]
        self._place_of: dict[Vector, int] = {}

    def __getitem__(self, page: int) -> Vector:
        """The page must be known."""
        return self.table[self.places[page]]

    def __setitem__(self, page: int, vector: Vector) -> None:
        place = self._place_of.setdefault(vector, len(self.table))
        if place == len(self.table):
            self.table.append(vector)
        if page >= len(self.places):
            self.places.frombytes(bytes(self.places.itemsize * (page + _GROWTH - len(self.places))))
        self.places[page] = place

    def missing(self, pages: Iterable[int]) -> set[int]:
        places, end = self.places, len(self.places)
        return {page for page in pages if page >= end or not places[page]}

    def forget_if_full(self) -> None:
        if len(self._place_of) > self._most:
            self.places = array("I")
            self.table = [0]
            self._place_of.clear()


def _in_each_lane(value: int, lanes: int) -> int:
    return sum(value << number * _LANE for number in range(lanes))

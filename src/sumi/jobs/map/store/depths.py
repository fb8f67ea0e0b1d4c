"""How far pages are from each origin: the least number of links, kept right whatever the order of fetching.

Depths only ever drop. When a page comes closer, so may all that it points to: this is told from page to page,
nearest first, so that few are told twice. How much is done at a time is bounded; the rest is kept in the
database and goes on with the next write, or before the run ends.
"""

import heapq
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from sumi.jobs.map.store.rows import MapRows, NewDepths, Work

Vector: TypeAlias = int

FAR: Final = 2**30  # no way is known
_LANE: Final = 32  # holds FAR, one link on from there, and the bit to compare with
_GUARD: Final = 2**31
# About 10 MB. When full it is emptied: there are few different vectors, and what is needed is soon back.
REMEMBERED: Final = 50_000
# Of one vector in both tables, beside its lanes of 32 bits, of which an integer uses 30 in 4 bytes.
_BYTES_EACH: Final = 160
_BYTES_PER_ORIGIN: Final = 5
_PAGES_AT_ONCE: Final = 16_384
# Pages whose stored links are read by one query.
READ_AT_ONCE = 200


class DepthBounds(msgspec.Struct, frozen=True):
    # Links told per write: less than a tenth of a second, in which nobody else gets a turn.
    links_at_once: int = 100_000
    # For the different combinations of distances that pages have: with five origins 270,000 of them.
    vector_bytes: int = 50_000_000


USUAL_BOUNDS = DepthBounds()


class Depths:
    def __init__(self, origins: Sequence[str], stored: MapRows, bounds: DepthBounds) -> None:
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


class Vectors:
    """Distances of a page from all origins at once, packed into one whole number.

    Each origin has a lane of bits, and one more above them that is set only to compare: all lanes of two
    numbers are then compared by one subtraction. A link that changes nothing, as most do, costs that and
    nothing else, however many pages and origins there are.
    """

    def __init__(self, origins: int) -> None:
        self._bytes = origins * _LANE // 8
        self._unpack = struct.Struct(f"<{origins}I").unpack
        self._one_on = _in_each_lane(1, origins)
        self.guards: Final = _in_each_lane(_GUARD, origins)
        self.nowhere: Final = _in_each_lane(FAR, origins)
        self._unpacked: dict[Vector, tuple[int, ...]] = {}

    def of(self, depths: Mapping[int, int]) -> Vector:
        """With these distances, by number of the origin."""
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
        """One link on. Only to compare with: what is nowhere is further than that."""
        return vector + self._one_on

    def nearer(self, one: Vector, other: Vector) -> Vector:
        """The least of both, from each origin. Whether it is ``one``, see ``guards``: where those of
        ``(other | guards) - one`` are all set, no distance of ``other`` is less."""
        not_nearer = ((one | self.guards) - other) & self.guards
        lanes = not_nearer - (not_nearer >> (_LANE - 1))  # the values of those that are taken from the other
        return one ^ ((one ^ other) & lanes)

    def forget(self) -> None:
        if len(self._unpacked) > REMEMBERED:
            self._unpacked.clear()


class PageVectors:
    """The distances of every page, in four bytes each: most pages share theirs with thousands of others.

    A dictionary of them had room for half a million pages. At a million, a seventh of the time went into
    reading back what had been forgotten.
    """

    def __init__(self, origins: int, most_bytes: int) -> None:
        """``most_bytes``: for the different vectors that there are. When full, all is forgotten."""
        self._most = most_bytes // (_BYTES_EACH + _BYTES_PER_ORIGIN * origins)
        # For who looks at thousands: the vector of a page is ``table[places[page]]``.
        self.places = array("I")  # 0: the page's vector is not known here
        self.table: list[Vector] = [0]
        self._place_of: dict[Vector, int] = {}

    def __getitem__(self, page: int) -> Vector:
        """Of a page that is known."""
        return self.table[self.places[page]]

    def __setitem__(self, page: int, vector: Vector) -> None:
        place = self._place_of.setdefault(vector, len(self.table))
        if place == len(self.table):
            self.table.append(vector)
        if page >= len(self.places):
            self.places.frombytes(bytes(self.places.itemsize * (page + _PAGES_AT_ONCE - len(self.places))))
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

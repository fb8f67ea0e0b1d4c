"""The distances of every page of a map, in four bytes each: most pages share theirs with thousands of others.

A dictionary of them had room for half a million pages. At a million, a seventh of the time went into reading
back what had been forgotten.
"""

from array import array
from collections.abc import Iterable
from typing import Final

from sumi.jobs.map.store.vectors import Vector

# Of one vector in both tables, beside its lanes of 32 bits, of which an integer uses 30 in 4 bytes.
_BYTES_EACH: Final = 160
_BYTES_PER_ORIGIN: Final = 5
_PAGES_AT_ONCE: Final = 16_384


class PageVectors:
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

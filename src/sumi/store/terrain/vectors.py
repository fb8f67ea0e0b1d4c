"""Distances of a page from all origins at once, as one immutable value.

There are few different ones, however many pages there are: each is made once, and so is what becomes of it
next to another one. A million pages then cost a reference each, and a link that changes nothing costs one
look into a dictionary.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

Vector: TypeAlias = tuple[int, ...]  # by number of the origin

FAR: Final = 2**31  # no way is known
# About 20 MB with ten origins. When full it is emptied: what is needed is soon back.
REMEMBERED: Final = 50_000


class Vectors:
    def __init__(self, origins: int) -> None:
        self.nowhere: Vector = (FAR,) * origins
        self._made: dict[Vector, Vector] = {}
        self._further: dict[Vector, Vector] = {}
        self._nearer: dict[tuple[Vector, Vector], Vector] = {}

    def of(self, depths: Mapping[int, int]) -> Vector:
        """With these distances, by number of the origin."""
        return self._one(depths.get(number, FAR) for number in range(len(self.nowhere)))

    def further(self, vector: Vector) -> Vector:
        """One link on."""
        found = self._further.get(vector)
        if found is None:
            found = self._further[vector] = self._one(min(depth + 1, FAR) for depth in vector)
        return found

    def nearer(self, one: Vector, other: Vector) -> Vector:
        """The least of both, from each origin."""
        found = self._nearer.get((one, other))
        if found is None:
            found = self._nearer[one, other] = self._one(map(min, one, other))
        return found

    def forget(self) -> None:
        if len(self._nearer) + len(self._made) > REMEMBERED:
            for memory in (self._made, self._further, self._nearer):
                memory.clear()

    def _one(self, depths: Iterable[int]) -> Vector:
        vector = tuple(depths)
        return self._made.setdefault(vector, vector)

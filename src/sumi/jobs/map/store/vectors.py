"""Distances of a page from all origins at once, packed into one whole number.

Each origin has a lane of bits, and one more above them that is set only to compare: all lanes of two numbers
are then compared by one subtraction. A link that changes nothing, as most do, costs that and nothing else,
however many pages and origins there are.
"""

import struct
from collections.abc import Mapping
from typing import Final, TypeAlias

Vector: TypeAlias = int

FAR: Final = 2**30  # no way is known
_LANE: Final = 32  # holds FAR, one link on from there, and the bit to compare with
_GUARD: Final = 2**31
# About 10 MB. When full it is emptied: there are few different vectors, and what is needed is soon back.
REMEMBERED: Final = 50_000


class Vectors:
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


def _in_each_lane(value: int, lanes: int) -> int:
    return sum(value << number * _LANE for number in range(lanes))

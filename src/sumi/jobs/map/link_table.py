"""All links of a graph in memory, 12 bytes each, for more than one pass over them.

Computations work in slices: with ten million links, even one more number per link would double the memory.
Needs numpy: see ``analysis.libraries``.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from sumi.jobs.map.graph import Graph

_SLICE: Final = 1_000_000


class LinkTable:
    def __init__(self, graph: Graph) -> None:
        columns = np.fromiter(chain.from_iterable(graph.links()), dtype=np.int32).reshape(-1, 3)
        self.sources, self.targets, self.weights = columns[:, 0], columns[:, 1], columns[:, 2]

    def in_degrees(self, size: int) -> list[int]:
        """The number of links to each node."""
        counts = np.zeros(size, dtype=np.int64)
        for some in self._slices():
            counts += np.bincount(self.targets[some], self.weights[some], minlength=size).astype(np.int64)
        degrees: list[int] = counts.tolist()
        return degrees

    def pairs(self, group_of: Sequence[int], groups: int) -> "PairCounts":
        """The number of links between each pair of groups; a pair is one number."""
        group = np.asarray(group_of, dtype=np.int64)
        pairs = np.empty(len(self.sources), dtype=np.int64)
        for some in self._slices():
            pairs[some] = group[self.sources[some]] * groups + group[self.targets[some]]
        return PairCounts(pairs)

    def between(self, number_of: "array[int]", most: int) -> list[int]:
        """Links between different nodes that have a number (not -1), as one list: source, target, source …"""
        numbers = np.asarray(number_of)
        ends: list[int] = []
        for some in self._slices():
            sources, targets = numbers[self.sources[some]], numbers[self.targets[some]]
            wanted = np.flatnonzero((sources >= 0) & (targets >= 0) & (sources != targets))
            ends += np.column_stack((sources[wanted], targets[wanted])).ravel().tolist()
            if len(ends) >= 2 * most:
                break
        return ends[: 2 * most]

    def _slices(self) -> Iterator[slice]:
        return _slices(len(self.sources))


class PairCounts:
    """Distinct pairs with their counts; can be iterated more than once."""

    def __init__(self, pairs: Any) -> None:
        """``pairs``: an array, which is sorted in place."""
        pairs.sort()
        starts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])) if len(pairs) else pairs)
        self._pairs = pairs[starts]
        self._counts = np.diff(starts, append=len(pairs)).astype(np.int32)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for some in _slices(len(self._pairs)):
            yield from zip(self._pairs[some].tolist(), self._counts[some].tolist(), strict=True)


def _slices(length: int) -> Iterator[slice]:
    return (slice(start, start + _SLICE) for start in range(0, length, _SLICE))

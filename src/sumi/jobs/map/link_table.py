"""All links of a graph at once, 12 bytes each: for whoever looks through them more than once.

What is worked out from them goes through them in slices: of ten million links, one number more for each would
be as much again. Needs numpy, which comes with the extra ``terrain``: see analysis.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from sumi.jobs.map.graph import Graph

_AT_ONCE: Final = 1_000_000


class LinkTable:
    def __init__(self, graph: Graph) -> None:
        columns = np.fromiter(chain.from_iterable(graph.links()), dtype=np.int32).reshape(-1, 3)
        self.sources, self.targets, self.weights = columns[:, 0], columns[:, 1], columns[:, 2]

    def in_degrees(self, size: int) -> list[int]:
        """How many links lead to each node."""
        counts = np.zeros(size, dtype=np.int64)
        for some in self._slices():
            counts += np.bincount(self.targets[some], self.weights[some], minlength=size).astype(np.int64)
        degrees: list[int] = counts.tolist()
        return degrees

    def pairs(self, group_of: Sequence[int], groups: int) -> "PairCounts":
        """How many links lead from each group of nodes to each; a pair is one number."""
        group = np.asarray(group_of, dtype=np.int64)
        pairs = np.empty(len(self.sources), dtype=np.int64)
        for some in self._slices():
            pairs[some] = group[self.sources[some]] * groups + group[self.targets[some]]
        return PairCounts(pairs)

    def between(self, number_of: "array[int]", most: int) -> list[int]:
        """Both ends, one after the other, of links between different nodes that have a number (not -1)."""
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
    """Each different pair with how often it is there; may be gone through again and again."""

    def __init__(self, pairs: Any) -> None:
        """An array, which is sorted in place: nobody else may need it."""
        pairs.sort()
        starts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])) if len(pairs) else pairs)
        self._pairs = pairs[starts]
        self._counts = np.diff(starts, append=len(pairs)).astype(np.int32)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for some in _slices(len(self._pairs)):
            yield from zip(self._pairs[some].tolist(), self._counts[some].tolist(), strict=True)


def _slices(length: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, length, _AT_ONCE))

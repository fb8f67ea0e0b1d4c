"""All links of a graph at once, 12 bytes each: for whoever looks through them more than once.

Needs numpy, which comes with the extra ``terrain``: see measures.
"""

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from sumi.terrain.graph import Graph


class LinkTable:
    def __init__(self, graph: Graph) -> None:
        columns = np.fromiter(chain.from_iterable(graph.links()), dtype=np.int32).reshape(-1, 3)
        self.sources, self.targets, self.weights = columns[:, 0], columns[:, 1], columns[:, 2]

    def in_degrees(self, size: int) -> list[int]:
        """How many links lead to each node."""
        counts: list[int] = np.bincount(self.targets, self.weights, minlength=size).astype(np.int64).tolist()
        return counts

    def pairs(self, group_of: Sequence[int], groups: int) -> Mapping[int, int]:
        """How many links lead from each group of nodes to each; a pair is one number."""
        group = np.asarray(group_of, dtype=np.int64)
        found, counts = np.unique(group[self.sources] * groups + group[self.targets], return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))

    def between(self, number_of: "array[int]", most: int) -> list[int]:
        """Both ends, one after the other, of links between different nodes that have a number (not -1)."""
        numbers = np.asarray(number_of)
        sources, targets = numbers[self.sources], numbers[self.targets]
        wanted = np.flatnonzero((sources >= 0) & (targets >= 0) & (sources != targets))[:most]
        ends: list[int] = np.column_stack((sources[wanted], targets[wanted])).ravel().tolist()
        return ends

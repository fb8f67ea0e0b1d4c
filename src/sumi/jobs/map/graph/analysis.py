"""A map in a few lists: what is linked to most, what is central, what belongs together, what joins it."""

import msgspec

from sumi.jobs.map.graph.graph import Graph
from sumi.jobs.map.graph.measures import Measures, measure


class Ranked(msgspec.Struct, frozen=True):
    name: str
    value: float


class Community(msgspec.Struct, frozen=True):
    number: int
    size: int
    leaders: tuple[str, ...]  # its members of highest PageRank


class Bridge(msgspec.Struct, frozen=True):
    one: str
    other: str


class Analysis(msgspec.Struct, frozen=True):
    nodes: int
    links: int  # between different nodes, several of the same counted once
    communities: int
    bridges: int
    most_linked: tuple[Ranked, ...]
    most_central: tuple[Ranked, ...]
    largest_communities: tuple[Community, ...]
    first_bridges: tuple[Bridge, ...]


_LEADERS = 3


def analyze(graph: Graph, top: int) -> Analysis:
    """Each list no longer than ``top``."""
    measures = measure(graph)
    names = _Names(graph, measures, top)
    return Analysis(
        nodes=graph.size,
        links=sum(measures.in_degree),
        communities=len(names.communities),
        bridges=len(measures.bridges),
        most_linked=tuple(Ranked(names.of[node], measures.in_degree[node]) for node in names.most_linked),
        most_central=tuple(Ranked(names.of[node], measures.pagerank[node]) for node in names.most_central),
        largest_communities=tuple(
            Community(number, size, tuple(names.of[node] for node in leaders))
            for number, size, leaders in names.communities[:top]
        ),
        first_bridges=tuple(Bridge(names.of[one], names.of[other]) for one, other in names.bridges),
    )


class _Names:
    """The few nodes that are shown, and what they are called: the others' names are never kept."""

    def __init__(self, graph: Graph, measures: Measures, top: int) -> None:
        nodes = range(graph.size)
        by_rank = sorted(nodes, key=lambda node: (-measures.pagerank[node], node))
        self.most_central = by_rank[:top]
        self.most_linked = sorted(nodes, key=lambda node: (-measures.in_degree[node], node))[:top]
        self.communities = _communities(measures, by_rank)
        # Those at the most central nodes first: a dead end is a bridge too, and there are many.
        central = {node: place for place, node in enumerate(by_rank)}
        self.bridges = sorted(measures.bridges, key=lambda ends: max(central[end] for end in ends))[:top]
        shown = {*self.most_central, *self.most_linked}
        shown.update(node for _, _, leaders in self.communities[:top] for node in leaders)
        shown.update(end for ends in self.bridges for end in ends)
        self.of = {node: str(row[0]) for node, row in enumerate(graph.nodes()) if node in shown}


def _communities(measures: Measures, by_rank: list[int]) -> list[tuple[int, int, list[int]]]:
    """Number, size and leaders, the largest first."""
    sizes: dict[int, int] = {}
    leaders: dict[int, list[int]] = {}
    for node in by_rank:
        community = measures.community[node]
        sizes[community] = sizes.get(community, 0) + 1
        first = leaders.setdefault(community, [])
        if len(first) < _LEADERS:
            first.append(node)
    return [(number, sizes[number], leaders[number]) for number in sorted(sizes)]

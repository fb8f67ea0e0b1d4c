"""Measures of a map's graph: degrees, PageRank, communities and bridges.

Computed by NetworKit, an optional dependency (``sumi[terrain]``).
"""

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from os import PathLike
from typing import Any, Final, NamedTuple

import msgspec

from sumi.errors import UsageError
from sumi.jobs.map.database import open_map
from sumi.jobs.map.graph import Column, ColumnType, Graph, Level, Row, domain_graph, page_graph

DAMPING: Final = 0.85
_TOLERANCE: Final = 1e-9
_SEED: Final = 1  # fixed, so that the same map always has the same communities

COLUMNS = (
    Column("in_degree", ColumnType.WHOLE),
    Column("out_degree", ColumnType.WHOLE),
    Column("pagerank", ColumnType.REAL),
    Column("community", ColumnType.WHOLE),
    Column("bridges", ColumnType.WHOLE),
)


class Measures(NamedTuple):
    """Each list is by position of the node."""

    in_degree: Sequence[int]  # other nodes that link to it
    out_degree: Sequence[int]
    pagerank: Sequence[float]
    community: Sequence[int]  # 0 is the largest
    bridge_count: Sequence[int]  # bridges that end at it
    bridges: Sequence[tuple[int, int]]  # links whose removal would cut the undirected graph in two


def measure(graph: Graph) -> Measures:
    """Weights are ignored, and so are links from a node to itself."""
    networkit, numpy = libraries()
    networkit.setNumberOfThreads(1)  # with several, communities would depend on their timing
    networkit.setSeed(_SEED, False)
    from sumi.jobs.map.link_table import LinkTable

    table = LinkTable(graph)
    sources, targets = table.sources.astype(numpy.uint64), table.targets.astype(numpy.uint64)
    directed = _graph(networkit, numpy, sources, targets, graph.size, directed=True)
    lower, upper = numpy.minimum(sources, targets), numpy.maximum(sources, targets)
    undirected = _graph(networkit, numpy, lower, upper, graph.size, directed=False)
    bridges = _bridges(networkit, undirected)
    return Measures(
        in_degree=[directed.degreeIn(node) for node in range(graph.size)],
        out_degree=[directed.degreeOut(node) for node in range(graph.size)],
        pagerank=_pagerank(networkit, directed),
        community=_communities(networkit, undirected),
        bridge_count=numpy.bincount(
            numpy.fromiter(chain.from_iterable(bridges), dtype=numpy.int64), minlength=graph.size
        ).tolist(),
        bridges=bridges,
    )


def measured(graph: Graph) -> Graph:
    """The same graph with the measures as further columns."""
    measures = measure(graph)

    def nodes() -> Iterator[Row]:
        rows = zip(*measures[:5], strict=True)
        for row, more in zip(graph.nodes(), rows, strict=True):
            yield row + more

    return graph._replace(columns=graph.columns + COLUMNS, nodes=nodes)


def _graph(networkit: Any, numpy: Any, sources: Any, targets: Any, size: int, *, directed: bool) -> Any:
    """Without loops and duplicates. (NetworKit can remove them itself, but then miscounts the rest.)"""
    different = sources != targets
    width = numpy.uint64(size)
    pairs = numpy.unique(sources[different] * width + targets[different])
    return networkit.GraphFromCoo((pairs // width, pairs % width), n=size, directed=directed)


def libraries() -> tuple[Any, Any]:
    """NetworKit and numpy; raises UsageError if they are not installed."""
    try:
        import networkit
        import numpy as np
    except ImportError:
        raise UsageError(
            "measuring a map needs NetworKit, which is not installed; pip install 'sumi[terrain]' brings it"
        ) from None
    return networkit, np


def _pagerank(networkit: Any, directed: Any) -> list[float]:
    if not directed.numberOfNodes():
        return []
    ranking = networkit.centrality.PageRank(
        directed, DAMPING, _TOLERANCE, False, networkit.centrality.SinkHandling.DistributeSinks
    )
    scores: list[float] = ranking.run().scores()
    return scores


def _communities(networkit: Any, undirected: Any) -> list[int]:
    """By modularity (Louvain, refined), numbered from the largest to the smallest."""
    if not undirected.numberOfEdges():
        return list(range(undirected.numberOfNodes()))
    found = networkit.community.PLM(undirected, refine=True).run().getPartition().getVector()
    sizes: dict[int, int] = {}
    for community in found:
        sizes[community] = sizes.get(community, 0) + 1
    # sorted() is stable: communities of equal size stay in the order of their first members.
    numbers = {name: number for number, name in enumerate(sorted(sizes, key=lambda one: -sizes[one]))}
    return [numbers[community] for community in found]


def _bridges(networkit: Any, undirected: Any) -> list[tuple[int, int]]:
    """Without duplicate edges, a biconnected component of two nodes is a bridge."""
    if not undirected.numberOfEdges():
        return []
    parts = networkit.components.BiconnectedComponents(undirected).run().getComponents()
    return sorted((min(part), max(part)) for part in parts if len(part) == 2)


class Ranked(msgspec.Struct, frozen=True):
    name: str
    value: float


class Community(msgspec.Struct, frozen=True):
    number: int
    size: int
    leaders: tuple[str, ...]  # the members with the highest PageRank


class Bridge(msgspec.Struct, frozen=True):
    one: str
    other: str


class Analysis(msgspec.Struct, frozen=True):
    nodes: int
    links: int  # between different nodes, duplicates counted once
    communities: int
    bridges: int
    most_linked: tuple[Ranked, ...]
    most_central: tuple[Ranked, ...]
    largest_communities: tuple[Community, ...]
    first_bridges: tuple[Bridge, ...]


_LEADERS = 3


def analyze_map(place: str | PathLike[str], level: str = Level.DOMAIN, top: int = 20) -> Analysis:
    """``sumi map analyze``: the most linked and the most central nodes, communities and bridges. ``place`` is
    the map's database, or its configuration (.toml); ``top`` the length of each list."""
    if top < 1:
        raise UsageError("--top must be at least 1")
    with open_map(os.fspath(place)) as db:
        graph = page_graph(db) if Level(level) is Level.PAGE else domain_graph(db)
        return analyze(graph, top)


def analyze(graph: Graph, top: int) -> Analysis:
    """``top``: the most entries of each list."""
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
    """The nodes to show and their names; the names of the others are not kept in memory."""

    def __init__(self, graph: Graph, measures: Measures, top: int) -> None:
        nodes = range(graph.size)
        by_rank = sorted(nodes, key=lambda node: (-measures.pagerank[node], node))
        self.most_central = by_rank[:top]
        self.most_linked = sorted(nodes, key=lambda node: (-measures.in_degree[node], node))[:top]
        self.communities = _with_leaders(measures, by_rank)
        # Those between central nodes first: every dead end is a bridge too.
        rank = {node: place for place, node in enumerate(by_rank)}
        self.bridges = sorted(measures.bridges, key=lambda ends: max(rank[end] for end in ends))[:top]
        shown = {*self.most_central, *self.most_linked}
        shown.update(node for _, _, leaders in self.communities[:top] for node in leaders)
        shown.update(end for ends in self.bridges for end in ends)
        self.of = {node: str(row[0]) for node, row in enumerate(graph.nodes()) if node in shown}


def _with_leaders(measures: Measures, by_rank: list[int]) -> list[tuple[int, int, list[int]]]:
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

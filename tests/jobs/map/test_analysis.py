"""Measures of a map agree with another graph library, and are the same every time."""

from collections.abc import Iterator

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.jobs.map.analysis import analyze, measure
from sumi.jobs.map.graph import Column, ColumnType, Graph, Row

LINKS = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=40)
    )
)


def graph_of(size: int, links: list[tuple[int, int]]) -> Graph:
    def nodes() -> Iterator[Row]:
        return ((f"n{number}",) for number in range(size))

    return Graph(
        (Column("url", ColumnType.TEXT),), size, nodes, lambda: ((a, b, 1) for a, b in links), weighted=False
    )


@settings(max_examples=40)
@given(LINKS)
def test_measures_agree_with_another_library(example: tuple[int, list[tuple[int, int]]]) -> None:
    size, links = example
    measures = measure(graph_of(size, links))
    other = nx.DiGraph()
    other.add_nodes_from(range(size))
    other.add_edges_from((a, b) for a, b in links if a != b)
    assert list(measures.in_degree) == [other.in_degree(node) for node in range(size)]
    assert list(measures.out_degree) == [other.out_degree(node) for node in range(size)]
    assert measures.bridges == sorted((min(e), max(e)) for e in nx.bridges(other.to_undirected()))
    assert sum(measures.pagerank) == pytest.approx(1.0)
    ranks = _pagerank(other)
    assert measures.pagerank == pytest.approx([ranks[node] for node in range(size)], abs=1e-6)


def _pagerank(graph: "nx.DiGraph[int]") -> dict[int, float]:
    """By definition; the library's own needs SciPy."""
    nodes = list(graph)
    rank = dict.fromkeys(nodes, 1 / len(nodes))
    for _ in range(300):
        sinks = sum(rank[node] for node in nodes if not graph.out_degree(node))
        rank = {
            node: 0.15 / len(nodes)
            + 0.85
            * (
                sinks / len(nodes)
                + sum(rank[one] / graph.out_degree(one) for one in graph.predecessors(node))
            )
            for node in nodes
        }
    return rank


def test_two_rings_joined_by_one_link_are_two_communities_and_a_bridge() -> None:
    ring = [(a, (a + step) % 6) for a in range(6) for step in (1, 2)]
    links = [*ring, *((a + 6, b + 6) for a, b in ring), (0, 6)]
    first, again = (measure(graph_of(12, links)) for _ in range(2))
    assert first == again
    assert first.bridges == [(0, 6)]
    assert len({first.community[node] for node in range(6)}) == 1
    assert len({first.community[node] for node in range(6, 12)}) == 1
    assert set(first.community) == {0, 1}
    analysis = analyze(graph_of(12, links), top=3)
    assert (analysis.nodes, analysis.links, analysis.communities, analysis.bridges) == (12, 25, 2, 1)
    assert analysis.most_linked[0].name == "n6"
    assert {(one.one, one.other) for one in analysis.first_bridges} == {("n0", "n6")}
    assert [community.size for community in analysis.largest_communities] == [6, 6]

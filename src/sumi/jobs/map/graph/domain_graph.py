"""Every domain of a map, and how many links lead from each to each."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import apsw

from sumi.jobs.map.graph.graph import Column, ColumnType, Graph, Link, Row
from sumi.jobs.map.graph.kinds import domain_kinds
from sumi.jobs.map.graph.page_graph import page_graph

CRAWLED = "Processed"  # the state of pages that were read

COLUMNS = (
    Column("domain", ColumnType.TEXT),
    Column("kind", ColumnType.TEXT),
    Column("pages", ColumnType.WHOLE),
    Column("crawled", ColumnType.WHOLE),
    Column("depth", ColumnType.WHOLE),
)


# From the domain of each page, and how many there are: how many links lead from each to each.
PairCount: TypeAlias = Callable[[Sequence[int], int], Iterable[tuple[int, int]]]


class Grouping(NamedTuple):
    """The nodes of a page graph by domain."""

    graph: Graph  # of the domains
    domain_of: Sequence[int]  # position of a page -> position of its domain


def domain_graph(db: apsw.Connection) -> Graph:
    return group_by_domain(db, page_graph(db)).graph


def group_by_domain(db: apsw.Connection, pages: Graph, count: PairCount | None = None) -> Grouping:
    """Links within a domain are left out: they say nothing about the terrain between domains. ``count`` is
    for who has all links in memory; without it they are streamed."""
    kinds = domain_kinds(db)
    numbers: dict[str, int] = {}
    sizes: Counter[str] = Counter()
    crawled: Counter[str] = Counter()
    depths: dict[str, int] = {}
    domain_of = array("q")
    for _, domain, _, state, _, status, depth in pages.nodes():
        assert isinstance(domain, str)
        domain_of.append(numbers.setdefault(domain, len(numbers)))
        sizes[domain] += 1
        crawled[domain] += state == CRAWLED and not _is_redirect(status)
        if isinstance(depth, int):
            depths[domain] = min(depth, depths.get(domain, depth))

    def nodes() -> Iterator[Row]:
        for domain in numbers:
            yield domain, kinds[domain], sizes[domain], crawled[domain], depths.get(domain)

    width = len(numbers)

    @cache  # every look at the links would read millions of them again
    def pairs() -> Iterable[tuple[int, int]]:
        if count is not None:
            return count(domain_of, width)
        # A pair as one number: a tuple for each of millions of links would be most of the time and memory.
        found = Counter(domain_of[source] * width + domain_of[target] for source, target, _ in pages.links())
        return found.items()

    def links() -> Iterator[Link]:
        for pair, weight in pairs():
            source, target = divmod(pair, width)
            if source != target:
                yield source, target, weight

    return Grouping(Graph(COLUMNS, len(numbers), nodes, links, weighted=True), domain_of)


def _is_redirect(status: object) -> bool:
    return isinstance(status, int) and 300 <= status < 400

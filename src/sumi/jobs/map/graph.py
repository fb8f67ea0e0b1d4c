"""The graph of a map, by page or by domain: rows of nodes, and links between their positions.

Both are streamed, so no export needs the whole graph in memory.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import apsw

Value: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Value, ...]
Link: TypeAlias = tuple[int, int, int]  # positions of source and target, and how many links it stands for


class Level(StrEnum):
    PAGE = "page"
    DOMAIN = "domain"


class ColumnType(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    REAL = "real"


class Column(NamedTuple):
    name: str
    type: ColumnType


class Graph(NamedTuple):
    """Nodes are numbered from 0 in the order of ``nodes()``. The first column is the node's name."""

    columns: tuple[Column, ...]
    size: int  # number of nodes
    nodes: Callable[[], Iterator[Row]]
    links: Callable[[], Iterator[Link]]
    weighted: bool  # whether a link may stand for several


class DomainKind(StrEnum):
    QUALITY = "quality"
    DISCOVERED = "discovered"
    STUBBED = "stubbed"
    BLACKLISTED = "blacklisted"


# Later rows win: a domain that was listed after it was crawled is what the list says.
_EVIDENCE = (
    (DomainKind.DISCOVERED, "SELECT DISTINCT domain FROM pages"),
    # Exactly the pages of quality domains are at depth 0.
    (
        DomainKind.QUALITY,
        "SELECT DISTINCT domain FROM page_depths JOIN pages ON pages.id = page_id WHERE depth = 0",
    ),
    (DomainKind.STUBBED, "SELECT DISTINCT domain FROM stubbed_urls"),
    (DomainKind.BLACKLISTED, "SELECT DISTINCT domain FROM blacklisted_urls"),
)


def domain_kinds(db: apsw.Connection) -> dict[str, DomainKind]:
    """The kind of each domain, derived from its pages."""
    return {domain: kind for kind, query in _EVIDENCE for (domain,) in db.execute(query)}


PAGE_COLUMNS = (
    Column("url", ColumnType.TEXT),
    Column("domain", ColumnType.TEXT),
    Column("kind", ColumnType.TEXT),
    Column("state", ColumnType.TEXT),
    Column("title", ColumnType.TEXT),
    Column("status_code", ColumnType.WHOLE),
    Column("depth", ColumnType.WHOLE),
)

_PAGES = "SELECT id, url, domain, state, title, status_code FROM pages ORDER BY id"
_REFERENCES = "SELECT url, domain FROM {table} WHERE url NOT IN (SELECT url FROM pages) ORDER BY id"
_REFERENCE_IDS = "SELECT id FROM {table} WHERE url NOT IN (SELECT url FROM pages) ORDER BY id"
_REFERRERS = "SELECT referrer_page_id, {column} FROM {table} ORDER BY id"
_NOWHERE = 2**62


class _Table(NamedTuple):
    """URLs that are linked to and never visited."""

    kind: DomainKind
    state: str
    urls: str
    referrers: str
    column: str  # the column of ``referrers`` with the URL's id


_NEVER_VISITED = (
    _Table(
        DomainKind.BLACKLISTED,
        "Blacklisted",
        "blacklisted_urls",
        "blacklisted_referrers",
        "blacklisted_url_id",
    ),
    _Table(DomainKind.STUBBED, "Stubbed", "stubbed_urls", "stubbed_referrers", "stubbed_url_id"),
)


def page_graph(db: apsw.Connection) -> Graph:
    """Every URL of a map and every link between two of them.

    A URL that is never visited may be stored as a page, as a reference, or both: it is one node.
    """
    pages = _Positions(db, "SELECT id FROM pages ORDER BY id", first=0)
    end = pages.end
    references = []
    for table in _NEVER_VISITED:
        references.append(_Positions(db, _REFERENCE_IDS.format(table=table.urls), first=end))
        end = references[-1].end
    kinds = domain_kinds(db)

    @cache  # the largest table: a second pass over the nodes must not read it again
    def depths() -> "array[int]":
        return _nearest(db, len(pages.place))

    def links() -> Iterator[Link]:
        yield from _links_between_pages(db, pages)
        for table, positions in zip(_NEVER_VISITED, references, strict=True):
            yield from _links_to_references(db, table, pages, positions)

    return Graph(PAGE_COLUMNS, end, lambda: _nodes(db, kinds, depths()), links, weighted=False)


def _nearest(db: apsw.Connection, pages: int) -> "array[int]":
    """The distance of each page from the nearest origin, by row id. In one pass, without an index: there is
    none until a run has completed."""
    depths = array("q", [_NOWHERE]) * pages
    for page, depth in db.execute("SELECT page_id, depth FROM page_depths"):
        if depth < depths[page]:
            depths[page] = depth
    return depths


def _nodes(db: apsw.Connection, kinds: dict[str, DomainKind], depths: "array[int]") -> Iterator[Row]:
    for page, url, domain, state, title, status in db.execute(_PAGES):
        depth = depths[page]
        yield url, domain, kinds[domain], state, title, status, None if depth == _NOWHERE else depth
    for table in _NEVER_VISITED:
        for url, domain in db.execute(_REFERENCES.format(table=table.urls)):
            yield url, domain, table.kind, table.state, None, None, None


def _links_between_pages(db: apsw.Connection, pages: "_Positions") -> Iterator[Link]:
    """Current links only: the table keeps links that have vanished from their pages, too."""
    place = pages.place
    links = db.execute("SELECT from_page_id, to_page_id FROM links ORDER BY id")
    vanished = set(db.execute("SELECT from_page_id, to_page_id FROM vanished_links"))
    if vanished:  # most maps have none, and a test for each of ten million links takes time
        return ((place[link[0]], place[link[1]], 1) for link in links if link not in vanished)
    return ((place[source], place[target], 1) for source, target in links)


def _links_to_references(
    db: apsw.Connection, table: _Table, pages: "_Positions", references: "_Positions"
) -> Iterator[Link]:
    for source, target in db.execute(_REFERRERS.format(table=table.referrers, column=table.column)):
        if references.has(target):
            yield pages.place[source], references.place[target], 1


class _Positions:
    """The position among the nodes of each row of a table, by row id: 8 bytes each, unlike a dictionary."""

    def __init__(self, db: apsw.Connection, ids: str, first: int) -> None:
        numbers = array("q", chain.from_iterable(db.execute(ids)))
        self.end = first + len(numbers)
        self.place = array("q", [-1]) * (numbers[-1] + 1 if numbers else 0)
        for position, number in enumerate(numbers, first):
            self.place[number] = position

    def has(self, number: int) -> bool:
        return number < len(self.place) and self.place[number] >= 0


CRAWLED = "Processed"  # the state of a page that was read

DOMAIN_COLUMNS = (
    Column("domain", ColumnType.TEXT),
    Column("kind", ColumnType.TEXT),
    Column("pages", ColumnType.WHOLE),
    Column("crawled", ColumnType.WHOLE),
    Column("depth", ColumnType.WHOLE),
)


# Takes the domain of each page and the number of domains; counts the links between each pair of domains.
PairCount: TypeAlias = Callable[[Sequence[int], int], Iterable[tuple[int, int]]]


class Grouping(NamedTuple):
    """The nodes of a page graph by domain."""

    graph: Graph  # of the domains
    domain_of: Sequence[int]  # position of a page -> position of its domain


def domain_graph(db: apsw.Connection) -> Graph:
    """Every domain of a map, and the number of links between each pair."""
    return group_by_domain(db, page_graph(db)).graph


def group_by_domain(db: apsw.Connection, pages: Graph, count: PairCount | None = None) -> Grouping:
    """Links within a domain are left out. ``count`` is for a caller that has all links in memory; without it
    they are streamed."""
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

    @cache  # every pass over the links would read millions of rows again
    def pairs() -> Iterable[tuple[int, int]]:
        if count is not None:
            return count(domain_of, width)
        # A pair is one number: tuples for millions of links would take most of the time and memory.
        found = Counter(domain_of[source] * width + domain_of[target] for source, target, _ in pages.links())
        return found.items()

    def links() -> Iterator[Link]:
        for pair, weight in pairs():
            source, target = divmod(pair, width)
            if source != target:
                yield source, target, weight

    return Grouping(Graph(DOMAIN_COLUMNS, len(numbers), nodes, links, weighted=True), domain_of)


def _is_redirect(status: object) -> bool:
    return isinstance(status, int) and 300 <= status < 400

"""Every URL of a map and every link between two of them.

URLs that are never visited may be kept as pages in a state of their own, or only in the tables of references:
they are nodes either way, once.
"""

from array import array
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

import apsw

from sumi.jobs.map.graph.graph import Column, ColumnType, Graph, Link, Row
from sumi.jobs.map.graph.kinds import DomainKind, domain_kinds

COLUMNS = (
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
    """Of URLs that are referred to and never visited."""

    kind: DomainKind
    state: str
    urls: str
    referrers: str
    column: str  # of the referrers, that names the URL


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
    pages = _Positions(db, "SELECT id FROM pages ORDER BY id", first=0)
    end = pages.end
    references = []
    for table in _NEVER_VISITED:
        references.append(_Positions(db, _REFERENCE_IDS.format(table=table.urls), first=end))
        end = references[-1].end
    kinds = domain_kinds(db)

    @cache  # whoever looks at the nodes twice reads the distances, of which there are most, only once
    def depths() -> "array[int]":
        return _nearest(db, len(pages.place))

    def links() -> Iterator[Link]:
        yield from _links_between_pages(db, pages)
        for table, positions in zip(_NEVER_VISITED, references, strict=True):
            yield from _links_to_references(db, table, pages, positions)

    return Graph(COLUMNS, end, lambda: _nodes(db, kinds, depths()), links, weighted=False)


def _nearest(db: apsw.Connection, pages: int) -> "array[int]":
    """By row id of a page: how far it is from the nearest origin. In one pass, which needs no index: there is
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
    """Those of the map as it stands: a link that its page was later seen without is on record, no more."""
    place = pages.place
    links = db.execute("SELECT from_page_id, to_page_id FROM links ORDER BY id")
    vanished = set(db.execute("SELECT from_page_id, to_page_id FROM vanished_links"))
    if vanished:  # only then, since of ten million links each look counts
        return ((place[link[0]], place[link[1]], 1) for link in links if link not in vanished)
    return ((place[source], place[target], 1) for source, target in links)


def _links_to_references(
    db: apsw.Connection, table: _Table, pages: "_Positions", references: "_Positions"
) -> Iterator[Link]:
    for source, target in db.execute(_REFERRERS.format(table=table.referrers, column=table.column)):
        if references.has(target):
            yield pages.place[source], references.place[target], 1


class _Positions:
    """Where the rows of a table stand among the nodes, by row id: 8 bytes each instead of a dictionary."""

    def __init__(self, db: apsw.Connection, ids: str, first: int) -> None:
        numbers = array("q", chain.from_iterable(db.execute(ids)))
        self.end = first + len(numbers)
        self.place = array("q", [-1]) * (numbers[-1] + 1 if numbers else 0)
        for position, number in enumerate(numbers, first):
            self.place[number] = position

    def has(self, number: int) -> bool:
        return number < len(self.place) and self.place[number] >= 0

"""The map as one HTML file, which a browser opens offline.

Data from the web is JSON in the page, read by a JSON parser and shown as text, never as markup. The page's
content security policy allows only its own script, by hash.
"""

import base64
import hashlib
from array import array
from collections.abc import Sequence
from importlib import resources
from typing import Any, BinaryIO, Final, NamedTuple

import apsw
import msgspec

from sumi.jobs.map.analysis import libraries, measure
from sumi.jobs.map.graph import Graph, Level, Row, group_by_domain, page_graph

# Browsers are slow to draw more than this, and people get lost.
MOST_NODES: Final = 20_000
MOST_LINKS: Final = 200_000


class Selection(NamedTuple):
    domains: list[int]  # positions, those with the most pages first
    pages: list[list[int]]  # positions, for each of these domains, the most linked first


def select(domain_of: Sequence[int], domain_count: int, linked: Sequence[int], most: int) -> Selection:
    """The part of a large map to draw: at most ``most`` pages, the most linked ones of each domain, which
    gets its share and at least one."""
    by_domain: list[list[int]] = [[] for _ in range(domain_count)]
    for page, domain in enumerate(domain_of):
        by_domain[domain].append(page)
    domains = sorted(range(domain_count), key=lambda one: -len(by_domain[one]))[:most]
    total = sum(len(by_domain[domain]) for domain in domains)
    spare = max(0, most - len(domains))  # beyond the one page of each domain
    chosen = []
    for domain in domains:
        pages = sorted(by_domain[domain], key=lambda page: -linked[page])
        share = len(pages) if total <= most else 1 + spare * len(pages) // total
        chosen.append(pages[:share])
    return Selection(domains, chosen)


_MOST_ROADS: Final = 3000
_MOST_TITLE: Final = 200


def write_picture(db: apsw.Connection, level: Level, file: BinaryIO) -> None:
    data = _data(db, level)
    template = _part("picture.html")
    script = _part("picture.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    before, _, rest = template.replace("SCRIPT_HASH", digest).partition("MAP_DATA")
    file.write(before.encode())
    # "<" could end the script element that the data is in; JSON allows this escape for it.
    file.write(msgspec.json.encode(data).replace(b"<", b"\\u003c"))
    file.write(rest.replace("SCRIPT_TEXT", script).encode())


def _part(name: str) -> str:
    return resources.files("sumi.jobs.map").joinpath(name).read_text(encoding="utf-8")


def _data(db: apsw.Connection, level: Level) -> dict[str, Any]:
    libraries()
    from sumi.jobs.map.link_table import LinkTable

    pages = page_graph(db)
    table = LinkTable(pages)
    grouping = group_by_domain(db, pages, table.pairs)
    domains = list(grouping.graph.nodes())
    linked = table.in_degrees(pages.size)
    measures = measure(grouping.graph)
    chosen = select(grouping.domain_of, len(domains), linked, MOST_NODES)
    if level is Level.DOMAIN:
        chosen = Selection(chosen.domains, [[] for _ in chosen.domains])
    areas = _areas(chosen, domains, measures.community, level)
    return {
        "level": level.value,
        "totals": {"domains": len(domains), "pages": pages.size},
        "domains": [
            [row[0], row[1], row[2], round(area.x, 1), round(area.y, 1), round(area.r, 1), rank, row[4]]
            for row, area, rank in (
                (domains[number], area, measures.in_degree[number])
                for number, area in zip(chosen.domains, areas, strict=True)
            )
        ],
        "roads": _roads(grouping.graph, chosen.domains),
        **_dots(pages, chosen, areas, linked, table),
    }


def _areas(chosen: Selection, domains: Sequence[Row], communities: Sequence[int], level: Level) -> list[Any]:
    from sumi.jobs.map.layout import area_radius, lay_out

    sizes = (
        [len(pages) for pages in chosen.pages]
        if level is Level.PAGE
        else [int(domains[number][2] or 1) for number in chosen.domains]
    )
    return lay_out([area_radius(size) for size in sizes], [communities[number] for number in chosen.domains])


def _roads(graph: Graph, shown: Sequence[int]) -> list[tuple[int, int, int]]:
    """The strongest connections between the drawn domains."""
    number_of = {domain: number for number, domain in enumerate(shown)}
    links = [link for link in graph.links() if link[0] in number_of and link[1] in number_of]
    links.sort(key=lambda link: (-link[2], link))
    return [(number_of[source], number_of[target], weight) for source, target, weight in links[:_MOST_ROADS]]


def _dots(
    pages: Graph, chosen: Selection, areas: Sequence[Any], linked: Sequence[int], links: Any
) -> dict[str, Any]:
    from sumi.jobs.map.layout import dots

    number_of = array("i", [-1]) * pages.size
    table: list[list[Any]] = []
    for domain, (group, area) in enumerate(zip(chosen.pages, areas, strict=True)):
        for page, (x, y) in zip(group, dots(area, len(group)), strict=True):
            number_of[page] = len(table)
            table.append(["", "", "", domain, round(x, 1), round(y, 1), linked[page]])
    for number, row in zip(number_of, pages.nodes() if table else (), strict=False):
        if number >= 0:
            table[number][:3] = row[0], str(row[4] or "")[:_MOST_TITLE], row[3]
    ends = links.between(number_of, MOST_LINKS + 1)
    return {"pages": table, "links": ends[: 2 * MOST_LINKS], "links_cut": len(ends) > 2 * MOST_LINKS}

"""A map as a picture to zoom: where each page is, computed once and kept in the job's view.

Domains are discs, the largest in the middle; the pages of a domain fill its disc, the most linked first. No
two pages are closer than 1.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from sumi.jobs.map.graph import Graph, page_graph

MOST_EDGES: Final = 200_000
MOST_DOMAINS: Final = 65_535  # that have a colour of their own
_NAMED: Final = 500  # discs with a name
_TRIED: Final = 400  # discs that are placed without any overlap
_GOLDEN: Final = math.pi * (3 - math.sqrt(5))
_GAP: Final = 2.0
_NO_DEPTH: Final = 255
TABLES: Final = """
CREATE TABLE node(id INTEGER PRIMARY KEY, url TEXT, title TEXT, domain TEXT, kind TEXT, depth INT, state);
CREATE TABLE edge(source INT, target INT, PRIMARY KEY(source, target)) WITHOUT ROWID;
CREATE TABLE picture(name TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID;
"""


class Disc(NamedTuple):
    x: float
    y: float
    r: float


def write_picture(database: Path, view: apsw.Connection) -> None:
    view.execute(TABLES)
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        db.set_busy_timeout(5000)
        graph = page_graph(db)
        sources, targets = _links(graph)
        linked = array("I", bytes(4 * graph.size))
        for target in targets:
            linked[target] += 1
        domains, members, depths = _nodes(graph, view)
    view.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?)", zip(sources, targets, strict=True))
    view.execute("CREATE INDEX edge_target ON edge(target, source)")
    order = sorted(range(len(domains)), key=lambda number: (-len(members[number]), domains[number]))
    discs = dict(zip(order, packed([_radius(len(members[number])) for number in order]), strict=True))
    positions, marks = _places(members, discs, order, linked, depths)
    shown = strongest(sources, targets, linked)
    about = {
        "nodes": graph.size,
        "edges": len(sources),
        "shown": len(shown) // 2,
        "extent": max((math.hypot(disc.x, disc.y) + disc.r for disc in discs.values()), default=1.0),
        "domains": [
            {"name": domains[number], "pages": len(members[number]), **discs[number]._asdict()}
            for number in order[:_NAMED]
        ],
    }
    parts = {
        "about": msgspec.json.encode(about),
        "positions": positions.tobytes(),
        "marks": marks.tobytes(),
        "edges": shown.tobytes(),
    }
    view.executemany("INSERT INTO picture VALUES (?, ?)", parts.items())


def _links(graph: Graph) -> tuple["array[int]", "array[int]"]:
    sources, targets = array("I"), array("I")
    for source, target, _ in graph.links():
        sources.append(source)
        targets.append(target)
    return sources, targets


def _nodes(graph: Graph, view: apsw.Connection) -> tuple[list[str], list["array[int]"], "array[int]"]:
    numbers: dict[str, int] = {}
    members: list[array[int]] = []
    depths = array("B")

    def rows() -> Iterator[tuple[Any, ...]]:
        for number, (url, domain, kind, state, title, _status, depth) in enumerate(graph.nodes()):
            at = numbers.setdefault(str(domain), len(numbers))
            if at == len(members):
                members.append(array("I"))
            members[at].append(number)
            depths.append(_NO_DEPTH if not isinstance(depth, int) else min(depth, _NO_DEPTH - 1))
            yield number, url, title, domain, str(kind), depth, str(state)

    view.executemany("INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?)", rows())
    return list(numbers), members, depths


def _radius(pages: int) -> float:
    return math.sqrt(pages) + _GAP


def packed(radii: Sequence[float]) -> list[Disc]:
    """Discs on a spiral outwards, given the largest first. The first ones do not overlap; thousands of small
    ones around them are spread by their area, which is close to it and takes no time."""
    placed: list[Disc] = []
    area = 0.0
    for number, r in enumerate(radii):
        reach = math.sqrt(area / math.pi)
        disc = _on_spiral(number, reach, r)
        while number < _TRIED and any(_overlap(disc, other) for other in placed):
            reach += r / 2
            disc = _on_spiral(number, reach, r)
        placed.append(disc)
        area += math.pi * r * r * 1.4
    return placed


def _on_spiral(number: int, reach: float, r: float) -> Disc:
    if not number:
        return Disc(0.0, 0.0, r)
    return Disc(reach * math.cos(number * _GOLDEN), reach * math.sin(number * _GOLDEN), r)


def _overlap(one: Disc, other: Disc) -> bool:
    return math.hypot(one.x - other.x, one.y - other.y) < one.r + other.r


def _places(
    members: list["array[int]"],
    discs: dict[int, Disc],
    order: Sequence[int],
    linked: "array[int]",
    depths: "array[int]",
) -> tuple["array[float]", "array[int]"]:
    """Positions as pairs, and for each page its domain's rank, depth and size in one number."""
    positions = array("f", bytes(8 * len(depths)))
    marks = array("I", bytes(4 * len(depths)))
    for rank, domain in enumerate(order):
        disc = discs[domain]
        colour = min(rank, MOST_DOMAINS)
        for place, page in enumerate(sorted(members[domain], key=lambda page: -linked[page])):
            away = math.sqrt(place)
            positions[2 * page] = disc.x + away * math.cos(place * _GOLDEN)
            positions[2 * page + 1] = disc.y + away * math.sin(place * _GOLDEN)
            size = min(255, int(12 * math.log2(1 + linked[page])))
            marks[page] = colour | depths[page] << 16 | size << 24
    return positions, marks


def strongest(sources: "array[int]", targets: "array[int]", linked: "array[int]") -> "array[int]":
    """At most so many links as pairs: those between the most linked pages."""
    chosen: Sequence[int] = range(len(sources))
    if len(sources) > MOST_EDGES:
        weight = [
            min(linked[source], linked[target]) for source, target in zip(sources, targets, strict=True)
        ]
        chosen = sorted(chosen, key=weight.__getitem__, reverse=True)[:MOST_EDGES]
    pairs = array("I")
    for number in chosen:
        pairs.append(sources[number])
        pairs.append(targets[number])
    return pairs

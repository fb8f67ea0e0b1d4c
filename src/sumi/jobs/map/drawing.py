"""A picture of a map's domains as SVG, with the standard library alone.

Quality domains are in the middle, and each further ring is one link farther away: depth is a ring and a
colour. Domains of one name (``docs.example.org``, ``blog.example.org``) are side by side; within that, each
is near those that link to it. The strongest links are drawn as arrows.
"""

import base64
import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import BinaryIO, Final, NamedTuple, TypeAlias

import apsw

from sumi.errors import UsageError
from sumi.jobs.map.export import write_lines, xml_text
from sumi.jobs.map.graph import DomainKind, Graph, Link, domain_graph

MOST_ARROWS: Final = 400
_GAP: Final = 5.0  # between two circles of a ring
_RING_GAP: Final = 30.0  # between what belongs to a ring and the next one
_FIRST_RING: Final = 60.0
_MARGIN: Final = 24.0
_SMALLEST, _LARGEST = 3.0, 26.0  # radius of a circle
_BEFORE_NAME: Final = 5.0  # between a circle and its name
_LABEL_HEIGHT: Final = 14.0  # what a name takes along its ring
_LETTER, _STRONG_LETTER = 6.2, 9.0  # the width of a letter
_MOST_ROOM, _MOST_STRONG_ROOM = 170.0, 290.0  # for a name, outwards
_ALL_NAMED: Final = 120  # a ring of so many has names for all of them
_SPARSE: Final = 24  # a ring of fewer has space between its names
_FEW: Final = 3  # so many chosen domains have their names below them
# Told apart without colour too: each ring is a place. From dark to light, readable on white.
_DEPTH_COLOURS: Final = ("#1b5e20", "#1565c0", "#6a3d9a", "#a65628", "#616161")
_KIND_LOOK: Final = {
    DomainKind.STUBBED: 'stroke-dasharray="5 3"',
    DomainKind.BLACKLISTED: 'stroke-dasharray="1.5 2.5"',
}
_SUFFIXES: Final = frozenset({"co", "com", "ac", "org", "gov", "net", "edu"})  # before a country: co.uk


class Spot(NamedTuple):
    """One domain, where it is drawn."""

    name: str
    kind: str
    pages: int
    ring: int
    x: float
    y: float
    r: float
    angle: float
    room: float = 0.0  # for its name, outwards; 0 for none


class Drawing(NamedTuple):
    spots: list[Spot]
    arrows: list[Link]
    radius: float  # of the whole
    links: int  # all of them, drawn or not


def draw_domains(db: apsw.Connection) -> Drawing:
    return arranged(domain_graph(db))


def write_svg(drawing: Drawing, file: BinaryIO) -> None:
    write_lines(file, ['<?xml version="1.0" encoding="UTF-8"?>'])
    write_lines(file, svg_lines(drawing))


# ── places ─────────────────────────────────────────────────────────────────────────────────────────────────


def arranged(graph: Graph) -> Drawing:
    rows = list(graph.nodes())
    links = list(graph.links())
    rings = _rings(
        [row[4] if isinstance(row[4], int) else None for row in rows], [str(row[1]) for row in rows]
    )
    radii = _radii([int(row[2] or 1) for row in rows])
    angles: dict[int, float] = {}
    neighbours = _neighbours(links, len(rows))
    spots: dict[int, Spot] = {}
    distance = 0.0
    for ring, members in enumerate(rings):
        ordered = _ordered(members, [str(row[0]) for row in rows], neighbours, angles)
        names = {number: str(rows[number][0]) for number in ordered}
        placed, distance = _placed(ordered, radii, names, distance, ring)
        for number, (x, y, angle, room) in placed.items():
            angles[number] = angle
            kind, pages = str(rows[number][1]), int(rows[number][2] or 0)
            spots[number] = Spot(names[number], kind, pages, ring, x, y, radii[number], angle, room)
    strongest = sorted(links, key=lambda link: (-link[2], link))[:MOST_ARROWS]
    ends = (math.hypot(spot.x, spot.y) + spot.r + _BEFORE_NAME + spot.room for spot in spots.values())
    radius = max(distance, *ends, 0.0)
    return Drawing([spots[number] for number in range(len(rows))], strongest, radius, len(links))


def _rings(depths: Sequence[int | None], kinds: Sequence[str]) -> list[list[int]]:
    """The domains by distance. Those that were never visited have none: they are on the outermost ring."""
    known = [depth for depth in depths if depth is not None]
    last = min(max(known, default=0), len(_DEPTH_COLOURS) - 2)
    rings: list[list[int]] = [[] for _ in range(last + 2)]
    for number, depth in enumerate(depths):
        unvisited = kinds[number] in _KIND_LOOK or depth is None
        rings[last + 1 if unvisited else min(depth or 0, last)].append(number)
    return rings


def _radii(pages: Sequence[int]) -> list[float]:
    most = math.sqrt(max(pages, default=1))
    # Many domains have to be smaller to be on one picture.
    largest = max(_SMALLEST + 3, _LARGEST - 3 * math.log10(max(1, len(pages))) * 2)
    return [_SMALLEST + (largest - _SMALLEST) * math.sqrt(count) / most for count in pages]


def _neighbours(links: Iterable[Link], count: int) -> list[dict[int, int]]:
    found: list[dict[int, int]] = [defaultdict(int) for _ in range(count)]
    for source, target, weight in links:
        found[source][target] += weight
        found[target][source] += weight
    return found


def entry_of(domain: str) -> str:
    """The name that subdomains share: ``example.org`` of ``docs.example.org``; an address is its own."""
    labels = domain.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or domain.startswith("["):
        return domain
    kept = 3 if len(labels[-1]) == 2 and labels[-2] in _SUFFIXES else 2
    return ".".join(labels[-kept:])


def _ordered(
    members: Sequence[int],
    names: Sequence[str],
    neighbours: Sequence[dict[int, int]],
    angles: dict[int, float],
) -> list[int]:
    """Entries by the direction of what links to them, and the domains of an entry by name."""
    entries: dict[str, list[int]] = defaultdict(list)
    for number in members:
        entries[entry_of(names[number])].append(number)

    def direction(group: list[int]) -> float:
        x = y = 0.0
        for number in group:
            for other, weight in neighbours[number].items():
                if other in angles:
                    x += math.cos(angles[other]) * weight
                    y += math.sin(angles[other]) * weight
        return math.atan2(y, x) % math.tau if x or y else math.tau

    ordered = sorted(entries.items(), key=lambda item: (direction(item[1]), item[0]))
    return [number for _, group in ordered for number in sorted(group, key=lambda one: names[one])]


Place: TypeAlias = tuple[float, float, float, float]  # x, y, angle, room for the name


def _placed(
    ordered: Sequence[int], radii: Sequence[float], names: dict[int, str], inner: float, ring: int
) -> tuple[dict[int, Place], float]:
    """Where each is, and how far the ring reaches, names included. Nothing of the next ring is closer."""
    if not ordered:
        return {}, inner
    if ring == 0 and len(ordered) <= _FEW:
        return _few(ordered, radii)
    widest = max(radii[number] for number in ordered)
    first = max(_FIRST_RING if ring == 0 else inner + _RING_GAP + widest, 0.0)
    letter, most = (_STRONG_LETTER, _MOST_STRONG_ROOM) if ring == 0 else (_LETTER, _MOST_ROOM)
    room = min(most, letter * max(map(len, names.values())))
    if ring == 0 or len(ordered) <= _ALL_NAMED:
        widths = [max(2 * radii[number], _LABEL_HEIGHT) + _GAP for number in ordered]
        distance = max(first, sum(widths) / math.tau)
        places = _on_ring(ordered, widths, distance)
        # A few names hardly meet what is behind them: the picture is smaller without all their room.
        kept = room if ring == 0 or len(ordered) > _SPARSE else room / 2
        return {number: (*place, room) for number, place in places.items()}, distance + widest + kept
    return _many(ordered, radii, first, room)


def _few(ordered: Sequence[int], radii: Sequence[float]) -> tuple[dict[int, Place], float]:
    """One in the middle, or up to three below each other, so that their names have room."""
    step = 2 * max(radii[number] for number in ordered) + 3 * _LABEL_HEIGHT
    top = -(len(ordered) - 1) / 2 * step
    places = {
        number: (0.0, top + row * step, math.tau * row / len(ordered), 1.0)
        for row, number in enumerate(ordered)
    }
    return places, max(_FIRST_RING, -top + step)


def _many(
    ordered: Sequence[int], radii: Sequence[float], first: float, room: float
) -> tuple[dict[int, Place], float]:
    """Several rows, filled column by column, so that neighbours stay neighbours. The largest of a column is
    on the outermost row, where names have room, as far as they do not meet."""
    widest = max(radii[number] for number in ordered)
    rows, columns, widths = 0, [], [math.inf]
    while sum(widths) > math.tau * first:
        rows += 1
        groups = (ordered[at : at + rows] for at in range(0, len(ordered), rows))
        columns = [sorted(group, key=lambda one: radii[one]) for group in groups]
        widths = [2 * radii[column[-1]] + _GAP for column in columns]
    distances = [first + row * (2 * widest + _GAP) for row in range(rows)]
    angles = [place[2] for place in _on_ring(range(len(columns)), widths, first).values()]
    named = _with_names([column[-1] for column in columns], radii, angles, distances[-1])
    places = {
        number: (
            distance * math.cos(angle),
            distance * math.sin(angle),
            angle,
            room if number in named else 0.0,
        )
        for column, angle in zip(columns, angles, strict=True)
        for number, distance in zip(reversed(column), reversed(distances), strict=False)
    }
    return places, distances[-1] + widest + room


def _on_ring(
    ordered: Sequence[int], widths: Sequence[float], distance: float
) -> dict[int, tuple[float, float, float]]:
    whole, passed = sum(widths) / math.tau, 0.0
    places = {}
    for number, width in zip(ordered, widths, strict=True):
        angle = (passed + width / 2) / whole
        passed += width
        places[number] = (distance * math.cos(angle), distance * math.sin(angle), angle)
    return places


def _with_names(
    candidates: Sequence[int], radii: Sequence[float], angles: Sequence[float], distance: float
) -> set[int]:
    """The largest of them, as many as have room for a name beside each other."""
    taken: set[int] = set()  # slots, each as high as a name
    slots = max(1, int(math.tau * distance / (_LABEL_HEIGHT + 1)))
    chosen = set()
    for number, angle in sorted(zip(candidates, angles, strict=True), key=lambda each: -radii[each[0]]):
        slot = int(angle / math.tau * slots) % slots
        if not {slot, (slot + 1) % slots, (slot - 1) % slots} & taken:
            taken.add(slot)
            chosen.add(number)
    return chosen


# ── SVG ────────────────────────────────────────────────────────────────────────────────────────────────────


_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width} {height}" width="{width}" '
    'height="{height}" font-family="Helvetica, Arial, sans-serif" role="img">'
)
_ARROW_HEAD: Final = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0 8 4 0 8z" fill="#7a8593"/></marker></defs>'
)


def svg_lines(drawing: Drawing) -> list[str]:
    half = drawing.radius + _MARGIN
    unit = max(1.0, half / 500)  # the legend is readable when the whole picture is on one screen
    band = (len({spot.ring for spot in drawing.spots}) + 2) * 20 * unit
    width, height = f"{2 * half:.0f}", f"{2 * half + band:.0f}"
    top = f"{-half - band:.0f}"
    lines = [
        _SVG.format(left=f"{-half:.0f}", top=top, width=width, height=height),
        f"<title>{xml_text(f'{len(drawing.spots):,} domains, {drawing.links:,} links between them')}</title>",
        _ARROW_HEAD,
        f'<rect x="{-half:.0f}" y="{top}" width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    lines += _arrow_lines(drawing)
    lines += [_circle_line(spot) for spot in drawing.spots]
    lines += [_label_line(spot, flat=_is_flat(drawing)) for spot in drawing.spots if spot.room]
    return [*lines, *_legend_lines(drawing, -half + 16 * unit, -half - band + 22 * unit, unit), "</svg>"]


def _colour(ring: int) -> str:
    return _DEPTH_COLOURS[min(ring, len(_DEPTH_COLOURS) - 1)]


def _circle_line(spot: Spot) -> str:
    look = _KIND_LOOK.get(DomainKind(spot.kind), "")
    pages = "1 page" if spot.pages == 1 else f"{spot.pages:,} pages"
    return (
        f'<g class="domain"><title>{xml_text(f"{spot.name}: {spot.kind}, {pages}")}</title>'
        f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.r:.1f}" fill="{_colour(spot.ring)}" '
        f'fill-opacity="0.75" stroke="{_colour(spot.ring)}" stroke-width="1.2" {look}/></g>'
    )


def _arrow_lines(drawing: Drawing) -> list[str]:
    heaviest = max((weight for _, _, weight in drawing.arrows), default=1)
    many = len(drawing.arrows) > 150
    lines = [f'<g fill="none" stroke="#7a8593" stroke-opacity="{0.22 if many else 0.5}">']
    for source, target, weight in drawing.arrows:
        path = _arrow(drawing.spots[source], drawing.spots[target])
        if path:
            width = 0.6 + 2.4 * math.sqrt(weight / heaviest)
            lines.append(f'<path d="{path}" stroke-width="{width:.1f}" marker-end="url(#tip)"/>')
    return [*lines, "</g>"]


def _arrow(one: Spot, other: Spot) -> str:
    """Bent a little, so that both directions of a pair are seen; it ends at the circle's edge."""
    dx, dy = other.x - one.x, other.y - one.y
    distance = math.hypot(dx, dy)
    if distance < one.r + other.r + 2:
        return ""
    bx, by = (one.x + other.x) / 2 - dy * 0.1, (one.y + other.y) / 2 + dx * 0.1
    back = math.hypot(other.x - bx, other.y - by) or 1.0
    ex = other.x - (other.x - bx) / back * (other.r + 2)
    ey = other.y - (other.y - by) / back * (other.r + 2)
    return f"M{one.x:.1f} {one.y:.1f}Q{bx:.1f} {by:.1f} {ex:.1f} {ey:.1f}"


def shortened(name: str, letters: int) -> str:
    """Cut in the middle: names with a common beginning still differ in their end."""
    if len(name) <= letters:
        return name
    tail = max(1, letters * 2 // 3)
    return f"{name[: max(1, letters - tail - 1)]}…{name[-tail:]}"


def _is_flat(drawing: Drawing) -> bool:
    """Whether the names of the chosen domains are below them."""
    return sum(spot.ring == 0 for spot in drawing.spots) <= _FEW


def _label_line(spot: Spot, *, flat: bool) -> str:
    strong = spot.ring == 0
    look = f'font-size="{15 if strong else 11}"' + (' font-weight="bold"' if strong else "")
    halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3" fill="#1c2430"'
    if strong and flat:
        y = spot.y + spot.r + 14
        name = xml_text(spot.name)
        return f'<text x="{spot.x:.1f}" y="{y:.1f}" text-anchor="middle" {look} {halo}>{name}</text>'
    name = xml_text(shortened(spot.name, int(spot.room / (_STRONG_LETTER if strong else _LETTER)) + 1))
    degrees = math.degrees(spot.angle)
    flip = 90 < degrees % 360 < 270
    reach = spot.r + _BEFORE_NAME
    x = spot.x + math.cos(spot.angle) * reach
    y = spot.y + math.sin(spot.angle) * reach
    turn = degrees + 180 if flip else degrees
    anchor = "end" if flip else "start"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate({turn:.1f} {x:.1f} {y:.1f})" '
        f'text-anchor="{anchor}" dominant-baseline="central" {look} {halo}>{name}</text>'
    )


def _legend_lines(drawing: Drawing, x: float, y: float, unit: float) -> list[str]:
    unvisited = {spot.ring for spot in drawing.spots if spot.kind in _KIND_LOOK}
    lines = [f'<g transform="translate({x:.0f} {y:.0f}) scale({unit:.2f})">']
    rings = sorted({spot.ring for spot in drawing.spots})
    for row, ring in enumerate(rings):
        words = {0: "chosen", 1: "one link away"}.get(ring, f"{ring} links away")
        words = "not visited, or farther away" if ring in unvisited else words
        at = row * 20
        lines.append(f'<circle cx="6" cy="{at}" r="6" fill="{_colour(ring)}" fill-opacity="0.75"/>')
        lines.append(f'<text x="20" y="{at}" dominant-baseline="central" font-size="13">{words}</text>')
    said = f"{len(drawing.spots):,} domains, {drawing.links:,} links"
    shown = len(drawing.arrows)
    said += f", the {shown:,} strongest drawn" if shown < drawing.links else ""
    at = len(rings) * 20
    return [*lines, f'<text x="0" y="{at}" dominant-baseline="central" font-size="13">{said}</text>', "</g>"]


# ── the same in other forms ────────────────────────────────────────────────────────────────────────────────

_PNG_WIDTH: Final = 2400
# The name of what is pointed at is shown in a corner, where it covers nothing.
_SCRIPT: Final = """"use strict";
(() => {
  const svg = document.querySelector("svg"), about = document.getElementById("about");
  const box = svg.viewBox.baseVal, whole = [box.x, box.y, box.width, box.height];
  const zoom = (factor, x, y) => {
    const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
    box.x = at.x - (at.x - box.x) * factor; box.y = at.y - (at.y - box.y) * factor;
    box.width *= factor; box.height *= factor;
  };
  addEventListener("wheel", (event) => {
    event.preventDefault(); zoom(Math.exp(event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  let held = null;
  addEventListener("pointerdown", (event) => { held = event; });
  addEventListener("pointerup", () => { held = null; });
  addEventListener("pointermove", (event) => {
    const title = event.target.closest && event.target.closest(".domain");
    about.textContent = title ? title.querySelector("title").textContent : "";
    if (!held) return;
    const scale = 1 / svg.getScreenCTM().a;
    box.x -= (event.clientX - held.clientX) * scale; box.y -= (event.clientY - held.clientY) * scale;
    held = event;
  });
  addEventListener("dblclick", () => { [box.x, box.y, box.width, box.height] = whole; });
})();
"""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{digest}'; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Map</title>
<style>
html, body {{ margin: 0; height: 100%; overflow: hidden; }}
svg {{ width: 100%; height: 100%; cursor: grab; touch-action: none; user-select: none; }}
.domain:hover circle {{ stroke: #d500f9; stroke-width: 4; }}
#about, #how {{ position: fixed; right: 12px; font: 14px system-ui, sans-serif; color: #1c2430; }}
#about {{ top: 12px; }}
#how {{ bottom: 12px; color: #5b6472; }}
</style>
</head>
<body>
"""


def write_page(drawing: Drawing, file: BinaryIO) -> None:
    """One HTML file, which a browser opens offline: scroll to zoom, drag to move."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    file.write(_PAGE.format(digest=digest).encode())
    write_lines(file, svg_lines(drawing))
    file.write(b'<div id="about" role="status"></div>\n')
    file.write(b"<div id=how>scroll to zoom, drag to move, double-click for all of it</div>\n")
    file.write(f"<script>{_SCRIPT}</script>\n</body>\n</html>\n".encode())


def write_png(drawing: Drawing, file: BinaryIO) -> None:
    try:
        import resvg_py
    except ImportError:
        raise UsageError(
            "a PNG needs resvg, which is not installed; pip install 'sumi[picture]' brings it (3 MB), and "
            "--format svg needs nothing"
        ) from None
    file.write(bytes(resvg_py.svg_to_bytes(svg_string="\n".join(svg_lines(drawing)), width=_PNG_WIDTH)))

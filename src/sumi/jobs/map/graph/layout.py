"""Where things are on the picture of a terrain: communities of domains beside each other, the domains of a
community likewise, and the pages of a domain as dots within its area, the most linked to in the middle."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from sumi.jobs.map.graph.packing import Circle, enclosing, pack

DOT: Final = 1.0  # the distance of two dots is about twice this
_MARGIN: Final = 1.6  # of an area, around its dots
_SHORE: Final = 4.0  # around a community at most, so that one can tell where it ends
_GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))


def area_radius(pages: int) -> float:
    return DOT * 1.9 * math.sqrt(max(1, pages)) + _MARGIN


def dots(area: Circle, pages: int) -> Iterator[tuple[float, float]]:
    """As seeds lie in a sunflower: evenly, from the middle outwards."""
    for number in range(pages):
        distance = DOT * 1.9 * math.sqrt(number + 0.5) if pages > 1 else 0.0
        angle = number * _GOLDEN_ANGLE
        yield area.x + distance * math.cos(angle), area.y + distance * math.sin(angle)


def lay_out(radii: Sequence[float], communities: Sequence[int]) -> list[Circle]:
    """An area of each radius, those of a community together."""
    members: dict[int, list[int]] = defaultdict(list)
    for number in sorted(range(len(radii)), key=lambda one: -radii[one]):
        members[communities[number]].append(number)
    packed = {name: pack([radii[number] for number in group]) for name, group in members.items()}
    shores = {name: enclosing(circles) for name, circles in packed.items()}
    order = sorted(members, key=lambda name: -shores[name].r)
    # Where all areas are small, as wide a shore would be most of the picture.
    shore = min(_SHORE, median(radii) / 2) if radii else 0.0
    places = pack([shores[name].r + shore for name in order])
    areas = [Circle(0.0, 0.0, 0.0)] * len(radii)
    for name, place in zip(order, places, strict=True):
        dx, dy = place.x - shores[name].x, place.y - shores[name].y
        for number, circle in zip(members[name], packed[name], strict=True):
            areas[number] = Circle(circle.x + dx, circle.y + dy, circle.r)
    return areas

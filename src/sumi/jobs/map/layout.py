"""The layout of a map's picture: domains are circles, grouped by community; the pages of a domain are dots
within its circle, the most linked in the middle."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

import numpy as np

_TOUCHING: Final = 1e-6  # tolerance, so that rounding does not make touching circles overlap


class Circle(NamedTuple):
    x: float
    y: float
    r: float


def pack(radii: Sequence[float]) -> list[Circle]:
    """Circles without overlap, in the order of ``radii``. The largest are placed first, from the middle
    outwards, which is tightest.

    Front-chain packing: each new circle touches two neighbours of the outline, where the outline is nearest
    to the middle. numpy tests a place against all circles at once: 20,000 of them take seconds.
    """
    order = sorted(range(len(radii)), key=lambda number: -radii[number])
    packed = _pack_sorted([radii[number] for number in order])
    circles = [Circle(0.0, 0.0, 0.0)] * len(radii)
    for number, circle in zip(order, packed, strict=True):
        circles[number] = circle
    return circles


def _pack_sorted(radii: Sequence[float]) -> list[Circle]:
    if len(radii) < 3:
        return _few(radii)
    first, second = _few(radii[:2])
    outline = _Outline([first, second, _beside(second, first, radii[2])], len(radii))
    for radius in radii[3:]:
        outline.add(radius)
    return outline.circles


def enclosing(circles: Sequence[Circle]) -> Circle:
    """A circle around them all, centred on their centre of mass: close to the smallest."""
    area = sum(one.r**2 for one in circles) or 1.0
    x = sum(one.x * one.r**2 for one in circles) / area
    y = sum(one.y * one.r**2 for one in circles) / area
    return Circle(x, y, max((math.hypot(one.x - x, one.y - y) + one.r for one in circles), default=0.0))


class _Outline:
    """The circles so far, and the ring of those on the outside, counterclockwise."""

    def __init__(self, three: list[Circle], most: int) -> None:
        self.circles: list[Circle] = []
        self._table = np.zeros((3, most))  # x, y and radius of each
        self._next = [1, 2, 0]
        self._before = [2, 0, 1]
        # A heap of neighbours, nearest to the middle first. Pairs that are no longer neighbours are dropped
        # when they come up.
        self._gaps: list[tuple[float, int, int]] = []
        for circle in three:
            self._keep(circle)
        for left, right in enumerate(self._next):
            self._join(left, right)

    def add(self, radius: float) -> None:
        while self._gaps:
            _, left, right = self._gaps[0]
            if self._is_gap(left, right) and self._fit(left, right, radius):
                return
            heapq.heappop(self._gaps)
        self._keep(self._far_out(radius))

    def _is_gap(self, left: int, right: int) -> bool:
        return self._next[left] == right and self._before[right] == left

    def _fit(self, left: int, right: int, radius: float) -> bool:
        while True:
            circle = _beside(self.circles[left], self.circles[right], radius)
            if self._is_free(circle):
                self._insert(left, circle, right)
                return True
            hit, on_the_right = self._first_hit(left, right, circle)
            if hit < 0:  # the two are so far apart that the obstacle is inside the ring
                return False
            left, right = (left, hit) if on_the_right else (hit, right)
            self._join(left, right)  # the circles in between are inside now

    def _insert(self, left: int, circle: Circle, right: int) -> None:
        number = len(self.circles)
        self._keep(circle)
        self._next.append(right)
        self._before.append(left)
        self._join(left, number)
        self._join(number, right)

    def _far_out(self, radius: float) -> Circle:
        edge = max(math.hypot(one.x, one.y) + one.r for one in self.circles)
        return Circle(edge + radius, 0.0, radius)

    def _keep(self, circle: Circle) -> None:
        self._table[:, len(self.circles)] = circle
        self.circles.append(circle)

    def _is_free(self, circle: Circle) -> bool:
        x, y, radii = self._table[:, : len(self.circles)]
        reach = np.maximum(radii + (circle.r - _TOUCHING), 0.0)
        return not bool(np.any((x - circle.x) ** 2 + (y - circle.y) ** 2 < reach * reach))

    def _join(self, left: int, right: int) -> None:
        self._next[left] = right
        self._before[right] = left
        heapq.heappush(self._gaps, (self._distance(left, right), left, right))

    def _first_hit(self, left: int, right: int, circle: Circle) -> tuple[int, bool]:
        """The nearest overlapping circle along the ring, and whether it is to the right; -1 if none."""
        ahead, behind = self._next[right], self._before[left]
        way_ahead, way_behind = self.circles[right].r, self.circles[left].r
        end = left  # where both directions meet
        while ahead != end:
            if way_ahead <= way_behind:
                if _overlap(self.circles[ahead], circle):
                    return ahead, True
                way_ahead += self.circles[ahead].r
                ahead = self._next[ahead]
            else:
                if _overlap(self.circles[behind], circle):
                    return behind, False
                way_behind += self.circles[behind].r
                end, behind = behind, self._before[behind]
        return -1, False

    def _distance(self, left: int, right: int) -> float:
        """The squared distance from the middle to where two neighbours touch, or would."""
        one, other = self.circles[left], self.circles[right]
        both = one.r + other.r
        x = (one.x * other.r + other.x * one.r) / both
        y = (one.y * other.r + other.y * one.r) / both
        return x * x + y * y


def _few(radii: Sequence[float]) -> list[Circle]:
    if len(radii) < 2:
        return [Circle(0.0, 0.0, radius) for radius in radii]
    return [Circle(-radii[1], 0.0, radii[0]), Circle(radii[0], 0.0, radii[1])]


def _beside(left: Circle, right: Circle, radius: float) -> Circle:
    """Touching both, outside the line from ``left`` to ``right``."""
    dx, dy = right.x - left.x, right.y - left.y
    distance = math.hypot(dx, dy)
    to_left, to_right = left.r + radius, right.r + radius
    along = (distance**2 + to_left**2 - to_right**2) / (2 * distance)
    aside = math.sqrt(max(0.0, to_left**2 - along**2))
    ux, uy = dx / distance, dy / distance
    return Circle(left.x + ux * along + uy * aside, left.y + uy * along - ux * aside, radius)


def _overlap(one: Circle, other: Circle) -> bool:
    reach = one.r + other.r - _TOUCHING
    return reach > 0 and (one.x - other.x) ** 2 + (one.y - other.y) ** 2 < reach * reach


DOT: Final = 1.0  # half the distance between two dots, about
_MARGIN: Final = 1.6  # around the dots of an area
_SHORE: Final = 4.0  # the widest gap around a community
_GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))


def area_radius(pages: int) -> float:
    return DOT * 1.9 * math.sqrt(max(1, pages)) + _MARGIN


def dots(area: Circle, pages: int) -> Iterator[tuple[float, float]]:
    """Like the seeds of a sunflower: evenly, from the middle outwards."""
    for number in range(pages):
        distance = DOT * 1.9 * math.sqrt(number + 0.5) if pages > 1 else 0.0
        angle = number * _GOLDEN_ANGLE
        yield area.x + distance * math.cos(angle), area.y + distance * math.sin(angle)


def lay_out(radii: Sequence[float], communities: Sequence[int]) -> list[Circle]:
    """An area for each radius, those of a community together."""
    members: dict[int, list[int]] = defaultdict(list)
    for number in sorted(range(len(radii)), key=lambda one: -radii[one]):
        members[communities[number]].append(number)
    packed = {name: pack([radii[number] for number in group]) for name, group in members.items()}
    shores = {name: enclosing(circles) for name, circles in packed.items()}
    order = sorted(members, key=lambda name: -shores[name].r)
    # With small areas, the widest shore would be most of the picture.
    shore = min(_SHORE, median(radii) / 2) if radii else 0.0
    places = pack([shores[name].r + shore for name in order])
    areas = [Circle(0.0, 0.0, 0.0)] * len(radii)
    for name, place in zip(order, places, strict=True):
        dx, dy = place.x - shores[name].x, place.y - shores[name].y
        for number, circle in zip(members[name], packed[name], strict=True):
            areas[number] = Circle(circle.x + dx, circle.y + dy, circle.r)
    return areas

"""When sitemaps say that pages were changed: for a run as long as it lasts, in 16 bytes a page.

A page's URL takes ten times as much in any frontier that knows it, so this grows with what is known anyway.
A page is told by a hash of its URL that is another one in every process; should two pages share one, neither
has a date.
"""

from array import array
from bisect import bisect_left
from collections.abc import Mapping
from heapq import merge
from typing import Final

# Smaller tables are joined, so that many small sitemaps are few tables to look into.
_SMALL: Final = 16_384


class _Table:
    """Dates by hash, in the order of the hashes."""

    __slots__ = ("dates", "keys")

    def __init__(self) -> None:
        self.keys = array("q")
        self.dates = array("d")

    def add(self, key: int, date: float) -> None:
        self.keys.append(key)
        self.dates.append(date)


class ListedDates:
    def __init__(self) -> None:
        self._tables: list[_Table] = []

    def take(self, dates: Mapping[str, float]) -> None:
        """What one sitemap says."""
        if not dates:
            return
        table = _Table()
        for key, date in sorted((hash(url), date) for url, date in dates.items()):
            table.add(key, date)
        self._tables.append(table)
        while len(self._tables) > 1 and all(len(last.keys) < _SMALL for last in self._tables[-2:]):
            self._tables.append(_joined(self._tables.pop(), self._tables.pop()))

    def of(self, url: str) -> float | None:
        """None where no sitemap dates the page, or two of them do not agree."""
        key, found = hash(url), set[float]()
        for table in self._tables:
            place = bisect_left(table.keys, key)
            while place < len(table.keys) and table.keys[place] == key:
                found.add(table.dates[place])
                place += 1
        return found.pop() if len(found) == 1 else None


def _joined(one: _Table, other: _Table) -> _Table:
    table = _Table()
    for key, date in merge(zip(one.keys, one.dates, strict=True), zip(other.keys, other.dates, strict=True)):
        table.add(key, date)
    return table

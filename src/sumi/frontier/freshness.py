"""When a page has to be requested again, by HTTP caching, by the dates in sitemaps and by how often it
changed before, and how to ask whether it changed.

The cache is private: directives for shared caches (s-maxage, private) do not apply to it.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from heapq import merge
from typing import Final

import msgspec

NOT_MODIFIED: Final = 304

# RFC 9110: W/ for a weak one, then quotes around anything but quotes, blanks and controls.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"\Z')
_HTTP_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT\Z"
)
_LONGEST_ETAG = 1024
_NAMES = frozenset({"if-none-match", "if-modified-since"})


def conditional_headers(etag: str | None, last_modified: str | None) -> tuple[tuple[str, str], ...]:
    """The server's validators, sent back unchanged; a malformed one is left out."""
    fields: list[tuple[str, str]] = []
    if etag is not None and len(etag) <= _LONGEST_ETAG and _ETAG.match(etag):
        fields.append(("If-None-Match", etag))
    if last_modified is not None and _HTTP_DATE.match(last_modified):
        fields.append(("If-Modified-Since", last_modified))
    return tuple(fields)


def is_conditional(headers: tuple[tuple[str, str], ...]) -> bool:
    """Whether a request with these headers may be answered with 304."""
    return any(name.lower() in _NAMES for name, _ in headers)


# A directive's name and, where it has one, its value, quoted or not.
_DIRECTIVE = re.compile(r'(?:^|,)[ \t]*([a-z-]+)[ \t]*(?:=[ \t]*("[^"]*"|[^,"]*))?', re.IGNORECASE)
_UNCACHEABLE = frozenset({"no-cache", "no-store"})
_MAX_DIGITS = 10  # three centuries of seconds; a server may send any number of digits
_LONGEST = 4096  # characters of a field that are read


def vouched_seconds(headers: tuple[tuple[str, str], ...], now: float) -> float | None:
    """How long the response stays fresh. 0: revalidate every time. None: the server does not say."""
    fields = {name: value[:_LONGEST] for name, value in reversed(headers)}
    if "*" in varied_by(headers):
        return 0.0
    controls = ", ".join(value[:_LONGEST] for name, value in headers if name == "cache-control")
    said = {name.lower(): value.strip('" \t') for name, value in _DIRECTIVE.findall(controls)}
    if _UNCACHEABLE & said.keys():
        return 0.0
    if "max-age" in said:
        return max(0.0, _seconds(said["max-age"]) - _seconds(fields.get("age", "0")))
    if not said and fields.get("pragma", "").strip().lower() == "no-cache":
        return 0.0
    if "expires" not in fields:
        return None
    return max(0.0, _moment(fields["expires"], 0.0) - _moment(fields.get("date", ""), now))


def varied_by(headers: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The request headers, in lower case, that the response depends on; "*": on more than headers."""
    named = ",".join(value[:_LONGEST] for name, value in headers if name == "vary")
    return frozenset(filter(None, (name.strip().lower() for name in named.split(","))))


def _seconds(text: str) -> float:
    """0 for anything but a number: better to request the page once too often."""
    text = text.strip()
    return float(text[:_MAX_DIGITS]) if text.isascii() and text.isdigit() else 0.0


def _moment(text: str, otherwise: float) -> float:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return otherwise


# Smaller tables are merged, so that many small sitemaps end up in few tables.
_SMALL: Final = 16_384


class _Table:
    """Dates by hash, sorted by hash."""

    __slots__ = ("dates", "keys")

    def __init__(self) -> None:
        self.keys = array("q")
        self.dates = array("d")

    def add(self, key: int, date: float) -> None:
        self.keys.append(key)
        self.dates.append(date)


class ListedDates:
    """When sitemaps say that pages changed; kept for the length of a run, at 16 bytes per page.

    A page's URL takes ten times as much in any frontier that knows it, so this adds little. A page is
    identified by a hash of its URL, salted per process; if two pages share a hash, neither has a date.
    """

    def __init__(self) -> None:
        self._tables: list[_Table] = []

    def take(self, dates: Mapping[str, float]) -> None:
        """Add the dates of one sitemap."""
        if not dates:
            return
        table = _Table()
        for key, date in sorted((hash(url), date) for url, date in dates.items()):
            table.add(key, date)
        self._tables.append(table)
        while len(self._tables) > 1 and all(len(last.keys) < _SMALL for last in self._tables[-2:]):
            self._tables.append(_merged(self._tables.pop(), self._tables.pop()))

    def of(self, url: str) -> float | None:
        """None if no sitemap dates the page, or if two disagree."""
        key, found = hash(url), set[float]()
        for table in self._tables:
            place = bisect_left(table.keys, key)
            while place < len(table.keys) and table.keys[place] == key:
                found.add(table.dates[place])
                place += 1
        return found.pop() if len(found) == 1 else None


def _merged(one: _Table, other: _Table) -> _Table:
    table = _Table()
    for key, date in merge(zip(one.keys, one.dates, strict=True), zip(other.keys, other.dates, strict=True)):
        table.add(key, date)
    return table


# ── by its history ─────────────────────────────────────────────────────────────────────────────────────────


# The last changes that count: a page that was busy a year ago need not be busy now.
_RECENT: Final = 5


class RevisitBounds(msgspec.Struct, frozen=True):
    least: float = 12 * 3600.0  # seconds
    most: float = 30 * 86_400.0


def ask_again_at(asked: float, seen: Sequence[float], bounds: RevisitBounds) -> float:
    """``asked``: when the page was last asked for. ``seen``: when each of its versions was first seen, the
    oldest first, the first one included.

    Half the time between changes that the recent ones suggest, counting one that is yet to come: a page that
    never changed is asked at times that grow by half.
    """
    recent = seen[-_RECENT:]
    if not recent:
        return asked
    changes = len(recent) - 1
    pause = (asked - recent[0]) / (2 * (changes + 1))
    return asked + min(max(pause, bounds.least), bounds.most)

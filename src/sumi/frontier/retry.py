"""Retries: which failures get one, after how long (back-off, or ``Retry-After``), and where they wait."""

import heapq
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TypeAlias

from sumi.frontier.pacing import INFINITY
from sumi.outcomes import TRANSIENT, UNREACHABLE, Outcome
from sumi.policy import RetryPolicy

# What the next run tries again. Unreachable hosts too: its flags may differ (--allow-private, --ca-file).
WORTH_ANOTHER_RUN = TRANSIENT | UNREACHABLE


def retry_delay(outcome: Outcome, attempt: int, policy: RetryPolicy, jitter: float) -> float | None:
    """Seconds to wait before attempt number ``attempt + 1``, or None to give up.

    Exponential, plus up to half as much again (``jitter`` is uniform in [0, 1)), so that pages that failed
    together do not come back together. Never less than the step itself, never more than the longest delay.
    """
    if outcome not in (policy.only or TRANSIENT) or attempt >= policy.retries:
        return None
    if policy.steady:
        return policy.first_delay
    step: float = policy.first_delay * 2**attempt * (1 + jitter / 2)
    return min(step, policy.max_delay)


_SECONDS = re.compile(r"[0-9]+\Z")
_FOREVER = 1e12  # stands for a number of too many digits; the caller clamps it
_LONGEST_NUMBER = 12  # digits

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_DATES = tuple(
    re.compile(pattern + r"\Z", re.IGNORECASE)
    for pattern in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{2}}) (?P<month>[a-z]{{3}}) (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-(?P<month>[a-z]{{3}})-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) (?P<day>[0-9 ][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)


def retry_after_seconds(value: str, now: float) -> float | None:
    """Seconds from ``now``; a date in the past is 0, anything but a whole number or an HTTP date is None."""
    text = value.strip(" \t")
    if _SECONDS.match(text):
        digits = text.lstrip("0") or "0"
        return float(digits) if len(digits) <= _LONGEST_NUMBER else _FOREVER
    when = _http_date(text, now)
    return None if when is None else max(0.0, when - now)


def _http_date(text: str, now: float) -> float | None:
    """The three forms of an HTTP date, as a time since the epoch."""
    for pattern in _DATES:
        match = pattern.match(text)
        if match is not None:
            return _timestamp(match.groupdict(), now)
    return None


def _timestamp(parts: dict[str, str], now: float) -> float | None:
    try:
        return datetime(
            _full_year(parts["year"], now),
            _MONTHS[parts["month"].lower()],
            int(parts["day"]),
            int(parts["hour"]),
            int(parts["minute"]),
            min(int(parts["second"]), 59),  # a leap second is valid in HTTP, not in datetime
            tzinfo=UTC,
        ).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None


def _full_year(digits: str, now: float) -> int:
    """A two-digit year that seems more than 50 years ahead is in the past (RFC 9110)."""
    year = int(digits)
    if len(digits) > 2:
        return year
    this_year = datetime.fromtimestamp(now, UTC).year
    year += this_year - this_year % 100
    return year - 100 if year > this_year + 50 else year


class DelayedUrls:
    """URLs that wait for a time of their own, ordered by when it comes."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []

    def put(self, url: str, not_before: float) -> None:
        heapq.heappush(self._heap, (not_before, url))

    def take_due(self, now: float) -> list[str]:
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[1])
        return due

    def next_at(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def urls(self) -> Iterator[str]:
        return (url for _, url in self._heap)

    def __len__(self) -> int:
        return len(self._heap)


Lane: TypeAlias = list[tuple[float, int, str]]  # a heap: when it is due, discovery order, URL


class Retries:
    """URLs that failed before, by host, pages apart from the rest.

    They come after everything of the host that was never requested; each lane is ordered by due time.
    """

    def __init__(self) -> None:
        self._lanes: dict[str, tuple[Lane, Lane]] = {}  # by host; pages in the second

    def __contains__(self, host: str) -> bool:
        return host in self._lanes

    def hosts(self) -> Iterable[str]:
        return self._lanes

    def forget(self, host: str) -> None:
        self._lanes.pop(host, None)

    def put(self, host: str, is_page: bool, due: float, sequence: int, url: str) -> None:
        lanes = self._lanes.setdefault(host, ([], []))
        heapq.heappush(lanes[is_page], (due, sequence, url))

    def first_due(self, host: str, is_page: bool) -> float:
        """When the first is due; ``inf`` if there is none."""
        lanes = self._lanes.get(host)
        return lanes[is_page][0][0] if lanes and lanes[is_page] else INFINITY

    def take(self, host: str, is_page: bool, now: float) -> str | None:
        """The first, if it is due."""
        if self.first_due(host, is_page) > now:
            return None
        lanes = self._lanes[host]
        url = heapq.heappop(lanes[is_page])[2]
        if not lanes[not is_page] and not lanes[is_page]:
            del self._lanes[host]
        return url

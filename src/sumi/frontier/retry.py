"""Which failures are worth another try, and after how long: by our own back-off, or by ``Retry-After``."""

import re
from datetime import UTC, datetime

from sumi.outcomes import TRANSIENT, UNREACHABLE, Outcome
from sumi.policy import RetryPolicy

# What the next run tries again: also what may be another matter with its flags (--allow-private, --ca-file).
WORTH_ANOTHER_RUN = TRANSIENT | UNREACHABLE


def retry_delay(outcome: Outcome, attempt: int, policy: RetryPolicy, jitter: float) -> float | None:
    """Seconds to wait before attempt number ``attempt + 1``, or None to give up.

    Exponential, and up to half as long again (``jitter`` is uniform in [0, 1)), so that many pages that
    failed together do not come back together. Never sooner than the step itself, nor later than the longest.
    """
    if outcome not in (policy.only or TRANSIENT) or attempt >= policy.retries:
        return None
    if policy.steady:
        return policy.first_delay
    step: float = policy.first_delay * 2**attempt * (1 + jitter / 2)
    return min(step, policy.max_delay)


_SECONDS = re.compile(r"[0-9]+\Z")
_FOREVER = 1e12  # what a number too long to be meant is read as; the caller clamps it anyway
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
    """A two-digit year that seems more than 50 years ahead is the past one with these digits (RFC 9110)."""
    year = int(digits)
    if len(digits) > 2:
        return year
    this_year = datetime.fromtimestamp(now, UTC).year
    year += this_year - this_year % 100
    return year - 100 if year > this_year + 50 else year

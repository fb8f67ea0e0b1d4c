"""What a server says about keeping its answer: for how long it vouches for it, and by what it varies.

The keeper is one user's own, so what is said to shared caches only (s-maxage, private) does not concern it.
"""

import re
from email.utils import parsedate_to_datetime

# A directive's name and, where it has one, its value, quoted or not.
_DIRECTIVE = re.compile(r'(?:^|,)[ \t]*([a-z-]+)[ \t]*(?:=[ \t]*("[^"]*"|[^,"]*))?', re.IGNORECASE)
_UNKEPT = frozenset({"no-cache", "no-store"})
_MOST_DIGITS = 10  # more seconds than three centuries have; a server may write any number of them
_LONGEST = 4096  # characters of a field that are looked at


def vouched_seconds(headers: tuple[tuple[str, str], ...], now: float) -> float | None:
    """0: it wants to be asked every time. None: it says nothing about it."""
    fields = {name: value[:_LONGEST] for name, value in reversed(headers)}
    if "*" in varied_by(headers):
        return 0.0
    controls = ", ".join(value[:_LONGEST] for name, value in headers if name == "cache-control")
    said = {name.lower(): value.strip('" \t') for name, value in _DIRECTIVE.findall(controls)}
    if _UNKEPT & said.keys():
        return 0.0
    if "max-age" in said:
        return max(0.0, _seconds(said["max-age"]) - _seconds(fields.get("age", "0")))
    if not said and fields.get("pragma", "").strip().lower() == "no-cache":
        return 0.0
    if "expires" not in fields:
        return None
    return max(0.0, _moment(fields["expires"], 0.0) - _moment(fields.get("date", ""), now))


def varied_by(headers: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The headers of a request, in lower case, that decided which answer came; "*" for more than those."""
    named = ",".join(value[:_LONGEST] for name, value in headers if name == "vary")
    return frozenset(filter(None, (name.strip().lower() for name in named.split(","))))


def _seconds(text: str) -> float:
    """What is no number counts as none at all, so that the page is rather asked for."""
    text = text.strip()
    return float(text[:_MOST_DIGITS]) if text.isascii() and text.isdigit() else 0.0


def _moment(text: str, otherwise: float) -> float:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return otherwise

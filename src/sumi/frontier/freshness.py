"""HTTP caching: when a page has to be requested again, and how to ask whether it changed.

The cache is one user's own, so directives for shared caches only (s-maxage, private) do not concern it.
"""

import re
from email.utils import parsedate_to_datetime

# RFC 9110: W/ for a weak one, then quotes around anything but quotes, blanks and controls.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"\Z')
_HTTP_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT\Z"
)
_LONGEST_ETAG = 1024
_NAMES = frozenset({"if-none-match", "if-modified-since"})


def conditional_headers(etag: str | None, last_modified: str | None) -> tuple[tuple[str, str], ...]:
    """The server's validators, sent back as they came; one that is not well-formed is left out."""
    fields: list[tuple[str, str]] = []
    if etag is not None and len(etag) <= _LONGEST_ETAG and _ETAG.match(etag):
        fields.append(("If-None-Match", etag))
    if last_modified is not None and _HTTP_DATE.match(last_modified):
        fields.append(("If-Modified-Since", last_modified))
    return tuple(fields)


def is_conditional(headers: tuple[tuple[str, str], ...]) -> bool:
    """Whether "not modified" would be an answer to a request with these headers."""
    return any(name.lower() in _NAMES for name, _ in headers)


# A directive's name and, where it has one, its value, quoted or not.
_DIRECTIVE = re.compile(r'(?:^|,)[ \t]*([a-z-]+)[ \t]*(?:=[ \t]*("[^"]*"|[^,"]*))?', re.IGNORECASE)
_UNKEPT = frozenset({"no-cache", "no-store"})
_MOST_DIGITS = 10  # more seconds than three centuries have; a server may write any number of them
_LONGEST = 4096  # characters of a field that are looked at


def vouched_seconds(headers: tuple[tuple[str, str], ...], now: float) -> float | None:
    """For how long the answer stays fresh. 0: revalidate every time. None: the server does not say."""
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

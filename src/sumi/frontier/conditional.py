"""Asking for a page only if it changed since: the validators that a server gave, sent back as they were."""

import re

# RFC 9110: W/ for a weak one, then quotes around anything but quotes, blanks and controls.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"\Z')
_HTTP_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT\Z"
)
_LONGEST = 1024
_NAMES = frozenset({"if-none-match", "if-modified-since"})


def conditional_headers(etag: str | None, last_modified: str | None) -> tuple[tuple[str, str], ...]:
    """Header fields for a request; a validator that is not well-formed is left out, so it can do no harm."""
    fields: list[tuple[str, str]] = []
    if etag is not None and len(etag) <= _LONGEST and _ETAG.match(etag):
        fields.append(("If-None-Match", etag))
    if last_modified is not None and _HTTP_DATE.match(last_modified):
        fields.append(("If-Modified-Since", last_modified))
    return tuple(fields)


def is_conditional(headers: tuple[tuple[str, str], ...]) -> bool:
    """Whether "not modified" would be an answer to a request with these headers."""
    return any(name.lower() in _NAMES for name, _ in headers)

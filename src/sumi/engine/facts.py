"""What is recorded of an answer and of a page, whatever a job then makes of it."""

from typing import Final

import msgspec

from sumi.files.plain_text import one_line
from sumi.model import PageFacts, Response
from sumi.parse.page.digest import PageDigest

# Far above any real title or description, and below what makes a list of 50,000 of them unwieldy.
TITLE_CHARACTERS: Final = 1000
DESCRIPTION_CHARACTERS: Final = 2000
LANGUAGE_CHARACTERS: Final = 64
_SIGNAL_CHARACTERS = 1000


def page_facts(response: Response, digest: PageDigest) -> PageFacts:
    """All but what is kept of the page, and where."""
    return PageFacts(
        status=response.status,
        content_type=response.header("content-type"),
        title=_short(digest.title, TITLE_CHARACTERS),
        language=_short(digest.language, LANGUAGE_CHARACTERS),
        description=_short(digest.description, DESCRIPTION_CHARACTERS),
        canonical=digest.canonical,
        robots_meta=_robots(response, digest),
        etag=response.header("etag"),
        last_modified=response.header("last-modified"),
        body_bytes=len(response.body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
        links=len(digest.links) + digest.links_dropped,
        fidelity=digest.fidelity,
        shortfalls=tuple(digest.shortfalls),
    )


def bare_facts(response: Response | None, location: str | None) -> PageFacts:
    if response is None:
        return PageFacts()
    return PageFacts(
        status=response.status,
        content_type=response.header("content-type"),
        location=location,
        body_bytes=len(response.body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
    )


def with_permissions(
    facts: PageFacts, response: Response, digest: PageDigest, robots_rule: str, signals: tuple[str, ...]
) -> PageFacts:
    """Kept with the page, for it is read when nobody can ask any more."""
    headers = tuple(value.strip() for name, value in response.headers if name == "content-signal")
    said = dict.fromkeys(filter(None, (*signals, *headers)))
    return msgspec.structs.replace(
        facts,
        robots_rule=robots_rule,
        content_signal=", ".join(said)[:_SIGNAL_CHARACTERS] or None,
        licenses=tuple(digest.licenses),
    )


def _robots(response: Response, digest: PageDigest) -> str | None:
    headers = [value for name, value in response.headers if name == "x-robots-tag"]
    return ", ".join(filter(None, [digest.robots_meta, *headers])) or None


def _short(text: str | None, limit: int) -> str | None:
    return (one_line(text, limit) or None) if text else None

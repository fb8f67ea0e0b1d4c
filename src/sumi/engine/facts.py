"""What is recorded of an answer: what came, and what its site says about the use of it."""

import msgspec

from sumi.model import PageFacts, Response
from sumi.parse.page.digest import PageDigest

_SIGNAL_CHARACTERS = 1000


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

"""One mirrored page: the bytes of its file, and what is recorded of it."""

from hashlib import sha256

import msgspec

from sumi.model import PageFacts, Response, Timing
from sumi.outputs.front_matter import front_matter
from sumi.outputs.plain_text import iso_utc, one_line
from sumi.parse.digest import PageDigest
from sumi.ports import UrlRecord

# Far above any real title or description, and below what makes a manifest of 50,000 of them unwieldy.
TITLE_CHARACTERS = 1000
DESCRIPTION_CHARACTERS = 2000
LANGUAGE_CHARACTERS = 64

HEAD_END = b"\n---\n\n"


def compose_page(url: str, response: Response, digest: PageDigest) -> tuple[bytes, PageFacts]:
    """Front matter, an empty line, Markdown with one newline at its end. The facts lack only the path."""
    facts = page_facts(response, digest)
    body, body_hash = _body(digest)
    head = front_matter(
        title=facts.title,
        url=url,
        fetched_at=iso_utc(response.timing.finished),
        sha256=body_hash,
        description=facts.description,
        language=facts.language,
    )
    data = f"{head}\n".encode() + body
    return data, msgspec.structs.replace(facts, size=len(data), sha256=body_hash)


def recompose_page(record: UrlRecord, body: bytes, digest: PageDigest) -> tuple[bytes, PageFacts]:
    """The same page made again from its stored body: what is recorded of its fetching stays."""
    then = record.facts
    fetched = then.fetched_at or 0.0
    response = Response(record.url, then.status or 0, (), body, Timing(fetched, fetched, fetched))
    data, made = compose_page(record.url, response, digest)
    return data, msgspec.structs.replace(
        then,
        title=made.title,
        language=made.language,
        description=made.description,
        canonical=made.canonical,
        size=made.size,
        sha256=made.sha256,
        links=made.links,
        fidelity=made.fidelity,
        shortfalls=made.shortfalls,
        simhash=None if digest.simhash is None else f"{digest.simhash:016x}",
    )


def is_whole(data: bytes, facts: PageFacts) -> bool:
    """Whether a file is the one that was recorded. After a power cut it may be short, or of zeros."""
    head, _, body = data.partition(HEAD_END)
    right_size = len(data) == facts.size and b"\0" not in head
    return right_size and sha256(body).hexdigest() == facts.sha256


def _body(digest: PageDigest) -> tuple[bytes, str]:
    """The Markdown as it is written, and its hash: the digest's own where that is of exactly these bytes."""
    text = (digest.markdown or "").strip("\n") + "\n"
    body = text.encode("utf-8", "replace")
    if digest.sha256 and text == digest.markdown:
        return body, digest.sha256
    return body, sha256(body).hexdigest()


def page_facts(response: Response, digest: PageDigest) -> PageFacts:
    """What is recorded of a page, but for the file that is made of it."""
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


def _robots(response: Response, digest: PageDigest) -> str | None:
    headers = [value for name, value in response.headers if name == "x-robots-tag"]
    return ", ".join(filter(None, [digest.robots_meta, *headers])) or None


def _short(text: str | None, limit: int) -> str | None:
    return (one_line(text, limit) or None) if text else None

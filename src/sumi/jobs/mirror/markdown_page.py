"""One mirrored page: the bytes of its file, and the facts recorded about it."""

import re
from hashlib import sha256
from typing import Final

import msgspec

from sumi.catalogue.pages import HEAD_END as HEAD_END
from sumi.engine.answers import page_facts
from sumi.files.plain_text import front_matter, iso_utc
from sumi.model import PageFacts, Response, Timing
from sumi.parse.page.digest import PageDigest
from sumi.ports import UrlRecord

_HASH_LINE: Final = re.compile(rb'^sha256: "[0-9a-f]*"$', re.MULTILINE)


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
    """The same page made again from its stored body; the facts about its fetch stay."""
    then = record.facts
    fetched = then.fetched_at or 0.0
    response = Response(record.target, then.status or 0, (), body, Timing(fetched, fetched, fetched))
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
        left_out=made.left_out,
        simhash=None if digest.simhash is None else f"{digest.simhash:016x}",
    )


def with_body(data: bytes, facts: PageFacts, body: bytes) -> tuple[bytes, PageFacts]:
    """The file of a page and its facts, with other Markdown below the same front matter."""
    head, end, _ = data.partition(HEAD_END)
    digest = sha256(body).hexdigest()
    new = _HASH_LINE.sub(b'sha256: "%s"' % digest.encode(), head, count=1) + end + body
    return new, msgspec.structs.replace(facts, size=len(new), sha256=digest)


def is_whole(data: bytes, facts: PageFacts) -> bool:
    """Whether a file is as recorded. After a power cut it may be short or contain zeros."""
    head, _, body = data.partition(HEAD_END)
    right_size = len(data) == facts.size and b"\0" not in head
    return right_size and sha256(body).hexdigest() == facts.sha256


def _body(digest: PageDigest) -> tuple[bytes, str]:
    """The Markdown to write and its hash: the digest's own if it covers exactly these bytes."""
    text = (digest.markdown or "").strip("\n") + "\n"
    body = text.encode("utf-8", "replace")
    if digest.sha256 and text == digest.markdown:
        return body, digest.sha256
    return body, sha256(body).hexdigest()

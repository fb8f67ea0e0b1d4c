"""What an archive tells of a page: seventeen fields, the same in the pages CSV and the crawl's metadata."""

from typing import Final, TypeAlias

import msgspec

from sumi.model import Kind, Lease, PageFacts
from sumi.outcomes import UP_TO_DATE, Outcome, Verdict
from sumi.ports import UrlRecord

NOT_MODIFIED: Final = 304
_NOT_MODIFIED_RULE: Final = f"HTTP {NOT_MODIFIED}"
NOT_MODIFIED_VERDICT: Final = Verdict(Outcome.UNCHANGED, _NOT_MODIFIED_RULE)

Metadata: TypeAlias = dict[str, str | int | tuple[str, ...] | msgspec.Raw]


class PageRow(msgspec.Struct, frozen=True):
    """The names and their order are part of the format."""

    timestamp: int  # when the page was settled, in whole seconds since the epoch
    url: str
    page_type: str
    depth: int
    referrer: str | None
    http_status: int | None
    content_type: str | None
    encoding: str | None
    content_sha256: str | None
    content_bytes: int | None
    stored_path: str | None
    etag: str | None
    last_modified: str | None
    fetch_latency_ms: int | None
    retries: int
    proxy_id: str | None
    metadata: Metadata


def is_kept_page(record: UrlRecord) -> bool:
    return record.kind is Kind.PAGE and record.outcome in UP_TO_DATE


def settled_record(lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> UrlRecord:
    """The record as the ledger now has it."""
    page = lease.candidate
    return UrlRecord(
        url=page.url,
        hop=page.hop,
        kind=page.kind,
        depth=page.depth,
        referrer=page.referrer,
        outcome=verdict.outcome,
        rule=verdict.rule,
        at=at,
        attempts=lease.attempt,
        facts=facts,
        address=page.address,
    )


def page_row(record: UrlRecord) -> PageRow:
    facts = record.facts
    came = not was_not_modified(record)
    return PageRow(
        timestamp=second_of(record),
        url=record.url,
        page_type=facts.page_type or "",
        depth=record.depth,
        referrer=record.referrer,
        http_status=facts.status if came else NOT_MODIFIED,
        content_type=facts.content_type,
        encoding=facts.charset,
        content_sha256=facts.raw,
        content_bytes=facts.body_bytes if came else 0,
        stored_path=facts.path,
        etag=facts.etag,
        last_modified=facts.last_modified,
        fetch_latency_ms=facts.latency_ms,
        retries=record.attempts if facts.retries is None else facts.retries,
        proxy_id=facts.proxy,
        metadata=_metadata(facts, record.address),
    )


def was_not_modified(record: UrlRecord) -> bool:
    """The server said so; a page that came again with the same content is another matter."""
    return record.outcome is Outcome.UNCHANGED and record.rule == _NOT_MODIFIED_RULE


def second_of(record: UrlRecord) -> int:
    return int(record.at or 0.0)


def identity(url: str, second: int) -> int:
    """Of one settlement of one page, small enough to hold for every line of a file."""
    return hash((url, second))


def _metadata(facts: PageFacts, address: str) -> Metadata:
    known = {
        "title": facts.title,
        "language": facts.language,
        "description": facts.description,
        "canonical": facts.canonical,
        "robots_meta": facts.robots_meta,
        "content_signal": facts.content_signal,
        "licenses": facts.licenses or None,
        "links": facts.links,
        "rendered": facts.rendered,
        "requested_url": address or None,  # where it is not the page's own
        "discovery": None if facts.listed is None else msgspec.Raw(facts.listed.encode()),
    }
    return {name: value for name, value in known.items() if value is not None}

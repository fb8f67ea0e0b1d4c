"""A discovery: what the crawler tells the scraper of a page that it found and fetched, as a line of JSON.

``metadata`` holds what is needed to take the page over without asking for it again, where its body was kept.
"""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from sumi.outputs.page_rows import NOT_MODIFIED, identity, is_kept_page, second_of, was_not_modified
from sumi.ports import UrlRecord


class DiscoveryMetadata(msgspec.Struct, frozen=True):
    """What is unset is not written."""

    status_code: int | None = None
    content_length: int | None = None
    latency_ms: float | None = None
    content_type: str | None = None
    timestamp: int | UnsetType = UNSET  # when the crawler settled the page
    # From here on only where the body was kept.
    content_sha256: str | UnsetType = UNSET
    etag: str | UnsetType | None = UNSET
    last_modified: str | UnsetType | None = UNSET
    fetched_at: float | UnsetType | None = UNSET
    proxy_id: str | UnsetType = UNSET  # and only where it came through one
    # What no body says, so that whoever takes it over could not know. Lines of older versions lack it.
    retries: int | UnsetType = UNSET  # unset: none
    robots_meta: str | UnsetType = UNSET  # with what the answer's header said
    robots_rule: str | UnsetType = UNSET
    content_signal: str | UnsetType = UNSET
    rendered: str | UnsetType = UNSET


class Discovery(msgspec.Struct, frozen=True):
    """The names and their order are part of the format. Only the URL must be there: others may write too."""

    url: str
    page_type: str = ""
    depth: int = 0
    referrer: str | None = None
    metadata: DiscoveryMetadata = DiscoveryMetadata()


class _UrlAlone(msgspec.Struct):
    url: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Discovery).decode
_decode_url = msgspec.json.Decoder(_UrlAlone).decode


def read_discovery(line: bytes) -> Discovery | None:
    """None for what is not one; if all but the URL makes no sense, the URL counts alone."""
    try:
        return _decode(line)
    except msgspec.MsgspecError:
        pass
    try:
        return Discovery(_decode_url(line).url)
    except msgspec.MsgspecError:
        return None


def discovery_of(record: UrlRecord) -> Discovery:
    facts = record.facts
    metadata = DiscoveryMetadata(
        status_code=NOT_MODIFIED if was_not_modified(record) else facts.status,
        content_length=facts.body_bytes,
        latency_ms=facts.latency_ms,
        content_type=facts.content_type,
        timestamp=second_of(record),
    )
    if facts.raw is not None:
        metadata = msgspec.structs.replace(
            metadata,
            content_sha256=facts.raw,
            etag=facts.etag,
            last_modified=facts.last_modified,
            fetched_at=facts.fetched_at,
            proxy_id=facts.proxy or UNSET,
            retries=record.attempts or UNSET,
            robots_meta=facts.robots_meta or UNSET,
            robots_rule=facts.robots_rule or UNSET,
            content_signal=facts.content_signal or UNSET,
            rendered=facts.rendered or UNSET,
        )
    return Discovery(record.url, facts.page_type or "", record.depth, record.referrer, metadata)


class Discoveries:
    """Implements ``sumi.outputs.ledger_copies.LineFormat``."""

    header = b""

    def line(self, record: UrlRecord) -> bytes | None:
        return _encode(discovery_of(record)) if is_kept_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for line in lines:
            found = read_discovery(line)
            if found is not None and found.metadata.timestamp is not UNSET:
                yield identity(found.url, found.metadata.timestamp)

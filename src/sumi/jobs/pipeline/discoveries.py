"""A discovery: the line of JSON with which the crawler hands a page over to the scraper.

If the crawler stored the body, ``metadata`` holds what the scraper needs to archive the page without fetching
it.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from sumi.frontier.freshness import NOT_MODIFIED
from sumi.jobs.pipeline.ledger_copies import (
    identity,
    is_up_to_date_page,
    second_of,
    was_not_modified,
)
from sumi.ports import UrlRecord

# Files of other programs may contain anything: values that do not fit are kept as foreign metadata.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e11)]
_Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=8192)]


class DiscoveryMetadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Unset fields are not written."""

    status_code: Annotated[int, msgspec.Meta(ge=100, le=999)] | None = None
    content_length: _Count | None = None
    latency_ms: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None = None
    content_type: _Text | None = None
    timestamp: _Count | UnsetType = UNSET  # when the crawler settled the page
    # From here on only if the body was stored.
    content_sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | UnsetType = UNSET
    etag: _Text | UnsetType | None = UNSET
    last_modified: _Text | UnsetType | None = UNSET
    fetched_at: _Seconds | UnsetType | None = UNSET
    proxy_id: _Text | UnsetType = UNSET  # only if it came through one
    # What the scraper could not know from the body. Lines of earlier versions lack it.
    retries: _Count | UnsetType = UNSET  # unset: none
    robots_meta: _Text | UnsetType = UNSET  # including the X-Robots-Tag header
    robots_rule: _Text | UnsetType = UNSET
    content_signal: _Text | UnsetType = UNSET
    rendered: _Text | UnsetType = UNSET
    requested_url: _Text | UnsetType = UNSET  # only if it differs from the page's URL


class Discovery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names and their order are part of the format. Only the URL is required: other programs write,
    too."""

    url: str
    page_type: _Text = ""
    depth: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    referrer: _Text | None = None
    metadata: DiscoveryMetadata = DiscoveryMetadata()

    @property
    def is_handed_over(self) -> bool:
        """Whether the crawler stored its body."""
        return self.metadata.content_sha256 is not UNSET


class Listing(msgspec.Struct, frozen=True):
    """A line of a spool, written by any program: the fields that we know, and its other metadata."""

    discovery: Discovery
    foreign: str = ""  # other metadata, as JSON
    remarks: tuple[str, ...] = ()  # what could not be used


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Discovery).decode
_NOT_OURS = (ValueError, RecursionError, msgspec.MsgspecError)
_FIELDS = {field.name: field.type for field in msgspec.structs.fields(Discovery)}
_KNOWN = {field.name: field.type for field in msgspec.structs.fields(DiscoveryMetadata)}


def read_listing(line: bytes) -> Listing | str:
    """The listing, or in words why the line is not one."""
    try:
        return Listing(_decode(line))
    except _NOT_OURS:
        pass
    try:
        said = msgspec.json.decode(line)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except RecursionError:
        return "it is nested too deeply"
    except (ValueError, msgspec.MsgspecError):
        return "it is not JSON"
    if not isinstance(said, dict):
        return "it is not a JSON object"
    if not isinstance(said.get("url"), str):
        return "its url is not text" if "url" in said else "it has no url"
    return _listing(said)


def _listing(said: dict[str, Any]) -> Listing:
    fields, remarks = {"url": said["url"]}, []
    for name in ("page_type", "depth", "referrer"):
        if said.get(name) is not None:
            if _fits(said[name], _FIELDS[name]):
                fields[name] = said[name]
            else:
                remarks.append(f"its {name} cannot be used")
    given = said.get("metadata")
    about = given if isinstance(given, dict) else {}
    known = {name: value for name, value in about.items() if name in _KNOWN and _fits(value, _KNOWN[name])}
    foreign = {name: value for name, value in about.items() if name not in known} if about else given
    text, remark = bounded(foreign) if foreign else ("", "")
    discovery = Discovery(**fields, metadata=DiscoveryMetadata(**known))
    return Listing(discovery, text, (*remarks, remark) if remark else tuple(remarks))


def _fits(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def discovery_of(record: UrlRecord) -> Discovery:
    facts = record.facts
    metadata = DiscoveryMetadata(
        status_code=NOT_MODIFIED if was_not_modified(record) else facts.status,
        content_length=facts.body_bytes,
        latency_ms=facts.latency_ms,
        content_type=facts.content_type,
        timestamp=second_of(record),
        requested_url=record.address or UNSET,
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
    """Implements ``ledger_copies.LineFormat``."""

    header = b""

    def line(self, record: UrlRecord) -> bytes | None:
        return _encode(discovery_of(record)) if is_up_to_date_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for line in lines:
            found = read_listing(line)
            if isinstance(found, Listing) and found.discovery.metadata.timestamp is not UNSET:
                yield identity(found.discovery.url, found.discovery.metadata.timestamp)


# ── foreign metadata: stored as JSON text of bounded length ──────────────────────────────────────────────


MOST_CHARACTERS: Final = 16 * 1024
_json_of: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def bounded(value: Any) -> tuple[str, str]:
    """The value as JSON, and in words what was left out. An object keeps the first keys that fit."""
    text = _json_of(value)
    if len(text) <= MOST_CHARACTERS:
        return text, ""
    kept: dict[str, Any] = {}
    room = MOST_CHARACTERS
    for key, item in value.items() if isinstance(value, dict) else ():
        size = len(_json_of(key)) + len(_json_of(item)) + 2
        if size <= room:
            kept[key] = item
            room -= size
    words = f"only {MOST_CHARACTERS:,} characters of its metadata are kept"
    return _json_of(kept) if kept else "", words


def merged(earlier: str, later: str) -> str:
    if not earlier or not later:
        return later or earlier
    before, after = json.loads(earlier), json.loads(later)
    if not isinstance(before, dict) or not isinstance(after, dict):
        return later
    # Later values come first, so that they are kept if not all fit.
    return bounded({**after, **{key: item for key, item in before.items() if key not in after}})[0]

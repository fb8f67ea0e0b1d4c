"""What a capture database stores: jobs, their pages, and pages that failed.

Field names are column names and JSON keys, except where ``name=`` gives the stored name.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec


class JobStatus(StrEnum):
    PENDING = "pending"  # recorded, not started
    IN_PROGRESS = "in_progress"
    PAUSED = "paused"
    COMPLETED = "completed"  # or its page limit was reached
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    INTERRUPTED = "interrupted"  # cancelled, stopped or killed; it can be resumed


UNDER_WAY = frozenset({JobStatus.PENDING, JobStatus.IN_PROGRESS, JobStatus.PAUSED})


class CacheLevel(StrEnum):
    """How much of a page earlier jobs had."""

    FULL = "full"  # text and body: the page was not transferred again
    PARTIAL = "partial"  # only the text: the body was fetched for its links
    MISS = "miss"


class CaptureJob(msgspec.Struct, frozen=True):
    id: str
    base_urls: tuple[str, ...]
    status: JobStatus
    created: float
    settings: str  # JSON, without secrets
    started: float | None = None
    ended: float | None = None
    pages_found: int = 0
    pages_processed: int = 0
    pages_failed: int = 0
    queue_size: int = 0

    @property
    def is_under_way(self) -> bool:
        """According to the record; its process may have died since."""
        return self.status in UNDER_WAY


class CapturedPage(msgspec.Struct, frozen=True):
    """One URL of a job that had content."""

    url: str
    address: str  # the URL that was requested: links are relative to it
    text_sha256: str = msgspec.field(name="text")  # of the extracted Markdown, which is stored under it
    body_sha256: str | None = msgspec.field(name="body")  # of the response body; None if that is not stored
    title: str | None
    base: int  # index of the base URL against whose limit the page counts
    depth: int
    status: int
    content_type: str | None
    etag: str | None
    last_modified: str | None
    rendered: str | None
    fresh_for: float | None  # seconds for which the server allows reuse; None if it does not say
    cached: CacheLevel
    fetched_at: float
    duplicate_of: str | None = None  # the page of this job that has the same text
    # Identifies requests that would get the same response (``cache.VaryKeys``); None: only this one.
    vary_key: str | None = msgspec.field(default=None, name="asked_with")
    simhash: str | None = None  # of the text, 16 hex digits; near-duplicates differ in a few bits


class StoredDigest(NamedTuple):
    """The digest of a body, as ``digest_cache`` packs it."""

    body_sha256: str
    request_hash: str  # of everything else that the digest depends on
    data: bytes


class FailedPage(msgspec.Struct, frozen=True):
    url: str
    error: str
    at: float

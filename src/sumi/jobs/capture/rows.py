"""What is kept of captures: jobs, their pages, and pages that failed."""

from enum import StrEnum
from typing import NamedTuple

import msgspec


class JobStatus(StrEnum):
    PENDING = "pending"  # made, not begun
    IN_PROGRESS = "in_progress"
    PAUSED = "paused"
    COMPLETED = "completed"  # or its page limit was reached
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    INTERRUPTED = "interrupted"  # cancelled, stopped or killed; it can be taken up again


UNDER_WAY = frozenset({JobStatus.PENDING, JobStatus.IN_PROGRESS, JobStatus.PAUSED})


class CacheLevel(StrEnum):
    """How much of a page was there before the job, from an earlier one."""

    FULL = "full"  # text and body: it was not transferred again
    PARTIAL = "partial"  # the text only: its body was fetched to learn its links
    MISS = "miss"


class CaptureJob(msgspec.Struct, frozen=True):
    id: str
    base_urls: tuple[str, ...]
    status: JobStatus
    created: float
    settings: str  # JSON, without anything secret
    started: float | None = None
    ended: float | None = None
    pages_found: int = 0
    pages_processed: int = 0
    pages_failed: int = 0
    queue_size: int = 0

    @property
    def is_under_way(self) -> bool:
        """As far as the record says; whoever was at work on it may have died since."""
        return self.status in UNDER_WAY


class CapturedPage(msgspec.Struct, frozen=True):
    """One URL of a job that brought content. ``duplicate_of``: the page of the job that has the same text."""

    url: str
    address: str  # what was requested: links are relative to it
    text: str  # SHA-256 of the extracted text, under which it is kept
    body: str | None  # the same of the page as it came; None where that was not kept
    title: str | None
    base: int  # number of the base URL against whose limit it counts
    depth: int
    status: int
    content_type: str | None
    etag: str | None
    last_modified: str | None
    rendered: str | None
    fresh_for: float | None  # seconds for which its server vouches for it; None where it says nothing
    cached: CacheLevel
    fetched_at: float
    duplicate_of: str | None = None
    # What its request was like (``RequestForms.form``); None: it answers no other one.
    asked_with: str | None = None
    simhash: str | None = None  # of the text, 16 hex digits; near-duplicates differ in a few bits


class KeptDigest(NamedTuple):
    """What was made of a body, on which terms; a packed form that its owner reads."""

    body: str  # the hash under which the body is kept
    terms: str
    data: bytes


class FailedPage(msgspec.Struct, frozen=True):
    url: str
    error: str
    at: float

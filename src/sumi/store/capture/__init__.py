"""A folder of captures: one database of jobs, pages and contents, and a state folder for each job's crawl."""

from sumi.store.capture.database import CaptureDatabase
from sumi.store.capture.folder import CaptureFolder
from sumi.store.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage, JobStatus, KeptDigest
from sumi.store.capture.turns import TurnWriter

__all__ = [
    "CacheLevel",
    "CaptureDatabase",
    "CaptureFolder",
    "CaptureJob",
    "CapturedPage",
    "FailedPage",
    "JobStatus",
    "KeptDigest",
    "TurnWriter",
]

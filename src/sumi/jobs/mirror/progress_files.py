"""A mirror's progress for people and scripts.

``_checkpoint.json`` and ``_progress.json`` have the job's status; ``_processed.txt`` and ``_failed.log`` list
URLs.

A resumed run reads none of them. The logs get a line per URL while the job runs and are rewritten from the
ledger at every start and end, which repairs them after a kill.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from sumi.events import Progress
from sumi.files.plain_text import iso_utc, one_line, visible
from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.survey import DONE, FAILED
from sumi.outcomes import MEANINGS, Ending, Verdict
from sumi.ports import FrontierStats, UrlRecord

RUNNING = "running"
FINISHED = "finished"  # not necessarily complete: see the summary and sumi status
INTERRUPTED = "interrupted"

_HINTS = {
    RUNNING: "If sumi is not running, it was stopped: run the same command again to continue.",
    FINISHED: "Nothing is pending.",
    INTERRUPTED: "Run the same command again to continue.",
}


class StatusCounts(msgspec.Struct, frozen=True):
    """Counts of URLs by how they ended, and the job's status."""

    status: str
    done: int
    pending: int
    failed: int
    passed_over: int


def running(progress: Progress) -> StatusCounts:
    return StatusCounts(RUNNING, progress.done, progress.pending, progress.failed, progress.passed_over)


def stopped(stats: FrontierStats) -> StatusCounts:
    endings = dict.fromkeys(Ending, 0)
    for outcome, number in stats.outcomes.items():
        endings[MEANINGS[outcome].ending] += number
    return StatusCounts(
        INTERRUPTED if stats.pending else FINISHED,
        endings[Ending.DONE],
        stats.pending,
        endings[Ending.FAILED],
        endings[Ending.PASSED_OVER],
    )


def checkpoint_json(counts: StatusCounts, started: float) -> bytes:
    return _pretty(
        {
            "started_at": iso_utc(started),
            "total_expected": counts.done + counts.failed + counts.pending,
            "processed": counts.done,
            "failed": counts.failed,
            "pending": counts.pending,
            "status": counts.status,
            "resume": _HINTS[counts.status],
        }
    )


def progress_json(counts: StatusCounts, at: float, progress: Progress | None = None) -> bytes:
    """``progress`` while the job runs; at its end there is no speed to report."""
    return _pretty(
        {
            "status": counts.status,
            "updated_at": iso_utc(at),
            "done": counts.done,
            "pending": counts.pending,
            "failed": counts.failed,
            "passed_over": counts.passed_over,
            "pages_per_second": None if progress is None else round(progress.pages_per_second, 2),
            "eta_seconds": None if progress is None else progress.eta_seconds,
            "hosts": [] if progress is None else [one_line(host) for host in progress.hosts],
        }
    )


def _pretty(fields: dict[str, object]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n"


PROCESSED = "_processed.txt"
FAILED_LOG = "_failed.log"


@contextmanager
def rewritten_logs(files: SafeFolder, home: str) -> Iterator[Callable[[UrlRecord], None]]:
    """Rewrite both logs from the records that the block passes on."""
    with (
        files.stream_atomic(f"{home}/{PROCESSED}") as processed,
        files.stream_atomic(f"{home}/{FAILED_LOG}") as failed,
    ):

        def log(record: UrlRecord) -> None:
            if record.outcome in DONE:
                processed.write(processed_line(record.url))
            elif record.outcome in FAILED:
                verdict = Verdict(record.outcome, record.rule)
                failed.write(failed_line(record.url, verdict, record.at or 0.0))

        yield log


def processed_line(url: str) -> bytes:
    return visible(url).encode() + b"\n"


def failed_line(url: str, verdict: Verdict, at: float) -> bytes:
    """Time, URL and error, separated by tabs; none of them contains a tab or a newline."""
    error = f"{verdict.outcome.value}: {verdict.rule or MEANINGS[verdict.outcome].meaning}"
    return "\t".join((iso_utc(at), visible(url), visible(error))).encode() + b"\n"

"""``_checkpoint.json`` and ``_progress.json``: where a job stands, for those who look from outside.

Resuming needs neither: the stored state decides.
"""

import msgspec

from sumi.events import Progress
from sumi.files.plain_text import iso_utc, one_line
from sumi.outcomes import MEANINGS, Ending
from sumi.ports import FrontierStats

RUNNING = "running"
FINISHED = "finished"  # whether that is all, the summary and sumi status say
INTERRUPTED = "interrupted"

_HINTS = {
    RUNNING: "If no sumi is running, it was stopped: run the same command again to go on.",
    FINISHED: "Nothing is waiting.",
    INTERRUPTED: "Run the same command again to go on.",
}


class Standing(msgspec.Struct, frozen=True):
    """Counts of URLs by how they ended, and what they mean for the job."""

    status: str
    done: int
    pending: int
    failed: int
    passed_over: int


def running(progress: Progress) -> Standing:
    return Standing(RUNNING, progress.done, progress.pending, progress.failed, progress.passed_over)


def stopped(stats: FrontierStats) -> Standing:
    endings = dict.fromkeys(Ending, 0)
    for outcome, number in stats.outcomes.items():
        endings[MEANINGS[outcome].ending] += number
    return Standing(
        INTERRUPTED if stats.pending else FINISHED,
        endings[Ending.DONE],
        stats.pending,
        endings[Ending.FAILED],
        endings[Ending.PASSED_OVER],
    )


def checkpoint_json(standing: Standing, started: float) -> bytes:
    return _pretty(
        {
            "started_at": iso_utc(started),
            "total_expected": standing.done + standing.failed + standing.pending,
            "processed": standing.done,
            "failed": standing.failed,
            "pending": standing.pending,
            "status": standing.status,
            "resume": _HINTS[standing.status],
        }
    )


def progress_json(standing: Standing, at: float, progress: Progress | None = None) -> bytes:
    """``progress`` while the job runs; at its end there is no speed to report."""
    return _pretty(
        {
            "status": standing.status,
            "updated_at": iso_utc(at),
            "done": standing.done,
            "pending": standing.pending,
            "failed": standing.failed,
            "passed_over": standing.passed_over,
            "pages_per_second": None if progress is None else round(progress.pages_per_second, 2),
            "eta_seconds": None if progress is None else progress.eta_seconds,
            "hosts": [] if progress is None else [one_line(host) for host in progress.hosts],
        }
    )


def _pretty(fields: dict[str, object]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n"

"""A job in a few numbers, as the list of jobs shows it. Outcomes add up to what was discovered."""

import time
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.serve.jobs import job_id
from sumi.serve.views import NotYet, View, Views

_ENDED_WELL: Final = ("complete", "limited")


class JobSummary(msgspec.Struct, kw_only=True):
    id: str
    kind: str
    name: str
    target: str
    folder: str
    state: str  # running | paused | interrupted | partial | limited | complete | unreadable | reading
    process: int | None
    discovered: int = 0
    outcomes: dict[str, int] = {}
    endings: dict[str, int] = {}
    balanced: bool = True
    pages_per_second: float | None = None
    eta_seconds: float | None = None
    at: float = 0.0  # when it was so
    problem: str = ""
    notes: tuple[str, ...] = ()
    left_out: dict[str, int] = {}
    actions: tuple[str, ...] = ()


class _Progress(msgspec.Struct):
    pages_per_second: float | None = None
    eta_seconds: float | None = None


async def summary_of(
    job: Job, views: Views, actions: tuple[str, ...] = (), *, wait: bool = False
) -> JobSummary:
    """``wait``: for a first view, if there is none yet."""
    made = JobSummary(
        id=job_id(job),
        kind=job.kind,
        name=job.name,
        target=job.target,
        folder=str(job.home),
        state="unreadable" if job.damage else "reading",
        process=job.process,
        problem=job.damage,
        actions=actions,
    )
    if job.damage:
        return made
    if wait:
        await views.settled(job)
    else:
        views.refresh(job)
    if views.is_ready(job):
        try:
            _fill(made, await views.ask(job, View.status))
        except NotYet as error:
            made.problem = str(error)
    elif views.problem(job):
        made.state, made.problem = "unreadable", views.problem(job)
    if job.process is not None:
        _fill_running(made, job)
    return made


def _fill(made: JobSummary, status: dict[str, Any]) -> None:
    made.state = status["state"]
    made.target = status["target"] or made.target
    made.notes = tuple(status["notes"])
    made.left_out = status["left_out"]
    fill_counts(made, status["discovered"], status["outcomes"], status["at"])


def fill_counts(made: JobSummary, discovered: int, outcomes: dict[str, int], at: float) -> None:
    made.discovered, made.at = discovered, at
    made.outcomes = {name: count for name, count in outcomes.items() if count}
    made.balanced = sum(outcomes.values()) == discovered
    endings = dict.fromkeys((ending.value for ending in Ending), 0)
    for name, count in outcomes.items():
        endings[MEANINGS[Outcome(name)].ending] += count
    made.endings = endings


def _fill_running(made: JobSummary, job: Job) -> None:
    made.state = "paused" if job.paused else "running"
    progress = _progress_of(job.home)
    made.pages_per_second, made.eta_seconds = progress.pages_per_second, progress.eta_seconds


def _progress_of(home: Path) -> _Progress:
    try:
        path = home / "_progress.json"
        if time.time() - path.stat().st_mtime > 60:
            return _Progress()
        return msgspec.json.decode(path.read_bytes(), type=_Progress)
    except (OSError, msgspec.MsgspecError):
        return _Progress()

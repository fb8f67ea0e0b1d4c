"""A job in a few numbers, as the list of jobs shows it. Outcomes add up to what was discovered."""

from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.serve.jobs import changed_at, job_id
from sumi.serve.live import read_now, watch
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
    changed_at: float = 0.0  # when the job last wrote
    problem: str = ""
    notes: tuple[str, ...] = ()
    left_out: dict[str, int] = {}
    actions: tuple[str, ...] = ()
    role: str = ""
    now: dict[str, Any] | None = None  # of a run that is watched: pages in flight, hosts, limits


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
        role=role_of(job, None),
        changed_at=0.0 if job.process else round(changed_at(job)),
    )
    if job.damage:
        return made
    if wait:
        await views.settled(job)
    else:
        views.refresh(job)
    if views.is_ready(job):
        try:
            status = await views.ask(job, View.status)
            made.role = role_of(job, status)
            _fill(made, status)
        except NotYet as error:
            made.problem = str(error)
    elif views.problem(job):
        made.state, made.problem = "unreadable", views.problem(job)
    if job.process is not None:
        _fill_running(made, job)
    elif made.state in ("running", "paused"):
        made.state = "stopping"  # it has just ended, and is being read
    made.actions = actions_of(job, made.state, made.role, goes_on=Outcome.OVER_BUDGET in made.left_out)
    return made


def _fill(made: JobSummary, status: dict[str, Any]) -> None:
    made.state = status["state"]
    if made.kind != JobKind.CAPTURE:  # which may have several, and its list has them all
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
    if not made.role:
        return
    watch(job, made.role)
    now = read_now(job, made.role)
    if now is None:
        return
    status, progress = now["status"], now["progress"] or {}
    made.state = status["state"]
    outcomes = dict(status["outcomes"])
    outcomes[Outcome.PENDING] = outcomes.get(Outcome.PENDING, 0) + status["pending"]
    fill_counts(made, status["discovered"], outcomes, status["at"])
    made.pages_per_second, made.eta_seconds = progress.get("pages_per_second"), progress.get("eta_seconds")
    made.now = {
        "in_flight": sorted(now["seconds"].items(), key=lambda each: -each[1]),
        "hosts": status["hosts"],
        "limits": now["limits"],
    }


def actions_of(job: Job, state: str, role: str, *, goes_on: bool = False) -> tuple[str, ...]:
    """What can be done with it here, in the order of the buttons. ``goes_on``: another run takes more."""
    if job.damage:
        return ()
    if job.process is not None:
        if not role:
            return ()
        first = "resume" if state == "paused" else "pause"
        return (first, "stop", "cancel", "retune")
    again = () if state in _ENDED_WELL and not goes_on else ("continue",)
    return again if job.kind is JobKind.CAPTURE or role == "scraper" else (*again, "update")


def role_of(job: Job, status: dict[str, Any] | None) -> str:
    """What its flag files are called after; of a crawl "" until its ledger was read."""
    if job.kind is JobKind.CRAWL:
        return str(status["job"]) if status else ""
    return str(job.kind)

"""The status of a job, read from its stored state: during a run, at its end, after a kill."""

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from pathlib import Path

import msgspec

from sumi.catalogue.role import Role, load_role
from sumi.console.open_job import refuse_captures, stored_jobs
from sumi.engine.completeness import LEFT_OUT, counted, noted_standing
from sumi.engine.summary import Scores, balanced
from sumi.events import WaitingHost
from sumi.frontier.pacing import BUDGET_SPENT, SUSPENDED, USUAL_WAITS
from sumi.jobs.map.coverage import coverage_notes, read_coverage
from sumi.jobs.map.store.map_store import MapView
from sumi.jobs.mirror.settings import MirrorSettings, load_saved_settings
from sumi.jobs.mirror.update import is_updating
from sumi.outcomes import BY_ENDING, UP_TO_DATE, Ending
from sumi.ports import FrontierStats, HostWait, Snapshot
from sumi.state.folder import LOOKING, open_snapshot
from sumi.state.lock import lock_owner

MIRROR = "mirror"
MAP = "map"


@asynccontextmanager
async def looking_at(state: Path) -> AsyncIterator[Snapshot]:
    """A stored job of any kind, opened read-only and without its lock."""
    store = _open_any(state, time.time())
    try:
        yield store
    finally:
        await store.aclose()


def _open_any(state: Path, now: float) -> Snapshot:
    return MapView(state, LOOKING, now) if state.is_file() else open_snapshot(state, now)


class JobStatus(msgspec.Struct, frozen=True):
    """One line of ``--json``. ``outcomes``, what is pending included, add up to ``discovered``."""

    folder: str
    state: str  # running | paused | interrupted | partial | limited | complete
    target: str | None
    process: int | None
    discovered: int
    outcomes: dict[str, int]
    balanced: bool
    pages_per_second: float | None
    eta_seconds: float | None
    hosts: tuple[WaitingHost, ...]
    at: float
    job: str = MIRROR
    notes: tuple[str, ...] = ()  # of a map: how much of each quality domain is there
    left_out: dict[str, int] = {}  # pages that were found but left out, by outcome
    excused: dict[str, int] = {}  # failed URLs that do not count, by reason
    updating: bool = False  # pending pages with a copy of before are still here


class _Progress(msgspec.Struct):
    """The fields used from ``_progress.json``."""

    pages_per_second: float | None = None
    eta_seconds: float | None = None


async def status(folder: str | PathLike[str] = "output") -> list[JobStatus]:
    """``sumi status``: every job in, or below, a folder."""
    return [job async for job in statuses(folder)]


async def statuses(folder: str | PathLike[str]) -> AsyncIterator[JobStatus]:
    """One by one, so that damage to one job does not lose the status of those before."""
    for state in refuse_captures(stored_jobs(os.fspath(folder))):
        yield await look(state)


async def look(state: Path) -> JobStatus:
    process, now = lock_owner(state), time.time()
    async with looking_at(state) as store:
        settings = await load_saved_settings(store)
        usual = Role(_usual_job(state), state.parent)
        job, home = await load_role(store, state) or usual
        raw = await store.stats()
        told = await noted_standing(store, raw) if process is None else None
        stats = counted(raw, settings.max_pages if settings else 0, told)
        waits = await store.waiting_hosts(now) if stats.pending else []
        is_map = isinstance(store, MapView)
        ended = store.ended if isinstance(store, MapView) else None
        progress = _progress_of(home) if process else _Progress()
        guessed = await _with_bar(store, settings, _state(home / f"pause.{job}", process, stats, ended))
        return JobStatus(
            folder=str(home),
            state=guessed if told is None else told.status,
            target=settings.url if settings else await _seed(store),
            process=process,
            discovered=stats.known,
            outcomes=_counts(stats, waits),
            balanced=sum(stats.outcomes.values()) + stats.pending == stats.known,
            pages_per_second=progress.pages_per_second,
            eta_seconds=progress.eta_seconds,
            hosts=tuple(waiting_host(wait, process) for wait in waits),
            at=now,
            job=job,
            notes=_coverage(state) if is_map else (),
            left_out={} if told is None else told.left_out,
            excused={} if told is None else told.excused,
            updating=bool(stats.pending) and await is_updating(store),
        )


async def _with_bar(store: Snapshot, settings: MirrorSettings | None, state: str) -> str:
    """Reads all pages, so only if a bar is set for them and the job is complete otherwise."""
    if state != "complete" or settings is None or not (settings.min_fidelity or settings.max_junk < 1):
        return state
    scores = Scores(settings.min_fidelity, settings.max_junk)
    async for record in store.records(UP_TO_DATE):
        scores.take(record)
    return "partial" if scores.below or scores.above else state


async def is_full(store: Snapshot) -> bool:
    """Whether the job has as many pages as its limit allows, so that nothing waits for another run."""
    stats, settings = await store.stats(), await load_saved_settings(store)
    told = await noted_standing(store, stats)
    counts = counted(stats, settings.max_pages if settings else 0, told)
    return bool(stats.pending) and not counts.pending


def _state(pause_flag: Path, process: int | None, stats: FrontierStats, ended: bool | None) -> str:
    """Of a job whose last run did not reach its end, or was made by a version that did not record its status.
    ``ended``: whether the last run reached its end, if that is recorded."""
    if process is not None:
        return "paused" if pause_flag.is_file() else "running"
    if ended is None:
        ended = not stats.pending
    if not ended:
        return "interrupted"
    failed = not BY_ENDING[Ending.FAILED].isdisjoint(stats.outcomes)
    balanced = sum(stats.outcomes.values()) + stats.pending == stats.known
    if stats.pending or failed or not balanced:
        return "partial"
    return "complete" if stats.outcomes.keys().isdisjoint(LEFT_OUT) else "limited"


def _counts(stats: FrontierStats, waits: Sequence[HostWait]) -> dict[str, int]:
    left = {why: sum(wait.pending for wait in waits if wait.why == why) for why in (BUDGET_SPENT, SUSPENDED)}
    return balanced(stats, over_budget=left[BUDGET_SPENT], suspended=left[SUSPENDED])


def _coverage(database: Path) -> tuple[str, ...]:
    return coverage_notes(read_coverage(database))


async def _seed(store: Snapshot) -> str | None:
    async for record in store.records():
        return record.url
    return None


def _progress_of(home: Path) -> _Progress:
    try:
        return msgspec.json.decode((home / "_progress.json").read_bytes(), type=_Progress)
    except (OSError, msgspec.MsgspecError):
        return _Progress()


def _usual_job(state: Path) -> str:
    """A map has no state folder, only its database."""
    return MAP if state.is_file() else MIRROR


def waiting_host(wait: HostWait, process: int | None) -> WaitingHost:
    # Seen from outside, a host that nothing holds waits for its turn, or for the next run.
    if wait.why in ("spacing", "in flight"):
        why = f"waiting for {'its turn' if process else 'the next run'}"
    elif wait.why in USUAL_WAITS:
        why = f"waiting for {wait.why}"
    else:
        why = wait.why  # what the host did
    return wait.as_event(why)

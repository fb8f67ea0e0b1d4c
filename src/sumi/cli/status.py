"""``sumi status``: how a job stands, told from its stored state: while it runs, at its end, after a kill."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sumi.cli.look import looking_at
from sumi.console.narration import waiting_words
from sumi.console.open_job import refuse_captures, stored_jobs
from sumi.console.parser import SentenceParser
from sumi.console.summary import ending_lines, left_out_words
from sumi.console.terminal import Palette, Sink, duration, printable
from sumi.events import Summary, WaitingHost
from sumi.frontier.pacing import BUDGET_SPENT, SUSPENDED, USUAL_WAITS
from sumi.outcomes import BY_ENDING, UP_TO_DATE, Ending
from sumi.ports import FrontierStats, HostWait, Snapshot

if TYPE_CHECKING:
    from sumi.settings import MirrorSettings

MAX_HOSTS_SHOWN = 20
MIRROR = "mirror"
MAP = "map"


_EXAMPLES = """\
examples:
  sumi status                            the jobs in ./output
  sumi status library/docs.example.org   one of them
  sumi status --json | jq .state
"""


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
    left_out: dict[str, int] = {}  # pages that were found, by what left them out


class _Progress(msgspec.Struct):
    """What a look from outside takes from ``_progress.json``."""

    pages_per_second: float | None = None
    eta_seconds: float | None = None


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi status",
        usage="sumi status [options] [DIR]",
        description="Shows the state of a job: running or stopped, its counts, and what each host waits for.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default="output",
        help="An output folder, one host's folder in it, or a workspace. Default: output.",
    )
    parser.add_argument("--json", action="store_true", help="One JSON object per job on stdout.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    out = Sink(sys.stdout)
    palette = Palette.for_sink(out, os.environ)
    for number, state in enumerate(refuse_captures(stored_jobs(options.folder))):
        status = asyncio.run(_look(state))
        if options.json:
            out.line(msgspec.json.encode(status).decode())
        else:
            out.line("\n".join(["", *_lines(status, palette)] if number else _lines(status, palette)))
    return 0


async def _look(state: Path) -> JobStatus:
    from sumi.engine.completeness import noted_standing
    from sumi.jobs.map.store.view import TerrainView
    from sumi.jobs.mirror.saved_settings import load_saved_settings
    from sumi.jobs.pipeline.state import Role, load_role
    from sumi.state.lock import lock_owner

    process, now = lock_owner(state), time.time()
    async with looking_at(state) as store:
        settings = await load_saved_settings(store)
        usual = Role(_usual_job(state), state.parent)
        job, home = await load_role(store, state) or usual
        stats = await store.stats()
        waits = await store.waiting_hosts(now)
        is_map = isinstance(store, TerrainView)
        ended = store.ended if isinstance(store, TerrainView) else None
        cap = settings.max_pages if settings else 0
        progress = _progress_of(home) if process else _Progress()
        told = await noted_standing(store, stats) if process is None else None
        guessed = await _with_bar(store, settings, _state(home / f"pause.{job}", process, stats, cap, ended))
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
        )


async def _with_bar(store: Snapshot, settings: "MirrorSettings | None", state: str) -> str:
    """The pages are looked through only where a bar was set and nothing else is amiss."""
    from sumi.engine.summary import FidelityScores

    if state != "complete" or settings is None or not settings.min_fidelity:
        return state
    scores = FidelityScores(settings.min_fidelity)
    async for record in store.records(UP_TO_DATE):
        scores.take(record)
    return "partial" if scores.below else state


def _state(pause_flag: Path, process: int | None, stats: FrontierStats, cap: int, ended: bool | None) -> str:
    """Of a job whose last run did not come to its end, or is of a version that did not note how it stood.
    ``ended``: whether the last run came to its end, where that is on record."""
    if process is not None:
        return "paused" if pause_flag.is_file() else "running"
    if ended is None:
        ended = not stats.pending or bool(cap and stats.captured >= cap)
    if not ended:
        return "interrupted"
    failed = not BY_ENDING[Ending.FAILED].isdisjoint(stats.outcomes)
    balanced = sum(stats.outcomes.values()) + stats.pending == stats.known
    return "partial" if stats.pending or failed or not balanced else "complete"


def _counts(stats: FrontierStats, waits: Sequence[HostWait]) -> dict[str, int]:
    from sumi.engine.summary import balanced

    left = {why: sum(wait.pending for wait in waits if wait.why == why) for why in (BUDGET_SPENT, SUSPENDED)}
    return balanced(stats, over_cap=False, over_budget=left[BUDGET_SPENT], suspended=left[SUSPENDED])


def _coverage(database: Path) -> tuple[str, ...]:
    from sumi.jobs.map.coverage import coverage_notes, read_coverage

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
    """A map is its database, which stands for itself."""
    return MAP if state.is_file() else MIRROR


def waiting_host(wait: HostWait, process: int | None) -> WaitingHost:
    # From outside, a host that no rule holds is either being asked or waits for somebody to run the job.
    if wait.why in ("spacing", "in flight"):
        why = f"waiting for {'its turn' if process else 'the next run'}"
    elif wait.why in USUAL_WAITS:
        why = f"waiting for {wait.why}"
    else:
        why = wait.why  # what the host did
    return WaitingHost(wait.host, wait.pending, wait.in_flight, why, wait.ready_at)


def _lines(status: JobStatus, palette: Palette) -> list[str]:
    counts = Summary(status.job, status.state, status.discovered, status.outcomes, status.folder, 0.0)
    lines = [_headline(status, palette), ""]
    for ending in Ending:
        lines += ending_lines(counts, ending, palette)
    lines += [
        "",
        f"  discovered  {status.discovered:,}: {_balance(status)}",
        f"  folder      {status.folder}",
    ]
    lines += [f"  limited     {left_out_words(*each, status.job)}" for each in status.left_out.items()]
    if status.pages_per_second is not None:
        eta = f", ETA {duration(status.eta_seconds)}" if status.eta_seconds is not None else ""
        lines.append(f"  speed       {status.pages_per_second:.1f} pages/s{eta}")
    lines += [f"  host        {waiting_words(host, status.at)}" for host in status.hosts[:MAX_HOSTS_SHOWN]]
    lines += [f"  note        {printable(note)}" for note in status.notes]
    more = len(status.hosts) - MAX_HOSTS_SHOWN
    return [*lines, f"  host        and {more:,} more; --json lists them all"] if more > 0 else lines


def _headline(status: JobStatus, palette: Palette) -> str:
    paint = palette.good if status.state in ("running", "complete") else palette.caution
    process = f" (process {status.process})" if status.process else ""
    return f"{status.job} {printable(status.target or '')}: {paint(status.state)}{process}"


def _balance(status: JobStatus) -> str:
    total = sum(status.outcomes.values())
    words = "each in exactly one outcome" if status.balanced else f"but the outcomes add up to {total:,}"
    return words if status.balanced else f"{words}; sumi state check says more"

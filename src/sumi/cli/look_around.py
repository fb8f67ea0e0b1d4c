"""``sumi`` without a command: the jobs below this folder, and for each the command that goes on with it."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from sumi.console.next_steps import command_line, larger_limit, same_again
from sumi.console.terminal import Palette, Sink, printable
from sumi.errors import SumiError

if TYPE_CHECKING:
    from sumi.catalogue.find import Job
    from sumi.inspection.status import JobStatus

MOST_SHOWN: Final = 12
_LARGE: Final = 64 * 1024 * 1024  # bytes of state: reading more of it takes seconds
_GOOD: Final = ("running", "complete", "completed")
_TO_BEGIN: Final = """\
There are no jobs of Sumi below this folder. To begin:

  sumi demo          mirror a small site on this machine, without the network
  sumi plan URL      how many pages a site has, and how long they take
  sumi mirror URL    take the site as Markdown, politely; the same command continues it

sumi --help lists all commands."""


class Seen(NamedTuple):
    kind: str
    about: str
    state: str
    counts: str
    next: str  # the command that goes on


def run() -> int:
    from sumi.catalogue.find import find_jobs

    out = Sink(sys.stdout)
    jobs = find_jobs(".")
    if not jobs:
        out.line(_TO_BEGIN)
        return 0
    jobs.sort(key=lambda job: (job.process is None, -_changed(job.state)))
    seen = asyncio.run(_look(jobs[:MOST_SHOWN]))
    out.line("\n".join(_lines(seen, len(jobs), Palette.for_sink(out, os.environ))))
    return 0


def _lines(seen: list[Seen], total: int, palette: Palette) -> Iterator[str]:
    yield "one job below this folder" if total == 1 else f"{total:,} jobs below this folder"
    for job in seen:
        paint = palette.good if job.state in _GOOD else palette.caution
        yield ""
        yield f"{job.kind} {printable(job.about)}: {paint(printable(job.state))}{job.counts}"
        if job.next:
            yield f"  {printable(job.next)}"
    if total > len(seen):
        yield f"\nand {total - len(seen):,} more, which changed earlier"


async def _look(jobs: "list[Job]") -> list[Seen]:
    return [await _seen(job) for job in jobs]


async def _seen(job: "Job") -> Seen:
    from sumi.catalogue.find import JobKind

    if job.damage:
        return Seen(job.kind, job.name, "damaged", f": {printable(job.damage)}", "")
    if job.kind is JobKind.CAPTURE:
        state = job.activity if job.process is not None else job.ended
        return Seen(job.kind, job.target or job.name, state, "", _next_of_capture(job, state))
    status = await _status(job)
    state = job.activity if status is None else status.state
    about = job.target or (status.target if status is not None else None) or job.name
    counts = "" if status is None else _counts(status)
    return Seen(job.kind, about, state, counts, await _next(job, state, about, status))


async def _status(job: "Job") -> "JobStatus | None":
    """None if it would take long to read, or cannot be read: ``sumi status`` says why."""
    from sumi.inspection.status import look

    if _size(job.state) > _LARGE:
        return None
    try:
        return await look(job.state)
    except SumiError:
        return None


def _counts(status: "JobStatus") -> str:
    from sumi.outcomes import BY_ENDING, CAME, Ending

    def sum_of(outcomes: frozenset[str]) -> int:
        return sum(status.outcomes.get(one, 0) for one in outcomes)

    failed, waiting = (sum_of(frozenset(BY_ENDING[one])) for one in (Ending.FAILED, Ending.WAITING))
    parts = [f"{sum_of(frozenset(CAME)):,} pages{' updated' if status.updating else ''}"]
    parts += [f"{waiting:,} to do"] if waiting else []
    parts += [f"{failed:,} failed"] if failed else []
    return f", {', '.join(parts)}"


# ── the command that goes on ───────────────────────────────────────────────────────────────────────────────


async def _next(job: "Job", state: str, about: str, status: "JobStatus | None") -> str:
    from sumi.catalogue.find import JobKind
    from sumi.inspection.configuration import configuration_of
    from sumi.outcomes import Outcome

    home = _shown(job.state if job.kind is JobKind.MAP else job.home)
    if job.process is not None:
        return command_line("sumi", "status", home)
    if job.kind is JobKind.MIRROR:
        words = [about, *await _options(job)]
        if status is not None and Outcome.OVER_CAP in status.outcomes:
            larger = ("--max-pages", larger_limit(status.outcomes))
            return same_again("mirror", words, *larger, without=larger[0])
        goes_on = status is not None and Outcome.OVER_BUDGET in status.left_out
        is_over = state in ("complete", "limited") and not goes_on
        return same_again("mirror", words, *(["--update"] if is_over else []))
    found = configuration_of(job, Path())
    if found is None:
        return command_line("sumi", "status", home)
    file = _shown(found)
    if job.kind is JobKind.MAP:
        done = state in ("complete", "limited", "partial")
        return command_line("sumi", "map", *(("export", "--format", "html") if done else ()), file)
    return command_line("sumi", "run", "--config", file)


def _next_of_capture(job: "Job", state: str) -> str:
    verbs = {"running": "show", "paused": "resume", "completed": "export"}
    store = _shown(job.root)
    where = [] if store == "captures" else ["--captures", store]
    return command_line("sumi", "capture", verbs.get(state, "resume"), job.name, *where)


async def _options(job: "Job") -> list[str]:
    """The options of a mirror, as far as its state knows them."""
    from sumi.console.open_job import looking_at
    from sumi.jobs.mirror.settings import load_command

    root = _shown(job.root)
    words = [] if root == "output" else ["-o", root]
    if _size(job.state) > _LARGE:
        return words
    try:
        async with looking_at(job.state) as store:
            return words + await load_command(store)
    except SumiError:
        return words


# ── small reads ────────────────────────────────────────────────────────────────────────────────────────────


def _shown(path: Path) -> str:
    return os.path.relpath(path)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir()) if folder.is_dir() else [folder]
    except OSError:
        return []


def _changed(state: Path) -> float:
    return max((path.stat().st_mtime for path in _entries(state) if path.exists()), default=0.0)


def _size(state: Path) -> int:
    return sum(path.stat().st_size for path in _entries(state) if path.is_file())

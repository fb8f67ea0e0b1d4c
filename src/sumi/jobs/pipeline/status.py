"""What ``crawl status`` and ``scrape status`` have in common: a stored state, looked at from outside."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import msgspec

from sumi.console.open_job import looking_at
from sumi.console.summary import ending_lines
from sumi.console.terminal import Palette, Sink, printable
from sumi.engine.completeness import noted_standing
from sumi.engine.progress import by_ending
from sumi.errors import UsageError
from sumi.events import Summary
from sumi.jobs.pipeline.spool_reader import PASSED_OVER_NOTE, lines_passed_over
from sumi.outcomes import Ending, Outcome
from sumi.ports import FrontierStats
from sumi.state.folder import FORMAT_NAME
from sumi.state.lock import lock_owner


class StoredStatus(msgspec.Struct, frozen=True):
    """``outcomes``, what is pending included, add up to ``discovered``."""

    job: str
    folder: str
    state: str  # running | paused | stopped | partial | complete
    process: int | None
    discovered: int
    outcomes: dict[str, int]
    at: float
    files: dict[str, str | int]  # what is on the disk besides, by name


class SpoolStanding(msgspec.Struct, frozen=True):
    """What the scraper has not read of the spool."""

    unread: int = 0  # bytes
    strangers: int = 0  # files that are not read


def report_status(
    job: str,
    folder: Path,
    workspace: Path,
    files: dict[str, str | int],
    *,
    as_json: bool,
    spool: SpoolStanding | None = None,
) -> int:
    """``files``: what is on the disk besides, by name."""
    return _show(asyncio.run(_look(job, folder, workspace, files, spool)), as_json=as_json)


async def _look(
    job: str, folder: Path, workspace: Path, files: dict[str, str | int], spool: SpoolStanding | None
) -> StoredStatus:
    if not (folder / FORMAT_NAME).is_file():
        raise UsageError(f"{folder} holds no state yet: nothing has run in this workspace")
    process = lock_owner(folder)
    async with looking_at(folder) as store:
        stats = await store.stats()
        passed = 0 if spool is None else lines_passed_over(await store.get_note(PASSED_OVER_NOTE))
        told = await noted_standing(store, stats) if process is None else None
    if passed:
        files = {**files, "passed over": f"{passed:,} lines of the spool that are not discoveries"}
    state = _state(job, process, workspace, stats) if told is None else told.status
    if state == "complete" and spool is not None and (spool.unread or spool.strangers or passed):
        state = "stopped" if spool.unread else "partial"
    pending = {Outcome.PENDING.value: stats.pending} if stats.pending else {}
    return StoredStatus(
        job=job,
        folder=str(folder),
        state=state,
        process=process,
        discovered=stats.known,
        outcomes={outcome.value: count for outcome, count in stats.outcomes.items()} | pending,
        at=time.time(),
        files=files,
    )


def _show(status: StoredStatus, *, as_json: bool) -> int:
    out = Sink(sys.stdout)
    if as_json:
        out.line(json.dumps(msgspec.to_builtins(status)))
        return 0
    palette = Palette.for_sink(out, os.environ)
    process = f" (process {status.process})" if status.process else ""
    lines = [f"{status.job}: {status.state}{process}", ""]
    counts = Summary(status.job, status.state, status.discovered, status.outcomes, status.folder, 0.0)
    for ending in Ending:
        lines += ending_lines(counts, ending, palette)
    lines += ["", f"  discovered  {status.discovered:,}", f"  state       {printable(status.folder)}"]
    lines += [f"  {name:<12}{_shown(value)}" for name, value in status.files.items()]
    out.line("\n".join(lines))
    return 0


def _shown(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else printable(value)


def _state(job: str, process: int | None, workspace: Path, stats: FrontierStats) -> str:
    if process is not None:
        return "paused" if (workspace / f"pause.{job}").is_file() else "running"
    if stats.pending:
        return "stopped"
    return "partial" if by_ending(stats.outcomes)[Ending.FAILED] else "complete"

"""``sumi crawl status`` and ``sumi scrape status``: the stored state of a crawler or scraper."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.console.open_job import looking_at
from sumi.console.parser import SentenceParser
from sumi.console.summary import ending_lines
from sumi.console.terminal import Palette, Sink, printable
from sumi.engine.completeness import counted, noted_standing
from sumi.engine.progress import by_ending
from sumi.errors import UsageError
from sumi.events import Summary
from sumi.jobs.pipeline.archive_files import indexed
from sumi.jobs.pipeline.options import add_config, read_config
from sumi.jobs.pipeline.spool import list_spool, read_bookmark
from sumi.jobs.pipeline.spool_reader import SKIPPED_NOTE, lines_skipped, unread_bytes
from sumi.jobs.pipeline.state import CRAWLER, SCRAPER, holds_state, require_configured_frontier, scraper_state
from sumi.outcomes import Ending, Outcome
from sumi.ports import FrontierStats
from sumi.state.lock import lock_owner


class StoredStatus(msgspec.Struct, frozen=True):
    """What ``--json`` prints. ``outcomes``, pending pages included, add up to ``discovered``."""

    job: str
    folder: str
    state: str  # running | paused | stopped | partial | complete
    process: int | None
    discovered: int
    outcomes: dict[str, int]
    at: float
    files: dict[str, str | int]  # what else is on disk, by name


class UnreadSpool(msgspec.Struct, frozen=True):
    """What the scraper has not read of the spool."""

    size: int = 0  # bytes
    ignored: int = 0  # files that are not read


# ── sumi crawl status ────────────────────────────────────────────────────────────────────────────────────


def crawl_parser() -> SentenceParser:
    return _parser("sumi crawl status", "Shows the state of the crawler: its frontier, outcomes and spool.")


def run_crawl(arguments: Sequence[str]) -> int:
    options = crawl_parser().parse_all(arguments)
    config = read_config(options)
    require_configured_frontier(config)
    spool = config.spool.dir
    sizes = list_spool(spool).sizes
    files: dict[str, str | int] = {
        "spool": str(spool),
        "segments": len(sizes),
        "bytes": sum(sizes.values()),
        "unread": unread_bytes(spool, config.bookmark.path),
    }
    status = asyncio.run(_look(CRAWLER, config.frontier.db_path, config.workspace, files))
    return _show(status, as_json=options.json)


# ── sumi scrape status ───────────────────────────────────────────────────────────────────────────────────


def scrape_parser() -> SentenceParser:
    return _parser(
        "sumi scrape status", "Shows the state of the scraper: its outcomes, bookmark, archive and index."
    )


def run_scrape(arguments: Sequence[str]) -> int:
    options = scrape_parser().parse_all(arguments)
    config = read_config(options)
    unread = unread_bytes(config.spool.dir, config.bookmark.path)
    files: dict[str, str | int] = {
        "bookmark": _bookmark(config.bookmark.path),
        "unread": unread,
        "bodies": _bodies(config.store.root),
    }
    if config.index.db_path.exists():
        files["indexed"] = sum(1 for _ in indexed(config))
    ignored = list_spool(config.spool.dir).ignored
    if ignored:
        files["not read"] = ", ".join(sorted(ignored)[:10])
    spool = UnreadSpool(unread, len(ignored))
    status = asyncio.run(_look(SCRAPER, scraper_state(config), config.workspace, files, spool))
    return _show(status, as_json=options.json)


def _bookmark(path: Path) -> str:
    mark = read_bookmark(path)
    return "cannot be read" if mark is None else f"{mark.file or 'the start'}, byte {mark.offset}"


def _bodies(root: Path) -> int:
    return sum(1 for path in root.glob("??/??/*") if not path.name.startswith("."))


# ── what both share ──────────────────────────────────────────────────────────────────────────────────────


def _parser(command: str, description: str) -> SentenceParser:
    parser = SentenceParser(
        prog=command,
        usage=f"{command} --config FILE [--json]",
        description=description,
        epilog=f"examples:\n  {command} --config github.yaml\n  {command} --config github.yaml --json\n",
    )
    add_config(parser)
    parser.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    return parser


async def _look(
    job: str,
    folder: Path,
    workspace: Path,
    files: dict[str, str | int],
    spool: UnreadSpool | None = None,
) -> StoredStatus:
    if not holds_state(folder):
        raise UsageError(f"{folder} holds no state yet: nothing has run in this workspace")
    process = lock_owner(folder)
    async with looking_at(folder) as store:
        raw = await store.stats()
        passed = 0 if spool is None else lines_skipped(await store.get_note(SKIPPED_NOTE))
        told = await noted_standing(store, raw) if process is None else None
        stats = counted(raw, 0, told)
    if passed:
        files = {**files, "passed over": f"{passed:,} lines of the spool that are not discoveries"}
    state = _state(job, process, workspace, stats) if told is None else told.status
    if state == "complete" and spool is not None and (spool.size or spool.ignored or passed):
        state = "stopped" if spool.size else "partial"
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


def _state(job: str, process: int | None, workspace: Path, stats: FrontierStats) -> str:
    if process is not None:
        return "paused" if (workspace / f"pause.{job}").is_file() else "running"
    if stats.pending:
        return "stopped"
    return "partial" if by_ending(stats.outcomes)[Ending.FAILED] else "complete"


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

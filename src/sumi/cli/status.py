"""``sumi status``: the state of a job."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.narration import waiting_words
from sumi.console.parser import SentenceParser
from sumi.console.summary import ending_lines, excused_words, left_out_words
from sumi.console.terminal import Palette, Sink, duration, printable
from sumi.errors import UsageError
from sumi.events import Summary
from sumi.outcomes import Ending
from sumi.policy import is_database

if TYPE_CHECKING:
    from sumi.inspection.status import JobStatus

MAX_HOSTS_SHOWN = 20

_EXAMPLES = """\
examples:
  sumi status                            the jobs in ./output
  sumi status library/docs.example.org   one of them
  sumi status --json | jq .state
  sumi status postgresql://db.example.org/sumi --job docs    a job of many machines
"""


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
        help="An output folder, one site's folder in it, a workspace, or a database. Default: output.",
    )
    parser.add_argument("--json", action="store_true", help="One JSON object per job on stdout.")
    parser.add_argument("--job", metavar="NAME", help="In a database, which job. Default: all.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    if options.job is not None and not is_database(options.folder):
        raise UsageError("--job names a job in a database: give its address, postgresql://HOST/DATABASE")
    asyncio.run(_show(options.folder, options.job, as_json=options.json))
    return 0


async def _show(folder: str, name: str | None, *, as_json: bool) -> None:

    out = Sink(sys.stdout)
    palette = Palette.for_sink(out, os.environ)
    first = True
    async for job in _found(folder, name):
        if as_json:
            out.line(msgspec.json.encode(job).decode())
        else:
            out.line("\n".join(_lines(job, palette) if first else ["", *_lines(job, palette)]))
        first = False
    if first and not as_json and is_database(folder):
        out.line("there is no job in this database yet: sumi mirror URL --state with its address makes one")


async def _found(folder: str, name: str | None) -> "AsyncIterator[JobStatus]":
    if is_database(folder):
        from sumi.inspection.shared_jobs import jobs_in, shared_status

        for row in await jobs_in(folder, name):
            yield await shared_status(folder, row)
        return
    from sumi.inspection.status import statuses

    async for job in statuses(folder):
        yield job


def _lines(status: "JobStatus", palette: Palette) -> list[str]:
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
    lines += [f"  limited     {excused_words(*each)}" for each in status.excused.items()]
    if status.pages_per_second is not None:
        eta = f", ETA {duration(status.eta_seconds)}" if status.eta_seconds is not None else ""
        lines.append(f"  speed       {status.pages_per_second:.1f} pages/s{eta}")
    lines += [f"  host        {waiting_words(host, status.at)}" for host in status.hosts[:MAX_HOSTS_SHOWN]]
    lines += [f"  note        {printable(note)}" for note in status.notes]
    if status.updating:
        lines.append("  note        an update is not over: pages that wait are here as they were before it")
    more = len(status.hosts) - MAX_HOSTS_SHOWN
    return [*lines, f"  host        and {more:,} more; --json lists them all"] if more > 0 else lines


def _headline(status: "JobStatus", palette: Palette) -> str:
    paint = palette.good if status.state in ("running", "complete") else palette.caution
    process = f" (process {status.process})" if status.process else ""
    return f"{status.job} {printable(status.target or '')}: {paint(status.state)}{process}"


def _balance(status: "JobStatus") -> str:
    total = sum(status.outcomes.values())
    words = "each in exactly one outcome" if status.balanced else f"but the outcomes add up to {total:,}"
    return words if status.balanced else f"{words}; run sumi state check"

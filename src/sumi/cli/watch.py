"""``sumi watch``: jobs that run again when they are due."""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.summary import worst_of
from sumi.console.terminal import Sink, printable

_FILE = """\
a watch file:
  [[job]]
  name = "manual"
  command = "mirror https://docs.example.org -o library"
  every = "1d"

  [[job]]
  name = "news"
  command = "capture https://news.example.org --limit 50"
  cron = "30 6 * * mon-fri"
"""
_EXAMPLES = f"""\
examples:
  sumi watch nightly.toml               runs until you stop it
  sumi watch nightly.toml --once        what is due now, for cron or a systemd timer
  sumi watch status nightly.toml        what ran, and what is due when

{_FILE}"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi watch",
        usage="sumi watch [options] FILE",
        description=(
            "Runs the jobs in a TOML file when they are due: never two of the same, what was missed once. "
            "Mirrors and maps are updated."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="The jobs, each with a command and every or cron.")
    parser.add_argument("--once", action="store_true", help="Run what is due now, and end.")
    parser.add_argument("-q", "--quiet", action="store_true", help="Show only problems.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    from sumi.watching.watcher import watch

    err = Sink(sys.stderr)

    def tell(words: str) -> None:
        if not options.quiet:
            err.line(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {printable(words)}")

    codes = asyncio.run(watch(options.file, once=options.once, tell=tell))
    return worst_of(codes) if options.once else 0


# ── sumi watch status ──────────────────────────────────────────────────────────────────────────────────────

_STATUS_EXAMPLES = """\
examples:
  sumi watch status nightly.toml
  sumi watch status nightly.toml --json | jq -r 'select(.code != 0).name'
"""


def status_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi watch status",
        usage="sumi watch status [options] FILE",
        description="Shows the jobs of a watch file: when each ran, how it ended, and when it is due.",
        epilog=_STATUS_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="As for sumi watch.")
    parser.add_argument("--json", action="store_true", help="One JSON object per job on stdout.")
    return parser


def run_status(arguments: Sequence[str]) -> int:
    options = status_parser().parse_all(arguments)
    from sumi.watching.watcher import watch_status

    out, now = Sink(sys.stdout), time.time()
    jobs = watch_status(Path(options.file))
    width = max(len(job.name) for job in jobs)
    for job in jobs:
        if options.json:
            out.line(msgspec.json.encode(job).decode())
            continue
        ran = "never ran" if job.started is None else f"ran {_moment(job.started)}"
        ended = "" if job.code is None else f", exit code {job.code}"
        due = "running" if job.running else "due now" if job.due <= now else f"due {_moment(job.due)}"
        shown = f"{due:<22}  {ran}{ended}  ({job.schedule})  {printable(job.command)}"
        out.line(f"{job.name:<{width}}  {shown}")
    return 0


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))

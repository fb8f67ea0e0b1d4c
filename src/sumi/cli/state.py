"""``sumi state``: whether a job's stored state is whole, making it so, and carrying it to another backend."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sumi.console.open_job import only_job, refuse_captures, stored_jobs
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import StateLocked, UsageError

if TYPE_CHECKING:
    from sumi.state.check import Finding
    from sumi.state.lock import FolderLock

WHOLE, VIOLATED = 0, 1

_EXAMPLES = """\
examples:
  sumi state check                        every job in ./output, quickly
  sumi state check output/docs.example.org --deep
  sumi state check workspace              the crawler's and the scraper's, and their archive
  sumi state check --repair               then run the job again: it fetches what was queued
  sumi state migrate output/docs.example.org copy-of-state --to files
  sumi state migrate workspace/index/page_index.jsonl workspace/state/page_index.lmdb --to lmdb
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi state",
        usage="sumi state check [options] [DIR]\n       sumi state migrate [options] FROM TO",
        description=(
            "Checks that a job's stored state and its files agree, and repairs them; or copies the state, or "
            "the page index of a crawl, to another backend. Exit code 1 if something is wrong."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("action", metavar="check|migrate", choices=("check", "migrate"), help="What to do.")
    parser.add_argument(
        "folders",
        metavar="DIR",
        nargs="*",
        help="For check: an output folder, one host's folder in it, or a workspace. Default: output.",
    )
    check = parser.add_argument_group("check")
    check.add_argument("--deep", action="store_true", help="Also read every page and compare its hash.")
    check.add_argument(
        "--repair",
        action="store_true",
        help="Queue pages with bad files again, set stray and damaged files aside, rewrite derived files.",
    )
    check.add_argument("--json", action="store_true", help="One JSON object per violation on stdout.")
    migrate = parser.add_argument_group("migrate")
    migrate.add_argument(
        "--to",
        metavar="BACKEND",
        help="Backend of the new state: files, sqlite or lmdb; of an index: files or lmdb. Default: files.",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    if options.action == "check":
        if options.to is not None:
            parser.error("--to belongs to migrate")
        return _check_all(parser, options)
    if options.deep or options.repair or options.json:
        parser.error("--deep, --repair and --json belong to check")
    return _migrate(parser, options)


# ── check ──────────────────────────────────────────────────────────────────────────────────────────────────


def _check_all(parser: SentenceParser, options: argparse.Namespace) -> int:
    if len(options.folders) > 1:
        parser.error("check takes one folder")
    states = refuse_captures(stored_jobs(options.folders[0] if options.folders else "output"))
    return max(asyncio.run(_check(state, options)) for state in states)


async def _check(state: Path, options: argparse.Namespace) -> int:
    with _held(state, repair=options.repair) as lock:
        return await _checked(state, options, lock)


@contextmanager
def _held(state: Path, *, repair: bool) -> "Iterator[FolderLock | None]":
    """A repair keeps everybody out from the first look on: what it would put right may be right by then. A
    check keeps nobody out, and says so if a run that began meanwhile made its findings worthless."""
    from sumi.state.lock import FolderLock, lock_holder, lock_text

    if repair:
        lock = FolderLock(state, command="sumi state check")
        try:
            yield lock
        finally:
            lock.release()
        return
    before = lock_text(state)
    holder = lock_holder(state)
    if holder is None:
        yield None
        holder = lock_holder(state)
    if holder is not None or lock_text(state) != before:
        who = holder or "another command meanwhile"
        raise StateLocked(f"{state} is in use by {who}: wait for it, or stop it, then check again")


async def _checked(state: Path, options: argparse.Namespace, lock: "FolderLock | None") -> int:
    from sumi.cli.state_check import check_state

    out, err = Sink(sys.stdout), Sink(sys.stderr)

    def show(findings: list["Finding"]) -> None:
        for finding in findings:
            fields = {"folder": str(state.parent), **msgspec.to_builtins(finding)}
            out.line(json.dumps(fields) if options.json else printable(finding.words))

    findings = await check_state(state, time.time(), deep=options.deep)
    show(findings)
    if findings and lock is not None:
        findings = await _repair(state, findings, err, lock, deep=options.deep)
        show(findings)
    err.line(f"{printable(str(state.parent))}: {_verdict(len(findings))}")
    return VIOLATED if findings else WHOLE


def _verdict(number: int) -> str:
    if not number:
        return "whole: state and files agree"
    return "one violation" if number == 1 else f"{number:,} violations"


async def _repair(
    state: Path, findings: list["Finding"], err: Sink, lock: "FolderLock", *, deep: bool
) -> list["Finding"]:
    """What is still wrong afterwards."""
    from sumi.cli.state_check import check_state
    from sumi.cli.state_repair import repair, save_state

    if any(finding.damaged for finding in findings):
        kept = save_state(state)
        err.line(f"damaged state kept in {printable(str(kept))}")
        findings = await check_state(state, time.time(), deep=True)
    await repair(state, findings, lambda words: err.line(printable(words)), lock)
    return await check_state(state, time.time(), deep=deep)


# ── migrate ────────────────────────────────────────────────────────────────────────────────────────────────


def _migrate(parser: SentenceParser, options: argparse.Namespace) -> int:
    if len(options.folders) != 2:
        parser.error("migrate takes two folders: FROM and TO")
    from sumi.jobs.pipeline.page_index import is_page_index, migrate_index
    from sumi.state.migrate import migrate

    given, target = Path(options.folders[0]), Path(options.folders[1])
    if target.exists():
        raise UsageError(f"{target} exists already; give a folder that does not")
    if is_page_index(given):
        with _writers_kept_out(given):
            pages = migrate_index(given, target, options.to or "files")
        print(f"{pages:,} pages carried from {printable(str(given))} to {printable(str(target))}")
        return WHOLE
    source = only_job(options.folders[0])
    urls = asyncio.run(migrate(source, target, options.to or "files", time.time()))
    print(f"{urls:,} URLs carried from {printable(str(source))} to {printable(str(target))}")
    return WHOLE


@contextmanager
def _writers_kept_out(index: Path) -> Iterator[None]:
    """A crawl or a scraper of the workspace that the index is in would put pages into it meanwhile."""
    from sumi.jobs.pipeline.workspace import MARKER
    from sumi.state.lock import LOCK_NAME, FolderLock
    from sumi.state.migrate import COMMAND

    workspace = next((above for above in index.resolve().parents if (above / MARKER).is_file()), None)
    with ExitStack() as held:
        for lock in sorted(workspace.glob(f"*/**/{LOCK_NAME}")) if workspace is not None else ():
            held.callback(FolderLock(lock.parent, command=COMMAND).release)
        yield

"""``sumi state``: checks and repairs the stored state of a job, or copies it to another backend."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.policy import is_database

if TYPE_CHECKING:
    from sumi.events import Event
    from sumi.state.check import Finding

WHOLE, VIOLATED = 0, 1

_ACTIONS = ("check", "migrate", "setup", "gc")
_EXAMPLES = """\
examples:
  sumi state check                        every job in ./output, quickly
  sumi state check output/docs.example.org --deep
  sumi state check workspace              the crawler's and the scraper's, and their archive
  sumi state check --repair               then run the job again: it fetches what was queued
  sumi state migrate output/docs.example.org copy-of-state --to files
  sumi state setup postgresql://db.example.org/sumi    once, before the first job there
  sumi state migrate output/docs.example.org postgresql://db.example.org/sumi --store s3://pages/docs
  sumi state migrate postgresql://db.example.org/sumi output --job docs.example.org
  sumi state gc output/docs.example.org --dry-run
  sumi state migrate workspace/index/page_index.jsonl workspace/state/page_index.lmdb --to lmdb
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi state",
        usage=(
            "sumi state check [options] [DIR]\n       sumi state migrate [options] FROM TO\n"
            "       sumi state setup postgresql://HOST/DATABASE\n       sumi state gc [options] DIR"
        ),
        description=(
            "Checks that a job's stored state and its files agree, and repairs them; or copies the state, or "
            "the page index of a crawl, to another backend; or prepares a database for many machines; or "
            "removes from a job's store what no page needs any more. Exit code 1 if something is wrong."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("action", metavar="|".join(_ACTIONS), choices=_ACTIONS, help="What to do.")
    parser.add_argument(
        "folders",
        metavar="DIR",
        nargs="*",
        help="For check: an output folder, one site's folder in it, or a workspace. Default: output. For "
        "setup: the address of a database, without a password.",
    )
    parser.add_argument("--job", metavar="NAME", help="In a database, which job. Default: the only one.")
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
    migrate.add_argument(
        "--store",
        metavar="URL",
        help="To a database: where the pages go, s3://BUCKET/PREFIX or file:///FOLDER.",
    )
    gc = parser.add_argument_group("gc")
    gc.add_argument("--dry-run", action="store_true", help="Say what would be removed, and remove nothing.")
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    if options.dry_run and options.action != "gc":
        parser.error("--dry-run belongs to gc")
    if options.to is not None and options.action != "migrate":
        parser.error("--to belongs to migrate")
    if options.action == "setup":
        return _set_up(parser, options)
    if options.action == "check":
        return _check(parser, options)
    if options.deep or options.repair or options.json:
        parser.error("--deep, --repair and --json belong to check")
    return _migrate(parser, options) if options.action == "migrate" else _collect(parser, options)


def _set_up(parser: SentenceParser, options: argparse.Namespace) -> int:
    if len(options.folders) != 1 or not is_database(options.folders[0]):
        parser.error("setup takes the address of a database: postgresql://HOST/DATABASE")
    from sumi.inspection.shared_jobs import set_up_database

    out = Sink(sys.stdout)
    for line in asyncio.run(set_up_database(options.folders[0])):
        out.line(printable(line))
    return WHOLE


def _check(parser: SentenceParser, options: argparse.Namespace) -> int:
    if options.repair and options.folders and is_database(options.folders[0]):
        parser.error("--repair is for jobs on this machine")
    if len(options.folders) > 1:
        parser.error("check takes one folder")
    return asyncio.run(_show_checks(options.folders[0] if options.folders else "output", options))


async def _show_checks(folder: str, options: argparse.Namespace) -> int:
    from sumi.inspection.state import checks

    out, err = Sink(sys.stdout), Sink(sys.stderr)

    def tell(words: str) -> None:
        err.line(printable(words))

    def show(job: Path, finding: "Finding") -> None:
        fields = {"folder": str(job), **msgspec.to_builtins(finding)}
        out.line(json.dumps(fields) if options.json else printable(finding.words))

    code = WHOLE
    if is_database(folder):
        from sumi.inspection.shared_jobs import check_shared

        findings = await check_shared(folder, options.job, deep=options.deep)
        for finding in findings:
            show(Path(options.job or folder), finding)
        tell(f"{options.job or folder}: {_verdict(len(findings))}")
        return VIOLATED if findings else WHOLE
    async for job in checks(folder, deep=options.deep, repair=options.repair, tell=tell, on_finding=show):
        tell(f"{job.folder}: {_verdict(len(job.findings))}")
        code = VIOLATED if job.findings else code
    return code


def _verdict(number: int) -> str:
    if not number:
        return "whole: state and files agree"
    return "one violation" if number == 1 else f"{number:,} violations"


def _migrate(parser: SentenceParser, options: argparse.Namespace) -> int:
    if len(options.folders) != 2:
        parser.error("migrate takes two folders, or a folder and a database: FROM and TO")
    source, target = options.folders
    if is_database(source) or is_database(target):
        return _migrate_shared(parser, options)
    if options.store is not None or options.job is not None:
        parser.error("--store and --job belong to a database: postgresql://HOST/DATABASE")
    from sumi.inspection.state import migrate_state

    done = asyncio.run(migrate_state(source, target, options.to or "files"))
    print(f"{done.number:,} {done.what} copied from {printable(str(done.source))} to {printable(target)}")
    return WHOLE


def _migrate_shared(parser: SentenceParser, options: argparse.Namespace) -> int:
    from sumi.events import Busy, Warned
    from sumi.inspection.state import migrate_down, migrate_up

    source, target = options.folders
    err = Sink(sys.stderr)

    def tell(event: "Event") -> None:
        if isinstance(event, Busy | Warned):
            err.line(printable(event.with_what if isinstance(event, Busy) else event.message))

    if is_database(target):
        if options.to is not None:
            parser.error("--to is for a copy in a folder")
        number = asyncio.run(migrate_up(source, target, options.job, options.store, tell))
    else:
        if options.store is not None:
            parser.error("--store is for a copy in a database; one in a folder has files")
        number = asyncio.run(migrate_down(source, target, options.job, options.to or "files", tell))
    print(f"{number:,} URLs copied from {printable(source)} to {printable(target)}")
    return WHOLE


def _collect(parser: SentenceParser, options: argparse.Namespace) -> int:
    if len(options.folders) != 1:
        parser.error("gc takes one job")
    from sumi.inspection.state import collect

    place = options.folders[0]
    if is_database(place):
        from sumi.inspection.shared_jobs import collect_shared

        found = asyncio.run(collect_shared(place, options.job, dry_run=options.dry_run))
    else:
        found = asyncio.run(collect(place, dry_run=options.dry_run))
    what = "would be removed" if options.dry_run else "removed"
    print(f"{found.segments:,} segments with {found.bytes:,} bytes {what}, {found.kept:,} are too young yet")
    return WHOLE

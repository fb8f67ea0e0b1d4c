"""``sumi pause``, ``sumi resume`` and ``sumi stop``: what all workers of a job in a database are to do."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import is_database

_WISHES: Final = {
    "pause": ("pause", "Pauses a job in a database: its workers finish the pages in flight and then wait."),
    "resume": (
        "run",
        "Lets a paused or stopped job in a database go on; start its workers again if they ended.",
    ),
    "stop": ("stop", "Stops a job in a database: its workers finish the pages in flight and then end."),
}
_SAID: Final = {
    "pause": "is paused; sumi resume lets it go on",
    "resume": "goes on",
    "stop": "is stopped; sumi resume, and then sumi worker, lets it go on",
}


def _parser(verb: str) -> SentenceParser:
    parser = SentenceParser(
        prog=f"sumi {verb}",
        usage=f"sumi {verb} [--job NAME] postgresql://HOST/DATABASE",
        description=_WISHES[verb][1],
        epilog=(
            f"examples:\n  sumi {verb} postgresql://db.example.org/sumi\n"
            f"  sumi {verb} postgresql://db.example.org/sumi --job docs\n"
        ),
    )
    parser.add_argument("address", metavar="ADDRESS", help="The address of the database, without a password.")
    parser.add_argument("--job", metavar="NAME", help="Which job. Default: the only one.")
    return parser


def _run(verb: str, arguments: Sequence[str]) -> int:
    options = _parser(verb).parse_all(arguments)
    if not is_database(options.address):
        raise UsageError(f"{options.address} is not the address of a database: it begins with postgresql://")
    from sumi.inspection.shared_jobs import make_wish

    wished = asyncio.run(make_wish(options.address, options.job, _WISHES[verb][0]))
    workers = "no worker" if not wished.workers else f"{wished.workers} at work"
    Sink(sys.stdout).line(printable(f"{wished.job} {_SAID[verb]} ({workers})"))
    return 0


def pause_parser() -> SentenceParser:
    return _parser("pause")


def run_pause(arguments: Sequence[str]) -> int:
    return _run("pause", arguments)


def resume_parser() -> SentenceParser:
    return _parser("resume")


def run_resume(arguments: Sequence[str]) -> int:
    return _run("resume", arguments)


def stop_parser() -> SentenceParser:
    return _parser("stop")


def run_stop(arguments: Sequence[str]) -> int:
    return _run("stop", arguments)

"""``sumi pause``, ``sumi resume`` and ``sumi stop``: running jobs steered from another terminal or a script.

A job in a folder is told by its flag files. A job in a database is told by a row that all workers read.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import SumiError, UsageError
from sumi.policy import is_database

if TYPE_CHECKING:
    from sumi.catalogue.find import Job

_WISHES: Final = {
    "pause": (
        "pause",
        "Pauses running jobs: the pages in flight are finished and nothing new is fetched until sumi resume.",
    ),
    "resume": (
        "run",
        "Lets paused jobs go on, and stopped jobs in a database: start their workers again if they ended.",
    ),
    "stop": ("stop", "Stops running jobs, as one Ctrl-C does: the pages in flight are finished."),
}
_SAID_OF_DATABASE: Final = {
    "pause": "is paused; sumi resume lets it go on",
    "resume": "goes on",
    "stop": "is stopped; sumi resume, and then sumi worker, lets it go on",
}
_SAID: Final = {
    "pause": "pauses within a second; sumi resume lets it go on",
    "resume": "goes on within a second",
    "stop": "stops as soon as its pages in flight are done; the command that started it continues it",
}


def _parser(verb: str) -> SentenceParser:
    parser = SentenceParser(
        prog=f"sumi {verb}",
        usage=f"sumi {verb} PLACE | [--job NAME] postgresql://HOST/DATABASE",
        description=_WISHES[verb][1],
        epilog=(
            f"examples:\n  sumi {verb} output/docs.example.org\n"
            f"  sumi {verb} output                                 every running job below it\n"
            f"  sumi {verb} web.db                                 a map\n"
            f"  sumi {verb} postgresql://db.example.org/sumi --job docs\n"
        ),
    )
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="A job's folder or a folder above it, a workspace, the database file of a map, or the "
        "address of a PostgreSQL database, without a password.",
    )
    parser.add_argument("--job", metavar="NAME", help="Which job of the database. Default: the only one.")
    return parser


def _run(verb: str, arguments: Sequence[str]) -> int:
    options = _parser(verb).parse_all(arguments)
    if is_database(options.place):
        lines = [_tell_workers(verb, options.place, options.job)]
    elif options.job is not None:
        raise UsageError(f"--job names a job of a PostgreSQL database, and {options.place} is none")
    else:
        lines = _tell_runs(verb, options.place)
    out = Sink(sys.stdout)
    for line in lines:
        out.line(printable(line))
    return 0


def _tell_workers(verb: str, address: str, name: str | None) -> str:
    from sumi.inspection.shared_jobs import make_wish

    wished = asyncio.run(make_wish(address, name, _WISHES[verb][0]))
    workers = "no worker" if not wished.workers else f"{wished.workers} at work"
    return f"{wished.job} {_SAID_OF_DATABASE[verb]} ({workers})"


def _tell_runs(verb: str, place: str) -> list[str]:
    from sumi.catalogue.find import find_jobs

    jobs = find_jobs(place)
    if not jobs:
        raise UsageError(f"{place} holds no job of Sumi; give the folder of one, or the database of a map")
    if verb == "resume":
        told = [job for job in jobs if _unpause(job)]
    else:
        told = [job for job in jobs if job.process is not None]
        for job in told:
            _flag(verb, job)
    if not told:
        state = "paused" if verb == "resume" else "running"
        raise UsageError(f"no job at {place} is {state}; sumi status {place} says where they stand")
    return [_sentence(verb, job) for job in told]


def _sentence(verb: str, job: "Job") -> str:
    if job.process is None:
        return f"{job.name} is no longer paused, but it is not running: start it with the command of before"
    return f"{job.name} {_SAID[verb]}"


def _unpause(job: "Job") -> bool:
    from sumi.catalogue import steering

    role = _role(job)
    return bool(role) and steering.resume(job.home, role)


def _flag(verb: str, job: "Job") -> None:
    from sumi.catalogue import steering

    role = _role(job)
    if not role:
        raise UsageError(f"{job.name} has just begun: try again in a moment")
    (steering.pause if verb == "pause" else steering.stop)(job.home, role)


def _role(job: "Job") -> str:
    """What its flag files are called after; "" when its state does not say yet, or cannot be read."""
    from sumi.catalogue.find import JobKind

    if job.kind is not JobKind.CRAWL:
        return str(job.kind)
    with suppress(SumiError):
        return asyncio.run(_noted_role(job))
    return ""


async def _noted_role(job: "Job") -> str:
    from sumi.catalogue.role import load_role
    from sumi.console.open_job import looking_at

    async with looking_at(job.state) as store:
        role = await load_role(store, job.state)
    return "" if role is None else role.job


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

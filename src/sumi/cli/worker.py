"""``sumi worker``: helps with a job that is in a database, on this machine, with one process or several."""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sumi.console.narration import Verbosity
from sumi.console.options import add_loudness, add_progress, add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, choose_reporter, ignore_questions
from sumi.console.summary import exit_code, worst_of
from sumi.console.terminal import Sink
from sumi.errors import INTERRUPTED, StateError, UsageError
from sumi.jobs.mirror.settings import SETTINGS
from sumi.policy import is_database
from sumi.settings.sources import SECRET, gathered

if TYPE_CHECKING:
    from sumi.events import Summary
    from sumi.state.cluster.jobs import JobRow

_OWN: Final = (
    *("output", "job", "seen-memory", "min-free", "browser", "ca-file", "identity", "shared-pace"),
    *("max-time", "log-file", "metrics-file", "allow-failed", "max-failed", "notify", "notify-secret"),
)
TABLE: Final = tuple(setting for setting in SETTINGS if setting.name in _OWN)
# Secrets can only come from the environment.
_HIDDEN: Final = tuple(setting for setting in SETTINGS if setting.field in SECRET)
_MOST_PROCESSES: Final = 64

_EXAMPLES = """\
examples:
  sumi worker postgresql://db.example.org/sumi                  the only job there is
  sumi worker postgresql://db.example.org/sumi --job docs -o /data/docs
  sumi worker postgresql://db.example.org/sumi --processes 8    all cores, for a job of many hosts

The password comes from PGPASSWORD, a password file or a service file, never from the address.
Ctrl-C stops this worker only: others take over its hosts. sumi stop ends the job for all.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi worker",
        usage="sumi worker [options] postgresql://HOST/DATABASE",
        description=(
            "Helps with a job in a database, from the settings that are stored with it: takes a share of its "
            "hosts and asks them politely, until the job is over. Start as many as wanted, on any machine."
        ),
        epilog=_EXAMPLES,
        usual=("address", "--job", "--processes", "--output", "--quiet", "--verbose"),
    )
    parser.add_argument("address", metavar="ADDRESS", help="The address of the database, without a password.")
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="Workers on this machine, each with a folder of its own: for jobs of many hosts. Default: 1.",
    )
    add_settings(parser, TABLE)
    report = parser.add_argument_group("reporting")
    add_loudness(report)
    add_progress(report)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    if not is_database(options.address):
        raise UsageError(f"{options.address} is not the address of a database: it begins with postgresql://")
    if not 1 <= options.processes <= _MOST_PROCESSES:
        raise UsageError(f"--processes must be from 1 to {_MOST_PROCESSES}, but is {options.processes}")
    own = gathered(given_flags(options, TABLE), os.environ, None, (*TABLE, *_HIDDEN), "mirror")
    if options.processes > 1:
        return _several(options, arguments, str(own.get("output", "output")))
    reporter = choose_reporter(
        Verbosity.of(verbose=options.verbose, quiet=options.quiet),
        Sink(sys.stdout),
        Sink(sys.stderr),
        os.environ,
        as_json=options.json,
        progress=options.progress,
    )
    return exit_code(_work(options.address, own, reporter))


def _work(address: str, own: dict[str, object], reporter: Reporter) -> "Summary":
    ignore_questions()
    try:
        from sumi.assembly.many_machines import look_up
        from sumi.assembly.parts import run_loop
        from sumi.assembly.shared_job import read_recipe

        name = own.pop("job", None)
        row = asyncio.run(look_up(address, None if name is None else str(name), reporter))
        _require_known(row, address)
        recipe = read_recipe(row.name, row.recipe)
        if row.kind == "capture":
            from sumi.jobs.capture.run import join_capture
            from sumi.jobs.capture.sharing import settings_for_worker as settings_for_capture

            captured = settings_for_capture(recipe, address, row.name, own)
            return run_loop(join_capture(captured, [reporter]))
        if row.kind == "map":
            from sumi.jobs.map.shared_run import join_map

            return run_loop(join_map(recipe, address, row.name, own, [reporter]))
        from sumi.jobs.mirror.run import join_mirror
        from sumi.jobs.mirror.sharing import settings_for_worker

        settings = settings_for_worker(recipe, address, row.name, own)
        return run_loop(join_mirror(settings, [reporter]))
    finally:
        reporter.close()


def _require_known(row: "JobRow", address: str) -> None:
    if row.wish == "stop":
        raise StateError(f"the job {row.name} is stopped: sumi resume lets workers go on with it")
    if row.kind not in ("mirror", "capture", "map"):
        command = "run --unified" if row.kind == "unified" else "run"
        raise StateError(
            f"the job {row.name} is a crawl, whose configuration is not in the database: help with it by "
            f"sumi {command} --config FILE --state {address} --job {row.name}, with the same file"
        )


def _several(options: argparse.Namespace, arguments: Sequence[str], output: str) -> int:
    """Processes of this command, each with a folder of its own. Signals reach all of them."""
    words = _without_processes(arguments)
    children = []
    for number in range(1, options.processes + 1):
        folder = str(Path(output) / f"worker-{number}")
        command = [sys.executable, "-m", "sumi", "worker", *words, "--output", folder]
        child = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - this command itself
        children.append(child)

    def forward(number: int, _frame: object) -> None:
        for child in children:
            if child.poll() is None:
                child.send_signal(number)

    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        codes = [child.wait() for child in children]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return worst_of([code if code >= 0 else INTERRUPTED for code in codes])


def _without_processes(arguments: Sequence[str]) -> list[str]:
    kept, skip = [], False
    for word in arguments:
        if skip or word == "--processes":
            skip = word == "--processes"
        elif not word.startswith("--processes="):
            kept.append(word)
    return kept

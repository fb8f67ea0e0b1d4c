"""``sumi doctor``: is this machine, and this disk, fit to crawl on? With --crash, by proof."""

import sys
from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import StateBackend

_FINE, _NOT_FINE = 0, 1
_MOST_KILLS = 1000

_EXAMPLES = """\
examples:
  sumi doctor                          versions, and facts about the current folder's disk
  sumi doctor /data                    the same for another disk
  sumi doctor --crash /data            mirror a small site there, killed ten times, with each kind of state
  sumi doctor --crash /data --state lmdb --kills 50 --seed 7
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi doctor",
        usage="sumi doctor [DIR] | sumi doctor --crash DIR [--state BACKEND] [--kills N] [--seed N]",
        description="Checks versions and the disk. With --crash, proves that a kill loses nothing there.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="Whose disk to look at.")
    parser.add_argument("--crash", metavar="DIR", help="Crawl in a new folder there, and kill it at random.")
    parser.add_argument(
        "--state",
        metavar="BACKEND",
        choices=list(StateBackend),
        help="Only with state kept in files, sqlite or lmdb. Default: each in turn.",
    )
    parser.add_argument("--kills", metavar="N", type=int, default=10, help="How often. Default: 10.")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="Of chance. Default: 1.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = Path(options.crash or options.folder)
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is not a folder: name one that exists")
    if not 1 <= options.kills <= _MOST_KILLS:
        raise UsageError(f"--kills must be from 1 to {_MOST_KILLS:,}, but is {options.kills:,}")
    out = Sink(sys.stdout)
    if options.crash:
        states = [StateBackend(options.state)] if options.state else list(StateBackend)
        return max(_prove(folder, state, options.kills, options.seed, out) for state in states)
    return _examine(folder, out)


def _examine(folder: Path, out: Sink) -> int:
    from sumi.cli.doctor_browser import browser_checks
    from sumi.cli.doctor_disk import disk_lines
    from sumi.cli.doctor_versions import version_checks

    checks = [*version_checks(), *browser_checks()]
    out.line("versions")
    for check in checks:
        out.line(f"  {check.name:<16}{check.found:<16}{check.remark}".rstrip())
    out.line(f"\ndisk of {printable(str(folder.resolve()))}")
    for line in disk_lines(folder):
        out.line(f"  {line}")
    return _FINE if all(check.met for check in checks) else _NOT_FINE


def _prove(folder: Path, state: StateBackend, kills: int, seed: int, out: Sink) -> int:
    from sumi.cli.crash_trial import CrashTrial

    trial = CrashTrial(folder, state, kills, seed, lambda line: out.line(printable(line)))
    faults = trial.run()
    for fault in faults:
        out.line(f"  broken: {printable(fault)}")
    verdict = "the promise is BROKEN here" if faults else "nothing lost, nothing twice"
    out.line(f"verdict on {state}: {verdict}")
    return _NOT_FINE if faults else _FINE

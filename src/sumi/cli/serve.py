"""``sumi serve``: a local web page on the jobs below some folders."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.errors import UsageError
from sumi.policy import is_database

PORT = 7864
_DEFAULT_PLACES = ("output", "captures")
_WATCH_FILE = ".toml"
_EXAMPLES = """\
examples:
  sumi serve                     the jobs in ./output and ./captures
  sumi serve library --open      those below library, in your browser
  sumi serve library nightly.toml    and what sumi watch nightly.toml runs, and when
  sumi serve --read-only         nothing can be started or stopped from the page
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi serve",
        usage="sumi serve [options] [DIR...]",
        description=(
            "Opens a window in your browser on running and finished jobs: progress, failures, pages beside "
            "their source, changes. It is only for you: on this machine, with a key that is printed."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "folders",
        metavar="DIR",
        nargs="*",
        help=(
            "Folders with jobs, or above them, and files of sumi watch. Default: output and captures, and "
            "the watch files in this folder."
        ),
    )
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"0 for any free one. Default: {PORT}."
    )
    parser.add_argument("--open", action="store_true", help="Open it in the browser.")
    parser.add_argument(
        "--read-only", action="store_true", help="Look only: nothing can be started, paused or stopped."
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="Also answer to this name, such as that of a proxy in front. Repeatable.",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help="Also reachable from other machines, at this address. Needs --token-file.",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="A file that only you can read, with a key of 32 characters or more. Default: a new one.",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    try:
        from sumi.serve.server import Listening, serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UsageError("sumi serve needs two more libraries: pip install 'sumi[serve]'") from None
    listening = Listening(
        port=options.port,
        names=tuple(options.name),
        address=options.listen,
        token_file=None if options.token_file is None else Path(options.token_file),
        read_only=options.read_only,
        open_browser=options.open,
        watch_files=tuple(_watch_files(options.folders)),
    )
    return serve(_places(options.folders), listening, sys.stderr)


def _watch_files(given: Sequence[str]) -> list[Path]:
    if not given:
        from sumi.watching.watcher import found_plans

        return found_plans(Path())
    return [Path(name) for name in given if name.endswith(_WATCH_FILE) and os.path.isfile(name)]


def _places(given: Sequence[str]) -> list[Path]:
    places: list[Path] = []
    for name in given:
        if name.endswith(_WATCH_FILE) and os.path.isfile(name):
            continue
        if is_database(name):
            from sumi.catalogue.database_jobs import linked_folders

            places += linked_folders(name)
        elif os.path.exists(name):
            places.append(Path(name))
        else:
            raise UsageError(f"{name} does not exist: give a folder with jobs of Sumi")
    return places or [Path(name) for name in _DEFAULT_PLACES]

"""``sumi rebuild``: options, and what is shown of each page."""

import argparse
import difflib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable

if TYPE_CHECKING:
    from sumi.jobs.mirror.rebuild import Rebuilt

DONE, INCOMPLETE = 0, 1

_EXAMPLES = """\
examples:
  sumi rebuild                                   the mirror in ./output
  sumi rebuild output/docs.example.org --diff    and show what changed
  sumi rebuild --dry-run --diff                  only show it
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi rebuild",
        usage="sumi rebuild [options] [DIR]",
        description=(
            "Makes the Markdown of a mirror again from the original pages, which a mirror keeps unless "
            "--no-raw was given. Fetches nothing; writes only files that change."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default="output",
        help="An output folder with all its sites, or one site's folder in it. Default: output.",
    )
    parser.add_argument("--dry-run", action="store_true", help="Change nothing; show what would change.")
    parser.add_argument("--diff", action="store_true", help="Show the changed lines of every file.")
    parser.add_argument("--json", action="store_true", help="One JSON object per page on stdout.")
    parser.add_argument(
        "--processes",
        metavar="N",
        type=int,
        help="Worker processes; 0 for none. Default: by the number of cores.",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    from sumi.assembly.parts import run_loop
    from sumi.jobs.mirror.rebuild import rebuild

    out, err = Sink(sys.stdout), Sink(sys.stderr)
    pages = changed = 0

    def show(page: "Rebuilt") -> None:
        nonlocal pages, changed
        pages, changed = pages + 1, changed + page.changed
        for line in _shown(page, options):
            out.line(line)
        if pages % 1000 == 0:
            err.line(f"{pages:,} pages so far, {changed:,} changed")

    done = run_loop(
        rebuild(options.folder, dry_run=options.dry_run, processes=options.processes, on_page=show)
    )
    would = "would change" if options.dry_run else "changed"
    left = f", {done.problems:,} left as they are" if done.problems else ""
    same = done.pages - done.changed - done.problems
    err.line(f"rebuilt {done.pages:,} pages: {done.changed:,} {would}, {same:,} the same{left}")
    return INCOMPLETE if done.problems else DONE


def _shown(page: "Rebuilt", options: argparse.Namespace) -> Iterator[str]:
    if options.json:
        state = "problem" if page.problem else "changed" if page.changed else "same"
        yield json.dumps({"url": page.url, "path": page.path, "result": state, "problem": page.problem})
    elif page.problem:
        yield f"{printable(page.path)}: not touched: {printable(page.problem)}"
    elif page.changed and options.diff:
        yield from map(printable, _difference(page))
    elif page.changed:
        yield printable(page.path)


def _difference(page: "Rebuilt") -> Iterator[str]:
    before = (page.before or b"").decode("utf-8", "replace").splitlines()
    after = page.after.decode("utf-8", "replace").splitlines()
    return difflib.unified_diff(before, after, f"a/{page.path}", f"b/{page.path}", lineterm="", n=2)

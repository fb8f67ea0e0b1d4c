"""``sumi map diff``: what became different between two runs of a map."""

import sys
from collections import Counter
from collections.abc import Sequence

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.jobs.map.diff import Difference, Subject, diff_map

SAME, DIFFERENT = 0, 1

_EXAMPLES = """\
examples:
  sumi map diff 1 2 web.toml
  sumi map diff 3 7 map.db --json | jq 'select(.event == "went")'
"""
_SIGNS = {"came": "+", "went": "-", "changed": "~"}


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map diff",
        usage="sumi map diff [options] RUN RUN DB_OR_CONFIG",
        description=(
            "Shows pages, links and domains added (+), removed (-) or changed (~) between two runs of a map. "
            "Exit code 1 if there is any difference."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("old", metavar="RUN", type=int, help="Number of the earlier run.")
    parser.add_argument("new", metavar="RUN", type=int, help="Number of the later run.")
    parser.add_argument(
        "place", metavar="DB_OR_CONFIG", help="The map's database, or its configuration (.toml)."
    )
    parser.add_argument("--json", action="store_true", help="One JSON object per difference.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    counts: Counter[Subject] = Counter()
    out = Sink(sys.stdout)
    for difference in diff_map(options.place, options.old, options.new):
        counts[difference.subject] += 1
        out.line(msgspec.json.encode(difference).decode() if options.json else _line(difference))
    parts = ", ".join(f"{counts[subject]:,} {subject}s" for subject in Subject)
    print(f"run {options.old} to run {options.new}: {parts} differ", file=sys.stderr)
    return DIFFERENT if counts else SAME


def _line(one: Difference) -> str:
    target = f" -> {printable(one.target)}" if one.target else ""
    states = " to ".join(filter(None, (one.before, one.after)))
    return f"{_SIGNS[one.event]} {one.subject:<6} {printable(one.name)}{target}" + (
        f" ({printable(states)})" if states else ""
    )

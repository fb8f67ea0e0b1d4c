"""``sumi map analyze``: what a map's graph says, in a few lists."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.jobs.map.graph import Level

if TYPE_CHECKING:
    from sumi.jobs.map.analysis import Analysis

_EXAMPLES = """\
examples:
  sumi map analyze web.toml
  sumi map analyze map.db --level page --top 50
  sumi map analyze map.db --json
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map analyze",
        usage="sumi map analyze [options] DB_OR_CONFIG",
        description=(
            "Shows which domains or pages have the most links, which are central (PageRank), which belong "
            "together (communities), and which links are the only way to a part of the map (bridges)."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "place", metavar="DB_OR_CONFIG", help="The map's database, or its configuration (.toml)."
    )
    parser.add_argument(
        "--level",
        type=Level,
        choices=tuple(Level),
        default=Level.DOMAIN,
        metavar="page|domain",
        help="A node per page, or per domain. Default: domain.",
    )
    parser.add_argument("--top", type=int, default=20, metavar="N", help="Length of each list. Default: 20.")
    parser.add_argument("--json", action="store_true", help="Write one JSON object.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    from sumi.jobs.map.analysis import analyze_map

    analysis = analyze_map(options.place, options.level, options.top)
    out = Sink(sys.stdout)
    for line in [msgspec.json.encode(analysis).decode()] if options.json else _lines(analysis, options.level):
        out.line(line)
    return 0


def _lines(analysis: "Analysis", level: Level) -> Iterator[str]:
    yield (
        f"{analysis.nodes:,} {level}s, {analysis.links:,} links between them, "
        f"{analysis.communities:,} communities, {analysis.bridges:,} bridges"
    )
    yield from ("", f"Linked from most {level}s")
    yield from (f"{one.value:>12,.0f}  {printable(one.name)}" for one in analysis.most_linked)
    yield from ("", "Most central, by PageRank")
    yield from (f"{one.value:>12.6f}  {printable(one.name)}" for one in analysis.most_central)
    yield from ("", "Largest communities")
    for community in analysis.largest_communities:
        yield f"{community.size:>12,}  around {', '.join(map(printable, community.leaders))}"
    yield from ("", "Bridges, between the most central first")
    for bridge in analysis.first_bridges:
        yield f"{'':>12}  {printable(bridge.one)} - {printable(bridge.other)}"

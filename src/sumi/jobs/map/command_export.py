"""``sumi map export``: a map as a file for other programs, or as a picture."""

import sys
from collections.abc import Sequence

from sumi.console.parser import SentenceParser
from sumi.console.terminal import printable
from sumi.jobs.map.exports.export import FORMATS, export_map
from sumi.jobs.map.graph import Level

_EXAMPLES = """\
examples:
  sumi map export --format html web.toml               a picture that opens in any browser, offline
  sumi map export --format gexf web.toml -o web.gexf   for Gephi
  sumi map export --format graphml --level domain --measures map.db
  sumi map export --format parquet map.db -o web.parquet    web-nodes.parquet and web-links.parquet
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map export",
        usage="sumi map export --format FORMAT [options] DB_OR_CONFIG",
        description="Writes the pages or domains of a map and the links between them to a file.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "place", metavar="DB_OR_CONFIG", help="The map's database, or its configuration (.toml)."
    )
    parser.add_argument(
        "--format", required=True, choices=FORMATS, metavar="|".join(FORMATS), help="What to write."
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="Output file. Default: next to the database, with its name."
    )
    parser.add_argument(
        "--level",
        type=Level,
        choices=tuple(Level),
        default=Level.PAGE,
        metavar="page|domain",
        help="A node per page, or per domain. Default: page.",
    )
    parser.add_argument(
        "--measures",
        action="store_true",
        help="Add degree, PageRank, community and bridges of every node (not for html).",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    written = export_map(
        options.place, options.format, options.output, level=options.level, measures=options.measures
    )
    for path in written:
        print(f"written: {printable(str(path))}", file=sys.stderr)
    return 0

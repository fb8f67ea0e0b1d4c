"""``sumi map export``: a map as a file for other programs, or as a picture."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.console.terminal import printable
from sumi.jobs.map.database import database_of, opened_map, replaced
from sumi.jobs.map.graph import Graph, Level

if TYPE_CHECKING:
    import apsw

FORMATS = ("graphml", "gexf", "parquet", "html")

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
    parser = build_parser()
    options = parser.parse_all(arguments)
    if options.measures and options.format == "html":
        parser.error("--measures is for the other formats: the picture always shows communities")
    target = Path(options.output) if options.output else _default_target(options)
    if not target.name:
        parser.error(f"--output {options.output!r} is not the name of a file")
    if any(_is_same(target, own) for own in (Path(options.place), database_of(options.place))):
        parser.error(
            f"--output {options.output} is the map itself, or its configuration: choose another file"
        )
    if target.is_dir():
        parser.error(f"--output {options.output} is a folder: name a file")
    with opened_map(options.place) as db:
        written = _write(db, options, target)
    for path in written:
        print(f"written: {printable(str(path))}", file=sys.stderr)
    return 0


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _default_target(options: argparse.Namespace) -> Path:
    database = database_of(options.place)
    return database.with_name(f"{database.stem}-{options.level}s.{options.format}")


def _write(db: "apsw.Connection", options: argparse.Namespace, target: Path) -> list[Path]:
    if options.format == "html":
        from sumi.jobs.map.exports.picture import write_picture

        with replaced(target) as file:
            write_picture(db, options.level, file)
        return [target]
    graph = _graph(db, options.level, measures=options.measures)
    if options.format == "parquet":
        return _write_parquet(graph, target)
    from sumi.jobs.map.exports.gexf import write_gexf
    from sumi.jobs.map.exports.graphml import write_graphml

    with replaced(target) as file:
        (write_gexf if options.format == "gexf" else write_graphml)(graph, file)
    return [target]


def _write_parquet(graph: Graph, target: Path) -> list[Path]:
    from sumi.jobs.map.exports.parquet import write_parquet_links, write_parquet_nodes

    written = []
    for name, write in (("nodes", write_parquet_nodes), ("links", write_parquet_links)):
        path = target.with_name(f"{target.stem}-{name}.parquet")
        with replaced(path) as file:
            write(graph, file)
        written.append(path)
    return written


def _graph(db: "apsw.Connection", level: Level, *, measures: bool) -> Graph:
    from sumi.jobs.map.graph import domain_graph, page_graph

    graph = page_graph(db) if level is Level.PAGE else domain_graph(db)
    if not measures:
        return graph
    from sumi.jobs.map.analysis import measured

    return measured(graph)

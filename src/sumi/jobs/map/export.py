"""``sumi map export``: writes a map in one of the formats, each streamed. To add one, name it in ``FORMATS``,
write a function that writes it, describe it in ``docs/guides/map.md`` and run ``make docs``.

Pictures (HTML, SVG, PNG) show domains around the chosen ones; CSV is two tables, of nodes and of links.
GraphML is read by Gephi, yEd, Cytoscape, igraph and NetworkX; GEXF 1.3 is native to Gephi; Parquet, a table
of nodes and one of links, is for pandas, DuckDB and Spark and needs PyArrow (``sumi[terrain]``).
"""

import csv
import importlib.util
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final

import apsw

from sumi.errors import UsageError
from sumi.files.safe_files import SafeFolder
from sumi.jobs.map.database import database_path, open_map
from sumi.jobs.map.graph import Column, ColumnType, Graph, Level, Row, domain_graph, page_graph
from sumi.state.folder import refuse_to_replace

PICTURES = ("html", "svg", "png")
FORMATS = (*PICTURES, "csv", "graphml", "gexf", "parquet")


def export_map(
    place: str | PathLike[str],
    form: str,
    output: str | PathLike[str] | None = None,
    *,
    level: str | None = None,
    measures: bool = False,
) -> list[Path]:
    """``sumi map export``; returns the files written. ``place`` is the map's database, or its configuration
    (.toml).

    ``output``: by default a file next to the database. ``level``: a node per page, or per domain; by default
    what the format can show.
    ``measures``: also write degree, PageRank, community and bridges of every node.
    """
    if form not in FORMATS:
        raise UsageError(f"{form!r} is not an export format: choose one of {', '.join(FORMATS)}")
    if measures and form in PICTURES:
        raise UsageError("--measures is for the other formats: a picture shows no figures")
    level = _level_for(form, level)
    database = database_path(os.fspath(place))
    target = Path(output) if output else database.with_name(f"{database.stem}-{level}s.{form}")
    if not target.name:
        raise UsageError(f"--output {str(output)!r} is not the name of a file")
    if any(_is_same(target, own) for own in (Path(place), database)):
        raise UsageError(f"--output {output} is the map itself, or its configuration: choose another file")
    if target.is_dir():
        raise UsageError(f"--output {output} is a folder: name a file")
    with open_map(os.fspath(place)) as db:
        return _write(db, form, target, Level(level), measures=measures)


def _level_for(form: str, level: str | None) -> Level:
    """Pages in a picture need the libraries that arrange them; domains need nothing."""
    if form in ("svg", "png"):
        if level == Level.PAGE:
            raise UsageError(f"{form} shows domains; --format html shows pages")
        return Level.DOMAIN
    if level is None:
        return Level.PAGE if form != "html" or _can_arrange_pages() else Level.DOMAIN
    return Level(level)


def _can_arrange_pages() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("numpy", "networkit"))


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _write(db: apsw.Connection, form: str, target: Path, level: Level, *, measures: bool) -> list[Path]:
    if form in PICTURES:
        with _replaced(target) as file:
            _write_picture(db, form, level, file)
        return [target]
    graph = _graph(db, level, measures=measures)
    if form == "parquet":
        return _write_parquet(graph, target)
    if form == "csv":
        return _write_csv(graph, target)
    with _replaced(target) as file:
        (write_gexf if form == "gexf" else write_graphml)(graph, file)
    return [target]


def _write_picture(db: apsw.Connection, form: str, level: Level, file: BinaryIO) -> None:
    from sumi.jobs.map import drawing

    if form == "html" and level is Level.PAGE:
        from sumi.jobs.map.picture import write_picture

        write_picture(db, level, file)
        return
    writers = {"html": drawing.write_page, "svg": drawing.write_svg, "png": drawing.write_png}
    writers[form](drawing.draw_domains(db), file)


def _write_csv(graph: Graph, target: Path) -> list[Path]:
    """Two tables, as for Parquet."""
    names = [column.name for column in graph.columns]
    tables: dict[str, tuple[list[str], Iterator[Row]]] = {
        "nodes": (["id", *names], ((number, *row) for number, row in enumerate(graph.nodes()))),
        "links": (["source", "target", "weight"], iter(graph.links())),
    }
    written = []
    for name, (head, rows) in tables.items():
        path = target.with_name(f"{target.stem}-{name}.csv")
        with _replaced(path) as file:
            write_lines(file, (_csv_line(row) for row in chain([head], rows)))
        written.append(path)
    return written


def _csv_line(row: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_harmless(value) for value in row])
    return line.getvalue()


def _harmless(value: object) -> object:
    """Spreadsheets run what begins like a formula, and titles come from the web."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


def _write_parquet(graph: Graph, target: Path) -> list[Path]:
    written = []
    for name, write in (("nodes", write_parquet_nodes), ("links", write_parquet_links)):
        path = target.with_name(f"{target.stem}-{name}.parquet")
        with _replaced(path) as file:
            write(graph, file)
        written.append(path)
    return written


def _graph(db: apsw.Connection, level: Level, *, measures: bool) -> Graph:
    graph = page_graph(db) if level is Level.PAGE else domain_graph(db)
    if not measures:
        return graph
    from sumi.jobs.map.analysis import measured

    return measured(graph)


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """Written atomically: after an error the old file is still there."""
    refuse_to_replace(path)
    folder = SafeFolder(path.parent, str(os.getpid()))
    try:
        with folder.stream_atomic(path.name) as file:
            yield file
    finally:
        folder.close()


_TYPES: Final = {ColumnType.TEXT: "string", ColumnType.WHOLE: "long", ColumnType.REAL: "double"}
_GRAPHML_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
)


def write_graphml(graph: Graph, file: BinaryIO) -> None:
    write_lines(file, _GRAPHML_HEAD)
    write_lines(file, _graphml_keys(graph))
    write_lines(file, ['<graph edgedefault="directed">'])
    write_lines(file, _graphml_nodes(graph))
    write_lines(file, _graphml_edges(graph))
    write_lines(file, ["</graph>", "</graphml>"])


def _graphml_keys(graph: Graph) -> Iterator[str]:
    # Gephi shows the attribute "label" as the name.
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>'
    for column in graph.columns:
        kind = _TYPES[column.type]
        yield f'<key id="{column.name}" for="node" attr.name="{column.name}" attr.type="{kind}"/>'
    if graph.weighted:
        yield '<key id="weight" for="edge" attr.name="weight" attr.type="long"/>'


def _graphml_nodes(graph: Graph) -> Iterator[str]:
    names = [column.name for column in graph.columns]
    for number, row in enumerate(graph.nodes()):
        data = "".join(
            f'<data key="{name}">{xml_text(value)}</data>'
            for name, value in zip(names, row, strict=True)
            if value is not None
        )
        yield f'<node id="n{number}"><data key="label">{xml_text(row[0])}</data>{data}</node>'


def _graphml_edges(graph: Graph) -> Iterator[str]:
    if graph.weighted:
        for source, target, weight in graph.links():
            yield f'<edge source="n{source}" target="n{target}"><data key="weight">{weight}</data></edge>'
    else:
        for source, target, _ in graph.links():
            yield f'<edge source="n{source}" target="n{target}"/>'


def write_gexf(graph: Graph, file: BinaryIO) -> None:
    write_lines(file, _gexf_head(graph))
    write_lines(file, _gexf_nodes(graph))
    write_lines(file, ["</nodes>", "<edges>"])
    write_lines(file, _gexf_edges(graph))
    write_lines(file, ["</edges>", "</graph>", "</gexf>"])


def _gexf_head(graph: Graph) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<gexf xmlns="http://gexf.net/1.3" version="1.3">'
    yield '<graph defaultedgetype="directed" mode="static">'
    yield '<attributes class="node" mode="static">'
    for number, column in enumerate(graph.columns):
        yield f'<attribute id="{number}" title="{column.name}" type="{_TYPES[column.type]}"/>'
    yield "</attributes>"
    yield "<nodes>"


def _gexf_nodes(graph: Graph) -> Iterator[str]:
    for number, row in enumerate(graph.nodes()):
        values = "".join(
            f'<attvalue for="{column}" value="{xml_text(value)}"/>'
            for column, value in enumerate(row)
            if value is not None
        )
        yield f'<node id="{number}" label="{xml_text(row[0])}"><attvalues>{values}</attvalues></node>'


def _gexf_edges(graph: Graph) -> Iterator[str]:
    for number, (source, target, weight) in enumerate(graph.links()):
        yield f'<edge id="{number}" source="{source}" target="{target}" weight="{weight}"/>'


# XML 1.0 allows these not even escaped; they become the replacement character.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile('[&<>"\t\n\r]')
_ORDINARY = re.compile("[ !#-%'-;=?-~]*")  # nearly every value; not copied
# White space too: parsers turn it into blanks in attributes, and drop \r everywhere.
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {
    char: f"&#{ord(char)};" for char in "\t\n\r"
}

_LINES: Final = 10_000  # written at once


def xml_text(value: object) -> str:
    """Escaped for attributes in double quotes and for the content of elements."""
    text = str(value)
    if _ORDINARY.fullmatch(text):
        return text
    return _SPECIAL.sub(_escape, _IMPOSSIBLE.sub("\ufffd", text))


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]


def write_lines(file: BinaryIO, lines: Iterable[str]) -> None:
    """In batches: a call for each of ten million lines would take most of the time."""
    rest = iter(lines)
    while batch := list(islice(rest, _LINES)):
        file.write(("\n".join(batch) + "\n").encode())


_ROWS: Final = 100_000  # of Parquet, written at once

_LINK_COLUMNS: Final = (
    Column("source", ColumnType.WHOLE),
    Column("target", ColumnType.WHOLE),
    Column("weight", ColumnType.WHOLE),
)
_ID_COLUMN: Final = Column("id", ColumnType.WHOLE)


def write_parquet_nodes(graph: Graph, file: BinaryIO) -> None:
    numbered = ((number, *row) for number, row in enumerate(graph.nodes()))
    _write_table((_ID_COLUMN, *graph.columns), numbered, file)


def write_parquet_links(graph: Graph, file: BinaryIO) -> None:
    """``source`` and ``target`` are ids of the table of nodes."""
    _write_table(_LINK_COLUMNS, graph.links(), file)


def _write_table(columns: tuple[Column, ...], rows: Iterable[Row], file: BinaryIO) -> None:
    arrow, parquet = _libraries()
    types = {
        ColumnType.TEXT: arrow.string(),
        ColumnType.WHOLE: arrow.int64(),
        ColumnType.REAL: arrow.float64(),
    }
    schema = arrow.schema([(column.name, types[column.type]) for column in columns])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            values = zip(*batch, strict=True)
            arrays = [arrow.array(column, field.type) for column, field in zip(values, schema, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while batch := list(islice(rest, _ROWS)):
        yield batch


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UsageError(
            "Parquet needs PyArrow, which is not installed; pip install 'sumi[terrain]' brings it"
        ) from None
    return pa, pq

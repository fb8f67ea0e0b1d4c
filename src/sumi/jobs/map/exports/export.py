"""``sumi map export``: writes a map in one of the formats."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import apsw

from sumi.errors import UsageError
from sumi.files.safe_files import SafeFolder
from sumi.jobs.map.database import database_path, open_map
from sumi.jobs.map.graph import Graph, Level, domain_graph, page_graph
from sumi.state.folder import refuse_to_replace

FORMATS = ("graphml", "gexf", "parquet", "html")


def export_map(
    place: str | PathLike[str],
    form: str,
    output: str | PathLike[str] | None = None,
    *,
    level: str = Level.PAGE,
    measures: bool = False,
) -> list[Path]:
    """``sumi map export``; returns the files written. ``place`` is the map's database, or its configuration
    (.toml).

    ``output``: by default a file next to the database. ``level``: a node per page, or per domain.
    ``measures``: also write degree, PageRank, community and bridges of every node.
    """
    if form not in FORMATS:
        raise UsageError(f"{form!r} is not an export format: choose one of {', '.join(FORMATS)}")
    if measures and form == "html":
        raise UsageError("--measures is for the other formats: the picture always shows communities")
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


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _write(db: apsw.Connection, form: str, target: Path, level: Level, *, measures: bool) -> list[Path]:
    if form == "html":
        from sumi.jobs.map.exports.picture import write_picture

        with _replaced(target) as file:
            write_picture(db, level, file)
        return [target]
    graph = _graph(db, level, measures=measures)
    if form == "parquet":
        return _write_parquet(graph, target)
    from sumi.jobs.map.exports.graph_xml import write_gexf, write_graphml

    with _replaced(target) as file:
        (write_gexf if form == "gexf" else write_graphml)(graph, file)
    return [target]


def _write_parquet(graph: Graph, target: Path) -> list[Path]:
    from sumi.jobs.map.exports.parquet import write_parquet_links, write_parquet_nodes

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

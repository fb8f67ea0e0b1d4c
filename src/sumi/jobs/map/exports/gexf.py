"""GEXF 1.3, the native format of Gephi. Streamed."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from sumi.jobs.map.exports.xml_text import write_lines, xml_text
from sumi.jobs.map.graph import ColumnType, Graph

_TYPES: Final = {ColumnType.TEXT: "string", ColumnType.WHOLE: "long", ColumnType.REAL: "double"}


def write_gexf(graph: Graph, file: BinaryIO) -> None:
    write_lines(file, _head(graph))
    write_lines(file, _nodes(graph))
    write_lines(file, ["</nodes>", "<edges>"])
    write_lines(file, _edges(graph))
    write_lines(file, ["</edges>", "</graph>", "</gexf>"])


def _head(graph: Graph) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<gexf xmlns="http://gexf.net/1.3" version="1.3">'
    yield '<graph defaultedgetype="directed" mode="static">'
    yield '<attributes class="node" mode="static">'
    for number, column in enumerate(graph.columns):
        yield f'<attribute id="{number}" title="{column.name}" type="{_TYPES[column.type]}"/>'
    yield "</attributes>"
    yield "<nodes>"


def _nodes(graph: Graph) -> Iterator[str]:
    for number, row in enumerate(graph.nodes()):
        values = "".join(
            f'<attvalue for="{column}" value="{xml_text(value)}"/>'
            for column, value in enumerate(row)
            if value is not None
        )
        yield f'<node id="{number}" label="{xml_text(row[0])}"><attvalues>{values}</attvalues></node>'


def _edges(graph: Graph) -> Iterator[str]:
    for number, (source, target, weight) in enumerate(graph.links()):
        yield f'<edge id="{number}" source="{source}" target="{target}" weight="{weight}"/>'

"""GraphML: read by Gephi, yEd, Cytoscape, igraph and NetworkX. Streamed."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from sumi.jobs.map.exports.xml_text import write_lines, xml_text
from sumi.jobs.map.graph import ColumnType, Graph

_TYPES: Final = {ColumnType.TEXT: "string", ColumnType.WHOLE: "long", ColumnType.REAL: "double"}
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
)


def write_graphml(graph: Graph, file: BinaryIO) -> None:
    write_lines(file, _HEAD)
    write_lines(file, _keys(graph))
    write_lines(file, ['<graph edgedefault="directed">'])
    write_lines(file, _nodes(graph))
    write_lines(file, _edges(graph))
    write_lines(file, ["</graph>", "</graphml>"])


def _keys(graph: Graph) -> Iterator[str]:
    # The name that Gephi shows is the attribute "label".
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>'
    for column in graph.columns:
        kind = _TYPES[column.type]
        yield f'<key id="{column.name}" for="node" attr.name="{column.name}" attr.type="{kind}"/>'
    if graph.weighted:
        yield '<key id="weight" for="edge" attr.name="weight" attr.type="long"/>'


def _nodes(graph: Graph) -> Iterator[str]:
    names = [column.name for column in graph.columns]
    for number, row in enumerate(graph.nodes()):
        data = "".join(
            f'<data key="{name}">{xml_text(value)}</data>'
            for name, value in zip(names, row, strict=True)
            if value is not None
        )
        yield f'<node id="n{number}"><data key="label">{xml_text(row[0])}</data>{data}</node>'


def _edges(graph: Graph) -> Iterator[str]:
    if graph.weighted:
        for source, target, weight in graph.links():
            yield f'<edge source="n{source}" target="n{target}"><data key="weight">{weight}</data></edge>'
    else:
        for source, target, _ in graph.links():
            yield f'<edge source="n{source}" target="n{target}"/>'

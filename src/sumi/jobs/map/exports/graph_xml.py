"""GraphML (read by Gephi, yEd, Cytoscape, igraph and NetworkX) and GEXF 1.3 (native to Gephi), streamed."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, Final

from sumi.jobs.map.graph import ColumnType, Graph

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

_BATCH: Final = 10_000


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
    while batch := list(islice(rest, _BATCH)):
        file.write(("\n".join(batch) + "\n").encode())

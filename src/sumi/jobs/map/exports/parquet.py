"""Parquet, for pandas, DuckDB and Spark: a table of nodes and a table of links, streamed.

Needs PyArrow, an optional dependency (``sumi[terrain]``).
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, Final

from sumi.errors import UsageError
from sumi.jobs.map.graph import Column, ColumnType, Graph, Row

_BATCH: Final = 100_000

_LINK_COLUMNS: Final = (
    Column("source", ColumnType.WHOLE),
    Column("target", ColumnType.WHOLE),
    Column("weight", ColumnType.WHOLE),
)
_ID_COLUMN: Final = Column("id", ColumnType.WHOLE)


def write_parquet_nodes(graph: Graph, file: BinaryIO) -> None:
    numbered = ((number, *row) for number, row in enumerate(graph.nodes()))
    _write((_ID_COLUMN, *graph.columns), numbered, file)


def write_parquet_links(graph: Graph, file: BinaryIO) -> None:
    """``source`` and ``target`` are ids of the table of nodes."""
    _write(_LINK_COLUMNS, graph.links(), file)


def _write(columns: tuple[Column, ...], rows: Iterable[Row], file: BinaryIO) -> None:
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
    while batch := list(islice(rest, _BATCH)):
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

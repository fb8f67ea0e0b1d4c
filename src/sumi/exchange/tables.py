"""JSON lines and Parquet of pages or of their sections."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from sumi.errors import UsageError
from sumi.exchange.material import Material
from sumi.exchange.result import new_file
from sumi.exchange.rows import PAGES, SECTIONS, PageRow, SectionRow, page_rows, section_rows
from sumi.files.plain_text import iso_utc

_GROUP_BYTES: Final = 8 * 1024 * 1024  # of text; what is in memory at a time
_GROUP_ROWS: Final = 10_000
_KINDS: Final = {"level": "int32", "position": "int32", "tokens": "int64", "fidelity": "float64"}
_TIMES: Final = ("fetched_at", "changed_at")


def write_jsonl(material: Material, target: Path, *, by_section: bool) -> int:
    encode, count = msgspec.json.Encoder().encode, 0
    with new_file(target) as file:
        for row in _rows(material, by_section=by_section):
            file.write(encode(row) + b"\n")
            count += 1
    return count


def write_parquet(material: Material, target: Path, *, by_section: bool) -> int:
    """In groups of rows, so that memory does not grow with the number of pages."""
    rows, count = _rows(material, by_section=by_section), 0
    with new_file(target) as file, _table(file, material, by_section=by_section) as (write_group, _):
        while group := list(_group(rows)):
            write_group(group)
            count += len(group)
    return count


def _rows(material: Material, *, by_section: bool) -> Iterator[PageRow | SectionRow]:
    yield from section_rows(material) if by_section else page_rows(material)


def _group(rows: Iterator[PageRow | SectionRow]) -> Iterator[PageRow | SectionRow]:
    size = 0
    for row in islice(rows, _GROUP_ROWS):
        yield row
        size += len(row.text)
        if size >= _GROUP_BYTES:
            return


@contextmanager
def _table(file: BinaryIO, material: Material, *, by_section: bool) -> Iterator[tuple[Any, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow: pip install 'sumi[parquet]', or export jsonl, which DuckDB reads as well"
        ) from None
    kind = SectionRow if by_section else PageRow
    names = [name for name in kind.__struct_fields__ if name != "schema"]
    schema = pa.schema(
        [(name, _type(pa, name)) for name in names],
        metadata={
            "sumi.schema": SECTIONS if by_section else PAGES,
            "sumi.moment": iso_utc(material.moment),
        },
    )

    def write_group(group: list[PageRow | SectionRow]) -> None:
        columns = [_column(pa, name, [getattr(row, name) for row in group]) for name in names]
        writer.write_batch(pa.record_batch(columns, schema=schema))

    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield write_group, schema


def _type(pa: Any, name: str) -> Any:
    if name in _TIMES:
        return pa.timestamp("s", tz="UTC")
    if name == "trail":
        return pa.list_(pa.string())
    return pa.type_for_alias(_KINDS.get(name, "string"))


def _column(pa: Any, name: str, values: list[Any]) -> Any:
    if name in _TIMES:
        return pa.array(values, pa.string()).cast(_type(pa, name))
    if _type(pa, name) == pa.string():
        values = [value.encode("utf-8", "replace").decode() for value in values]  # a lone surrogate
    return pa.array(values, _type(pa, name))

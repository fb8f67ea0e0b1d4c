"""JSON lines and Parquet of pages or of their sections. docs/guides/export.md describes the columns.

A new column gets a default and keeps the version; one that changes its meaning, or goes, needs a new one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from sumi.corpus.sections import section_ids, sections
from sumi.corpus.tokens import estimate
from sumi.errors import UsageError
from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.exchange.result import new_file
from sumi.files.plain_text import iso_utc
from sumi.urls import split

PAGES: Final = "sumi.pages/1"
SECTIONS: Final = "sumi.sections/1"
_GROUP_BYTES: Final = 8 * 1024 * 1024  # of text; what is in memory at a time
_GROUP_ROWS: Final = 10_000
_KINDS: Final = {"level": "int32", "position": "int32", "tokens": "int64", "fidelity": "float64"}
_TIMES: Final = ("fetched_at", "changed_at")


class PageRow(msgspec.Struct, frozen=True):
    schema: str
    url: str
    site: str
    title: str
    description: str
    language: str
    text: str  # Markdown with absolute links
    tokens: int  # estimated
    sha256: str  # of ``text`` as UTF-8
    fetched_at: str | None  # UTC
    changed_at: str | None
    fidelity: float | None


class SectionRow(msgspec.Struct, frozen=True):
    schema: str
    id: str  # stays while the headings above it do
    url: str
    site: str
    title: str  # of the page
    position: int  # on the page, from 0
    level: int  # of its heading, 1 to 6; 0 before the first
    heading: str
    trail: tuple[str, ...]  # the headings above it, its own last
    text: str
    tokens: int
    sha256: str
    language: str
    fetched_at: str | None
    fidelity: float | None  # of the page


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


def page_rows(material: Material) -> Iterator[PageRow]:
    """In the order of their URLs."""
    for listed, text in material.texts(material.listing.by_url()):
        page = listed.page
        yield PageRow(
            PAGES,
            page.url,
            split(page.url).host,
            page.title,
            page.description,
            page.language,
            text,
            estimate(text),
            _hash(text),
            _time(page.fetched_at),
            _time(page.changed_at),
            page.fidelity,
        )


def section_rows(material: Material) -> Iterator[SectionRow]:
    """In the order of the pages' URLs, and of their places on the page."""
    for listed, text in material.texts(material.listing.by_url()):
        yield from _sections(listed, text)


def _sections(listed: Listed, text: str) -> Iterator[SectionRow]:
    page, cut = listed.page, sections(text)
    for position, (name, section) in enumerate(zip(section_ids(page.url, cut), cut, strict=True)):
        yield SectionRow(
            SECTIONS,
            name,
            page.url,
            split(page.url).host,
            page.title,
            position,
            section.level,
            section.heading,
            section.trail,
            section.text,
            estimate(section.text),
            _hash(section.text),
            page.language,
            _time(page.fetched_at),
            page.fidelity,
        )


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _time(at: float | None) -> str | None:
    return iso_utc(at) if at else None

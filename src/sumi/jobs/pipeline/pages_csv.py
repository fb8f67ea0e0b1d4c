"""The pages CSV: a row of seventeen columns for every page of an archive.

A row is one line: what could break it is escaped. Spreadsheets run cells that start like a formula, and
sites choose what is in them, so those cells get an apostrophe in front; the JSON lines are exact.
"""

import csv
import io
from collections.abc import Iterator
from typing import Final

import msgspec

from sumi.files.plain_text import visible
from sumi.jobs.pipeline.page_rows import PageRow, identity, is_kept_page, page_row
from sumi.ports import UrlRecord

COLUMNS: Final = PageRow.__struct_fields__
HEADER: Final = (",".join(COLUMNS) + "\n").encode()
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_encode = msgspec.json.Encoder().encode


class PagesCsv:
    """Implements ``sumi.jobs.pipeline.ledger_copies.LineFormat``."""

    header = HEADER

    def line(self, record: UrlRecord) -> bytes | None:
        return csv_line(page_row(record)) if is_kept_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for row in _rows(lines):
            if len(row) == len(COLUMNS) and row[0].isdecimal():
                yield identity(row[1], int(row[0]))


def csv_line(row: PageRow) -> bytes:
    values = [getattr(row, column) for column in COLUMNS]
    values[-1] = _encode(row.metadata).decode() if row.metadata else ""
    return joined(values)


def joined(values: list[object]) -> bytes:
    """Values as one CSV line, without its end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([_cell(value) for value in values])
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _rows(lines: Iterator[bytes]) -> Iterator[list[str]]:
    """Line by line, so that a damaged one costs only itself."""
    for line in lines:
        try:
            yield from csv.reader([line.decode()])
        except (UnicodeDecodeError, csv.Error):
            continue

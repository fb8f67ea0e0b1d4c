"""What an archive records of each page: a row of the pages CSV, the same row as a JSON line of
``crawl_metadata.jsonl``, and a line of ``edges.csv``.

To add a column, add a field with a default to ``PageRow`` before ``metadata``, fill it in ``page_row``, and
name it in ``docs/guides/crawl.md`` and in the header that ``tests/e2e/pipeline/workspaces.py`` expects.

A row is one line: line breaks in cells are escaped. Spreadsheets run cells that start like a formula, and
sites choose what is in them, so those cells get an apostrophe in front; the JSON lines are exact.
"""

import csv
import io
from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from sumi.files.plain_text import visible
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.jobs.pipeline.ledger_copies import (
    identity,
    is_up_to_date_page,
    second_of,
    was_not_modified,
)
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord

Metadata: TypeAlias = dict[str, str | int | tuple[str, ...] | msgspec.Raw]


class PageRow(msgspec.Struct, frozen=True, kw_only=True):
    """The names and their order are part of the format."""

    timestamp: int  # when the page was settled, in whole seconds since the epoch
    url: str
    page_type: str = ""
    depth: int = 0
    referrer: str | None = None
    http_status: int | None = None
    content_type: str | None = None
    encoding: str | None = None
    content_sha256: str | None = None
    content_bytes: int | None = None
    stored_path: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetch_latency_ms: int | None = None
    retries: int = 0
    proxy_id: str | None = None
    metadata: Metadata = {}


def page_row(record: UrlRecord) -> PageRow:
    facts = record.facts
    transferred = not was_not_modified(record)
    return PageRow(
        timestamp=second_of(record),
        url=record.url,
        page_type=facts.page_type or "",
        depth=record.depth,
        referrer=record.referrer,
        http_status=facts.status if transferred else NOT_MODIFIED,
        content_type=facts.content_type,
        encoding=facts.charset,
        content_sha256=facts.raw,
        content_bytes=facts.body_bytes if transferred else 0,
        stored_path=facts.path,
        etag=facts.etag,
        last_modified=facts.last_modified,
        fetch_latency_ms=facts.latency_ms,
        retries=record.attempts if facts.retries is None else facts.retries,
        proxy_id=facts.proxy,
        metadata=_metadata(facts, record.address),
    )


def _metadata(facts: PageFacts, address: str) -> Metadata:
    known = {
        "title": facts.title,
        "language": facts.language,
        "description": facts.description,
        "canonical": facts.canonical,
        "robots_meta": facts.robots_meta,
        "content_signal": facts.content_signal,
        "licenses": facts.licenses or None,
        "links": facts.links,
        "rendered": facts.rendered,
        "requested_url": address or None,  # only if it differs from the page's URL
        "discovery": None if facts.listed is None else msgspec.Raw(facts.listed.encode()),
    }
    return {name: value for name, value in known.items() if value is not None}


# ── the pages CSV ────────────────────────────────────────────────────────────────────────────────────────


COLUMNS: Final = PageRow.__struct_fields__
HEADER: Final = (",".join(COLUMNS) + "\n").encode()
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_encode = msgspec.json.Encoder().encode


class PagesCsv:
    """Implements ``ledger_copies.LineFormat``."""

    header = HEADER

    def line(self, record: UrlRecord) -> bytes | None:
        return csv_line(page_row(record)) if is_up_to_date_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        return _identities(lines, COLUMNS.index("url"))


def csv_line(row: PageRow) -> bytes:
    values = [getattr(row, column) for column in COLUMNS]
    values[-1] = _encode(row.metadata).decode() if row.metadata else ""
    return joined(values)


def joined(values: list[object]) -> bytes:
    """The values as one CSV line, without a line end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([_cell(value) for value in values])
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _identities(lines: Iterator[bytes], url_column: int) -> Iterator[int]:
    """A file of an earlier version has fewer columns, so its own header says how many make a whole row."""
    least = url_column + 1
    for row in _rows(lines):
        if row[:1] == ["timestamp"]:
            least = len(row)
        elif len(row) >= least and row[0].isdecimal():
            yield identity(row[url_column], int(row[0]))


def _rows(lines: Iterator[bytes]) -> Iterator[list[str]]:
    """Parsed line by line, so that a damaged line costs only itself."""
    for line in lines:
        try:
            yield from csv.reader([line.decode()])
        except (UnicodeDecodeError, csv.Error):
            continue


# ── crawl_metadata.jsonl ─────────────────────────────────────────────────────────────────────────────────


class _Identity(msgspec.Struct):
    url: str
    timestamp: int


_decode = msgspec.json.Decoder(_Identity).decode


class CrawlMetadata:
    """The same row as a JSON object, exact. Implements ``ledger_copies.LineFormat``."""

    header = b""

    def line(self, record: UrlRecord) -> bytes | None:
        return _encode(page_row(record)) if is_up_to_date_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for line in lines:
            try:
                known = _decode(line)
            except msgspec.MsgspecError:
                continue
            yield identity(known.url, known.timestamp)


# ── edges.csv ────────────────────────────────────────────────────────────────────────────────────────────


TRAJECTORY_COLUMNS: Final = ("timestamp", "source", "target", "hop", "depth", "page_type")


class TrajectoryCsv:
    """An edge to every page from the page that linked to it; a seed has no source. Implements
    ``ledger_copies.LineFormat``."""

    header = (",".join(TRAJECTORY_COLUMNS) + "\n").encode()

    def line(self, record: UrlRecord) -> bytes | None:
        if not is_up_to_date_page(record) or record.outcome is Outcome.UNCHANGED:
            return None  # a page that was checked again is no new step
        page_type = record.facts.page_type or ""
        source = record.referrer or ""
        return joined([second_of(record), source, record.url, record.hop.value, record.depth, page_type])

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        return _identities(lines, TRAJECTORY_COLUMNS.index("target"))

"""Rows of the pages CSV and its sister files read back as what was written, whatever sites put into them."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.pipeline.discoveries import Discoveries
from sumi.jobs.pipeline.ledger_copies import identity
from sumi.jobs.pipeline.pages_csv import COLUMNS, CrawlMetadata, PagesCsv, TrajectoryCsv, joined
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


FACTS = st.builds(
    PageFacts,
    status=st.just(200),
    content_type=TEXT,
    path=st.just("store/html/aa/bb/x.html"),
    raw=st.just("a" * 64),
    title=TEXT,
    etag=TEXT,
    last_modified=TEXT,
    body_bytes=st.integers(0, 10**9),
    charset=TEXT,
    page_type=TEXT,
)


RECORDS = st.builds(
    UrlRecord,
    url=st.just("https://example.org/"),
    hop=st.just(Hop.LINK),
    kind=st.just(Kind.PAGE),
    depth=st.integers(0, 9),
    referrer=st.none() | TEXT,
    outcome=st.just(Outcome.CAPTURED),
    rule=st.just("HTTP 200"),
    at=st.floats(1, 4e9),
    attempts=st.integers(0, 3),
    facts=FACTS,
)


@given(RECORDS)
def test_a_row_is_one_line_with_a_cell_for_each_column_and_no_formulas(record: UrlRecord) -> None:
    line = PagesCsv().line(record)
    assert line is not None
    assert b"\n" not in line
    assert b"\r" not in line
    (cells,) = csv.reader([line.decode()])
    assert len(cells) == len(COLUMNS)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in cells)


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(1)"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(title: str) -> None:
    assert joined([title, 1]) == f"'{title},1".encode()


@given(RECORDS)
def test_every_line_format_identifies_its_settlement(record: UrlRecord) -> None:
    for form in (PagesCsv(), CrawlMetadata(), TrajectoryCsv(), Discoveries()):
        line = form.line(record)
        assert line is not None
        told = list(form.identities(iter([form.header, line + b"\n", b'\xff"\x00torn'])))
        assert told == [identity(record.url, int(record.at or 0))]


def test_rows_of_a_csv_with_fewer_columns_are_recognised() -> None:
    """A run that resumes a CSV of a version before a column was added must not write its pages again."""
    older = [b"timestamp,url,page_type,metadata\n", b"17,https://a.test/,other,\n", b"18,https://b.test/\n"]
    newer = joined([19, "https://c.test/", *[""] * (len(COLUMNS) - 2)])
    told = list(PagesCsv().identities(iter([*older, newer])))
    assert told == [identity("https://a.test/", 17), identity("https://c.test/", 19)]

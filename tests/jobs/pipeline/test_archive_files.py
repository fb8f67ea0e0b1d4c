"""The lines of an archive's files read back as what was written, whatever sites put into them."""

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from sumi.files.growing_file import GrowingFile
from sumi.files.warc import OPEN_SUFFIX, WarcFile
from sumi.jobs.pipeline.discoveries import MOST_CHARACTERS, Discoveries, bounded, merged, read_listing
from sumi.jobs.pipeline.ledger_copies import identity
from sumi.jobs.pipeline.page_index import (
    IndexRecord,
    index_records,
    last_lines,
    open_page_index,
    without_superseded,
)
from sumi.jobs.pipeline.pages_csv import COLUMNS, CrawlMetadata, PagesCsv, TrajectoryCsv, joined
from sumi.model import Hop, Kind, PageFacts, Response, Timing
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
def test_a_csv_row_is_one_line_of_seventeen_cells_none_of_them_a_formula(record: UrlRecord) -> None:
    line = PagesCsv().line(record)
    assert line is not None
    assert b"\n" not in line
    assert b"\r" not in line
    (cells,) = csv.reader([line.decode()])
    assert len(cells) == len(COLUMNS) == 17
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in cells)


@given(RECORDS)
def test_every_form_of_line_tells_which_settlement_it_is_of(record: UrlRecord) -> None:
    for form in (PagesCsv(), CrawlMetadata(), TrajectoryCsv(), Discoveries()):
        line = form.line(record)
        assert line is not None
        told = list(form.identities(iter([form.header, line + b"\n", b'\xff"\x00torn'])))
        assert told == [identity(record.url, int(record.at or 0))]


def test_rows_of_a_csv_with_fewer_columns_are_known_too() -> None:
    """A run that resumes a CSV of a version before a column was added must not write its pages again."""
    older = [b"timestamp,url,page_type,metadata\n", b"17,https://a.test/,other,\n", b"18,https://b.test/\n"]
    newer = joined([19, "https://c.test/", *[""] * (len(COLUMNS) - 2)])
    told = list(PagesCsv().identities(iter([*older, newer])))
    assert told == [identity("https://a.test/", 17), identity("https://c.test/", 19)]


@given(st.binary(max_size=200))
def test_no_line_of_a_spool_breaks_its_reader(line: bytes) -> None:
    found = read_listing(line)
    assert isinstance(found, str) or isinstance(found.discovery.url, str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)


@given(earlier=OBJECTS, later=OBJECTS)
def test_what_a_later_line_says_is_added_and_wins(earlier: dict[str, Any], later: dict[str, Any]) -> None:
    texts = [bounded(said)[0] for said in (earlier, later)]
    assert json.loads(merged(*texts)) == earlier | later
    assert merged(texts[0], "") == merged("", texts[0]) == texts[0]


def repeated(drawn: tuple[str, int]) -> str:
    text, size = drawn
    return (text * size)[:size]


@given(
    st.dictionaries(
        TEXT, st.tuples(st.text('x=é\n"', min_size=1), st.integers(2000, 6000)).map(repeated), max_size=8
    )
)
def test_what_a_line_says_is_kept_within_bounds_and_as_it_was(said: dict[str, str]) -> None:
    text, words = bounded(said)
    kept = json.loads(text) if text else {}
    assert len(text) <= MOST_CHARACTERS
    assert kept.items() <= said.items()
    assert bool(words) == (kept != said)


@given(said=JSON, url=TEXT, depth=JSON)
def test_any_object_with_a_url_is_a_listing_that_keeps_its_metadata(said: Any, url: str, depth: Any) -> None:
    found = read_listing(json.dumps({"url": url, "depth": depth, "metadata": said}).encode())
    assert not isinstance(found, str)
    assert found.discovery.url == url
    assert not said or json.loads(found.foreign) == said


@pytest.mark.parametrize("in_lmdb", [True, False])
def test_an_index_holds_the_last_record_of_every_url(tmp_path: Path, in_lmdb: bool) -> None:
    path = tmp_path / "index"
    long = "https://example.org/" + "a" * 2000
    urls = ("https://example.org/", long, long + "b")
    for stamp in (1, 2):
        index = open_page_index(path, in_lmdb=in_lmdb)
        index.put([IndexRecord(url, "0" * 64, "p", None, "then", stamp) for url in urls])
        index.close()
    found = index_records(path, in_lmdb=in_lmdb)
    assert sorted((record.url, record.timestamp) for record in found) == [(url, 2) for url in urls]


@given(
    lines=st.lists(st.one_of(st.integers(0, 5), st.none()), max_size=30),
    torn=st.binary(max_size=5),
    share=st.integers(1, 10),
)
def test_a_file_without_what_was_replaced_has_the_last_line_about_each_thing_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[int | None], torn: bytes, share: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "index"
    path.write_bytes(b"".join(b"%d %d\n" % (about, n) if about else b"?\n" for n, about in enumerate(lines)))
    last = {about: n for n, about in enumerate(lines) if about}
    expected = [b"%d %d\n" % (about, n) for about, n in sorted(last.items(), key=lambda pair: pair[1])]
    path.with_name(".index.tmp").write_bytes(torn)  # of a run that was killed at it
    assert list(last_lines(path, _subject)) == expected
    without_superseded(path, _subject, share)
    assert path.read_bytes() == b"".join(expected)


def test_an_index_is_looked_through_as_it_was_when_another_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(b"1 a\n2 b\n1 c\n")
    reading = last_lines(path, _subject)
    assert next(reading) == b"2 b\n"
    without_superseded(path, _subject)
    assert list(reading) == [b"1 c\n"]


def test_a_url_stands_in_the_index_file_once_when_a_run_begins_and_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "index"
    for stamp in (1, 2):
        index = open_page_index(path, in_lmdb=False)
        index.put([IndexRecord(url, "0" * 64, "p", None, None, stamp) for url in "abc"])
    assert path.read_bytes().count(b"\n") == 6  # as a kill leaves it
    assert len(list(open_page_index(path, in_lmdb=False).present())) == 3
    assert path.read_bytes().count(b"\n") == 3
    index.put([IndexRecord("b", "1" * 64, "p", None, None, 3)])
    index.close()
    assert [(record.url, record.timestamp) for record in index.present()] == [("a", 2), ("c", 2), ("b", 3)]
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("torn", [b"", b"timest", b"timestamp,metric,value\n17000", b"head\n1,a,2\n3,b"])
def test_what_a_kill_tore_is_gone_before_anything_follows_it(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(torn)
    GrowingFile(path).append([b"5,c,6"], b"head\n")
    whole = torn[: torn.rfind(b"\n") + 1]
    assert path.read_bytes() == (whole or b"head\n") + b"5,c,6\n"


def _subject(line: bytes) -> str | None:
    return None if line.startswith(b"?") else line.split()[0].decode()


def test_who_only_reads_an_index_leaves_what_is_being_written_alone(tmp_path: Path) -> None:
    path = tmp_path / "index"
    whole = IndexRecord("https://example.org/", "0" * 64, "p", None, None, 1)
    open_page_index(path, in_lmdb=False).put([whole])
    with path.open("ab") as file:
        file.write(b'{"url": "https://exam')
    before = path.read_bytes()
    assert list(index_records(path, in_lmdb=False)) == [whole]
    assert path.read_bytes() == before


def test_a_warc_that_a_kill_tore_keeps_its_whole_records(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    warc = WarcFile(path, 1.0)
    for number in range(3):
        warc.add(_response(number))
    warc.close()
    torn = path.rename(path.with_name(path.name + OPEN_SUFFIX))
    torn.write_bytes(torn.read_bytes()[:-20])
    WarcFile(path, 2.0).close()
    assert not torn.exists()
    assert _uris(path) == ["https://example.org/0", "https://example.org/1"]
    assert not (tmp_path / "pages-2.warc.gz").exists()


def test_a_record_has_left_the_process_before_its_page_can_be_settled(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    warc = WarcFile(path, 1.0)
    for number in range(2):
        warc.add(_response(number))
        as_if_killed_now = path.with_name(path.name + OPEN_SUFFIX)
        assert len(_uris(as_if_killed_now)) == number + 1
    warc.close()


def test_headers_of_the_transfer_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    warc = WarcFile(path, 1.0)
    warc.add(_response(0))
    warc.close()
    text = gzip.decompress(path.read_bytes())
    assert b"content-encoding" not in text
    assert b"content-length: 4\r\n" in text


def _response(number: int) -> Response:
    headers = (("content-type", "text/html"), ("content-encoding", "gzip"), ("content-length", "99"))
    url = f"https://example.org/{number}"
    return Response(url, 200, headers, b"body", Timing(1.0, 2.0, 3.0), peer="192.0.2.1:443")


def _uris(path: Path) -> list[str]:
    records = ArchiveIterator(io.BytesIO(path.read_bytes()), check_digests="raise")
    return [r.rec_headers.get_header("WARC-Target-URI") for r in records if r.rec_type == "response"]


def test_lines_are_on_the_disk_when_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []

    def sync(descriptor: int) -> None:
        synced.append(os.pread(descriptor, 100, 0))

    monkeypatch.setattr("sumi.files.growing_file.os.fdatasync", sync)
    file = GrowingFile(tmp_path / "lines.csv")
    file.append([b"1"], b"head\n")
    file.append([b"2"], b"head\n")
    assert synced == [b"head\n1\n", b"head\n1\n2\n"]


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(1)"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(title: str) -> None:
    assert joined([title, 1]) == f"'{title},1".encode()

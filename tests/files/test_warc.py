"""A WARC file has one writer, survives a kill with its complete records, and stores what the server said."""

import gzip
import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sumi.errors import StateLocked
from sumi.files.warc import OPEN_SUFFIX, WarcFile
from sumi.model import Response, Timing

RESPONSE = Response("http://site.test/", 200, (), b"words", Timing(1.0, 1.0, 1.0))


def test_a_torn_warc_keeps_its_complete_records(tmp_path: Path) -> None:
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


def test_a_record_is_flushed_before_its_page_can_be_settled(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    warc = WarcFile(path, 1.0)
    for number in range(2):
        warc.add(_response(number))
        as_if_killed_now = path.with_name(path.name + OPEN_SUFFIX)
        assert len(_uris(as_if_killed_now)) == number + 1
    warc.close()


def test_transfer_headers_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    warc = WarcFile(path, 1.0)
    warc.add(_response(0))
    warc.close()
    text = gzip.decompress(path.read_bytes())
    assert b"content-encoding" not in text
    assert b"content-length: 4\r\n" in text


def test_a_second_writer_is_refused_and_the_first_completes(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    first = WarcFile(path, 1.0)
    first.add(RESPONSE)
    with pytest.raises(StateLocked, match="being written by another process"):
        WarcFile(path, 2.0)
    first.add(RESPONSE)
    first.close()
    assert gzip.decompress(path.read_bytes()).count(b"words") == 2
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_finished_file_of_the_same_name_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    for number in range(3):
        warc = WarcFile(path, 1.0)
        warc.add(_response(number))
        warc.close()
    names = ["pages.warc.gz", "pages-2.warc.gz", "pages-3.warc.gz"]
    assert [_uris(tmp_path / name) for name in names] == [[f"https://example.org/{n}"] for n in range(3)]


def test_what_a_kill_left_is_kept_if_it_holds_a_response(tmp_path: Path) -> None:
    path, unfinished = tmp_path / "pages.warc.gz", tmp_path / "pages.warc.gz.open"
    writer = WarcFile(path, 1.0)
    nothing = unfinished.read_bytes()
    writer.add(RESPONSE)
    killed = unfinished.read_bytes()
    writer.close()
    path.unlink()
    unfinished.write_bytes(nothing)
    WarcFile(path, 2.0).close()
    assert list(tmp_path.iterdir()) == []
    unfinished.write_bytes(killed + b"torn")
    WarcFile(path, 3.0).close()
    assert path.read_bytes() == killed


def _response(number: int) -> Response:
    headers = (("content-type", "text/html"), ("content-encoding", "gzip"), ("content-length", "99"))
    url = f"https://example.org/{number}"
    return Response(url, 200, headers, b"body", Timing(1.0, 2.0, 3.0), peer="192.0.2.1:443")


def _uris(path: Path) -> list[str]:
    records = ArchiveIterator(io.BytesIO(path.read_bytes()), check_digests="raise")
    return [r.rec_headers.get_header("WARC-Target-URI") for r in records if r.rec_type == "response"]

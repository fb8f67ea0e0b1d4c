"""A WARC file survives a kill with its complete records, and stores what the server said."""

import gzip
import io
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from sumi.files.warc import OPEN_SUFFIX, WarcFile
from sumi.model import Response, Timing


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


def _response(number: int) -> Response:
    headers = (("content-type", "text/html"), ("content-encoding", "gzip"), ("content-length", "99"))
    url = f"https://example.org/{number}"
    return Response(url, 200, headers, b"body", Timing(1.0, 2.0, 3.0), peer="192.0.2.1:443")


def _uris(path: Path) -> list[str]:
    records = ArchiveIterator(io.BytesIO(path.read_bytes()), check_digests="raise")
    return [r.rec_headers.get_header("WARC-Target-URI") for r in records if r.rec_type == "response"]

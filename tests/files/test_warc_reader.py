"""Archives that anybody wrote are read record by record, and a bad one costs only itself."""

import gzip
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.files import warc_reader
from sumi.files.warc_reader import Archive, BadRecord, Record

BODIES = [b"first", b"second " * 5000, b"", b"WARC/1.1\r\nWARC-Type: response\r\n\r\nnot a record"]


def written(path: Path, *, gzipped: bool) -> Path:
    with path.open("wb") as file:
        for number, body in enumerate(BODIES):
            record = record_of(f"https://example.org/{number}", body)
            file.write(gzip.compress(record) if gzipped else record)
    return path


def record_of(url: str, body: bytes) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    names = f"WARC-Type: response\r\nWARC-Target-URI: <{url}>\r\nContent-Length: {len(block)}\r\n"
    return f"WARC/1.0\r\n{names}\r\n".encode() + block + b"\r\n\r\n"


def read(path: Path) -> list[Record | BadRecord]:
    archive = Archive([path])
    try:
        return list(archive)
    finally:
        archive.close()


def bodies(path: Path) -> list[bytes]:
    archive = Archive([path])
    try:
        records = [record for record in archive if isinstance(record, Record)]
        return [(archive.content(record) or b"").partition(b"\r\n\r\n")[2] for record in records]
    finally:
        archive.close()


@pytest.mark.parametrize("gzipped", [True, False])
def test_every_record_is_read_whole(tmp_path: Path, gzipped: bool) -> None:
    path = written(tmp_path / "a.warc", gzipped=gzipped)
    assert [record.uri for record in read(path) if isinstance(record, Record)] == [
        f"https://example.org/{number}" for number in range(len(BODIES))
    ]
    assert bodies(path) == BODIES


def test_a_wacz_is_read_through_its_index_of_files(tmp_path: Path) -> None:
    inside = written(tmp_path / "a.warc.gz", gzipped=True)
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("datapackage.json", "{}", zipfile.ZIP_DEFLATED)
        bundle.write(inside, "archive/data.warc.gz")
    assert bodies(path) == BODIES


@pytest.mark.parametrize("gzipped", [True, False])
def test_damage_costs_one_record(tmp_path: Path, gzipped: bool) -> None:
    path = written(tmp_path / "a.warc", gzipped=gzipped)
    records = [record for record in read(path) if isinstance(record, Record)]
    data = bytearray(path.read_bytes())
    middle = records[1].offset + 30  # within its header, so that its length is gone
    data[middle : middle + 90] = bytes(90)
    path.write_bytes(data)
    found = read(path)
    assert [record.uri for record in found if isinstance(record, Record)][-2:] == [
        "https://example.org/2",
        "https://example.org/3",
    ]
    assert any(isinstance(record, BadRecord) for record in found)


@pytest.mark.parametrize("gzipped", [True, False])
def test_a_cut_file_keeps_what_was_before(tmp_path: Path, gzipped: bool) -> None:
    path = written(tmp_path / "a.warc", gzipped=gzipped)
    path.write_bytes(path.read_bytes()[:-30])
    found = read(path)
    assert [type(record) for record in found[:3]] == [Record] * 3
    assert isinstance(found[3], BadRecord)


def test_a_length_that_lies_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "a.warc", gzipped=False)
    text = path.read_bytes()
    length = text.split(b"Content-Length: ")[2].split(b"\r\n")[0]
    path.write_bytes(text.replace(b"Content-Length: " + length, b"Content-Length: 1"))
    found = read(path)
    assert [type(record) for record in found].count(BadRecord) >= 1
    assert isinstance(found[0], Record)


def test_a_bomb_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sumi.files.warc_reader.BLOCK_BYTES", 1000)
    path = tmp_path / "a.warc.gz"
    head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9000000\r\n\r\n"
    path.write_bytes(gzip.compress(head + bytes(9_000_000) + b"\r\n\r\n"))
    (bad,) = read(path)
    assert isinstance(bad, BadRecord)
    assert "expands" in bad.why


def test_records_compressed_as_one_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(written(tmp_path / "plain.warc", gzipped=False).read_bytes()))
    (bad,) = read(path)
    assert isinstance(bad, BadRecord)
    assert "recompress" in bad.why


@pytest.mark.parametrize("content", [b"", b"<html>", b"PK\x03\x04 no zip"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.warc.gz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"page\.warc\.gz"):
        Archive([path])


@settings(max_examples=200)
@given(st.binary(max_size=400), st.booleans())
def test_nothing_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, gzipped: bool
) -> None:
    path = tmp_path_factory.mktemp("warc") / "a.warc"
    start = b"WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
    path.write_bytes((gzip.compress(start) if gzipped else start) + data)
    found = read(path)
    assert isinstance(found[0], Record) or not gzipped


def test_many_tiny_records_are_read_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of reading that is larger than the records would go over each of them a thousand times."""
    path, inflated = tmp_path / "tiny.warc.gz", 0
    one = gzip.compress(b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 1\r\n\r\nx\r\n\r\n")
    path.write_bytes(one * 5000)

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._real = zlib.decompressobj(wbits=wbits)

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

        def decompress(self, data: bytes, most: int) -> bytes:
            nonlocal inflated
            inflated += len(data)
            return self._real.decompress(data, most)

    monkeypatch.setattr(warc_reader, "zlib", SimpleNamespace(decompressobj=Counting, error=zlib.error))
    assert len(read(path)) == 5000
    assert inflated < 5000 * 4096

"""A WARC that is being written is nobody else's; one without an answer is none."""

import gzip
from pathlib import Path

import pytest

from sumi.errors import StateLocked
from sumi.files.warc import WarcFile
from sumi.model import Response, Timing

ANSWER = Response("http://site.test/", 200, (), b"words", Timing(1.0, 1.0, 1.0))


def test_a_second_writer_is_refused_and_the_first_ends_whole(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    first = WarcFile(path, 1.0)
    first.add(ANSWER)
    with pytest.raises(StateLocked, match="being written by another process"):
        WarcFile(path, 2.0)
    first.add(ANSWER)
    first.close()
    assert gzip.decompress(path.read_bytes()).count(b"words") == 2
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_a_kill_left_is_kept_if_it_holds_an_answer(tmp_path: Path) -> None:
    path, unfinished = tmp_path / "pages.warc.gz", tmp_path / "pages.warc.gz.open"
    writer = WarcFile(path, 1.0)
    nothing = unfinished.read_bytes()
    writer.add(ANSWER)
    killed = unfinished.read_bytes()
    writer.close()
    path.unlink()
    unfinished.write_bytes(nothing)
    WarcFile(path, 2.0).close()
    assert list(tmp_path.iterdir()) == []
    unfinished.write_bytes(killed + b"torn")
    WarcFile(path, 3.0).close()
    assert path.read_bytes() == killed

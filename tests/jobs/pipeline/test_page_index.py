"""The page index has one record for every URL, the last one, also after a kill."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.pipeline.page_index import (
    IndexRecord,
    index_records,
    last_lines,
    open_page_index,
    without_superseded,
)


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
def test_a_rewritten_file_has_the_last_line_of_each_subject_once(
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


def test_a_reader_sees_the_old_index_when_it_is_replaced_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(b"1 a\n2 b\n1 c\n")
    reading = last_lines(path, _subject)
    assert next(reading) == b"2 b\n"
    without_superseded(path, _subject)
    assert list(reading) == [b"1 c\n"]


def test_the_index_file_has_each_url_once_when_a_run_starts_and_ends(tmp_path: Path) -> None:
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


def test_a_reader_of_the_index_does_not_touch_an_unfinished_line(tmp_path: Path) -> None:
    path = tmp_path / "index"
    whole = IndexRecord("https://example.org/", "0" * 64, "p", None, None, 1)
    open_page_index(path, in_lmdb=False).put([whole])
    with path.open("ab") as file:
        file.write(b'{"url": "https://exam')
    before = path.read_bytes()
    assert list(index_records(path, in_lmdb=False)) == [whole]
    assert path.read_bytes() == before


def _subject(line: bytes) -> str | None:
    return None if line.startswith(b"?") else line.split()[0].decode()

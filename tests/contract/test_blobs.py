"""Blobs: what is put is there, whole, under its hash, once; nothing else is ever found."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.files.blobs import FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.parse.page.raw import packed, trained
from sumi.ports import Blobs

MOST = 1 << 20


PAGES = [f"<html><p>page {number} of a site</p></html>".encode() * 9 for number in range(100)]
DICTIONARY = trained(PAGES)


@contextmanager
def open_blobs(folder: Path, *, pack: bool) -> Iterator[Blobs]:
    with closing(SafeFolder(folder)) as files:
        yield FolderBlobs(files, packed=pack)


@pytest.mark.parametrize("pack", [True, False])
@given(bodies=st.lists(st.binary(max_size=200), max_size=8))
def test_what_is_put_is_found_and_no_more(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], pack: bool
) -> None:
    folder = tmp_path_factory.mktemp("blobs")
    absent = hashlib.sha256(b"\0absent").hexdigest()
    with open_blobs(folder, pack=pack) as blobs:
        for body in (*bodies, *bodies):
            digest, frame = packed(body)
            path = blobs.put(digest, frame if pack else body)
            assert path == f"{digest[:2]}/{digest[2:4]}/{digest}.html" + (".zst" if pack else "")
        blobs.sync()
        for body in bodies:
            digest = hashlib.sha256(body).hexdigest()
            assert blobs.has_whole(digest)
            assert blobs.open(digest, MOST) == body
        assert not blobs.has_whole(absent)
        assert blobs.open(absent, MOST) is None
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == len(set(bodies))


def test_a_blob_is_never_written_twice(tmp_path: Path) -> None:
    with open_blobs(tmp_path, pack=True) as blobs:
        digest, frame = packed(b"once")
        place = tmp_path / blobs.put(digest, frame)
        before = place.stat().st_ino
        blobs.put(digest, frame)
    assert place.stat().st_ino == before


@given(bodies=st.lists(st.binary(max_size=200), max_size=8), first=st.sampled_from([b"", DICTIONARY]))
def test_a_body_packed_in_two_ways_is_kept_as_it_was_first(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], first: bytes
) -> None:
    folder = tmp_path_factory.mktemp("blobs")
    with open_blobs(folder, pack=True) as blobs, open_blobs(folder, pack=True) as others:
        assert isinstance(blobs, FolderBlobs)
        blobs.dictionaries.add(DICTIONARY)
        assert blobs.dictionaries.in_use() == DICTIONARY
        for body in bodies:
            digest, frame = packed(body, first)
            place = folder / blobs.put(digest, frame)
            others.put(digest, packed(body, b"" if first else DICTIONARY)[1])
            assert place.read_bytes() == frame
            assert others.has_whole(digest)
            assert others.open(digest, MOST) == body
            place.write_bytes(b"")  # as a power cut may leave it
            blobs.put(digest, frame)
            assert blobs.open(digest, MOST) == body


def test_a_dictionary_that_is_missing_or_torn_opens_nothing(tmp_path: Path) -> None:
    digest, frame = packed(b"<html>" * 99, DICTIONARY)
    with open_blobs(tmp_path, pack=True) as blobs:
        assert isinstance(blobs, FolderBlobs)
        blobs.put(digest, frame)
        assert not blobs.has_whole(digest)
        blobs.dictionaries.add(DICTIONARY)
        (made,) = (tmp_path / "dictionaries").iterdir()
        for torn in (DICTIONARY[:-9], bytes(len(DICTIONARY)), b""):
            made.write_bytes(torn)
            assert blobs.dictionaries.in_use() == b""
            assert blobs.open(digest, MOST) is None
        made.write_bytes(DICTIONARY)
        assert blobs.has_whole(digest)


def test_damage_and_bombs_are_not_given_out(tmp_path: Path) -> None:
    with open_blobs(tmp_path, pack=True) as blobs:
        digest, frame = packed(b"x" * 100_000)
        place = tmp_path / blobs.put(digest, frame)
        assert blobs.open(digest, 99_999) is None
        place.write_bytes(frame[:-5])
        assert blobs.open(digest, MOST) is None


def test_a_name_that_is_no_hash_leads_nowhere(tmp_path: Path) -> None:
    with open_blobs(tmp_path, pack=True) as blobs:
        for name in ("../../etc/passwd", "", "A" * 64, "a" * 63, "a" * 64 + "\n"):
            assert not blobs.has_whole(name)
            assert blobs.open(name, MOST) is None
            with pytest.raises(ValueError, match="not a SHA-256"):
                blobs.put(name, b"")
    assert os.listdir(tmp_path) == []

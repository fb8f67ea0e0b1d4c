"""Every original body is found at its recorded place, across packs, runs and damage."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.raw_pages import RawPages
from sumi.parse.page.raw import packed, unpacked

BODIES = [f"<p>page {number}</p>".encode() * 50 for number in range(30)]


@pytest.fixture
def files(tmp_path: Path) -> Iterator[SafeFolder]:
    folder = SafeFolder(tmp_path)
    yield folder
    folder.close()


def packs(root: Path) -> list[Path]:
    return sorted(root.glob("home/.sumi/raw/*"))


def test_pages_are_found_in_full_packs_and_the_next(files: SafeFolder, tmp_path: Path) -> None:
    raw = RawPages(files, "home", pack_bytes=300)
    places = [raw.add(packed(body)[1]) for body in BODIES]
    assert len(packs(tmp_path)) > 2
    assert [unpacked(raw.read(place) or b"", 10**6) for place in places] == BODIES
    assert all(raw.has(place) for place in places)
    packs(tmp_path)[1].unlink()
    assert [raw.has(place) for place in places].count(False) == [p[0] for p in places].count(
        "pack-000002.zst"
    )


def test_a_later_run_appends_to_the_newest_pack(files: SafeFolder, tmp_path: Path) -> None:
    RawPages(files, "home").add(b"what a killed run never recorded")
    place = RawPages(files, "home").add(packed(BODIES[0])[1])
    assert len(packs(tmp_path)) == 1
    assert unpacked(RawPages(files, "home").read(place) or b"", 10**6) == BODIES[0]


def test_a_pack_is_a_zstd_file(files: SafeFolder, tmp_path: Path) -> None:
    raw = RawPages(files, "home")
    for body in BODIES:
        raw.add(packed(body)[1])
    with packs(tmp_path)[0].open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        assert reader.read() == b"".join(BODIES)


def test_a_pack_cut_within_its_last_frame_lacks_that_page_only(files: SafeFolder, tmp_path: Path) -> None:
    raw = RawPages(files, "home")
    places = [raw.add(packed(body)[1]) for body in BODIES]
    (pack,) = packs(tmp_path)
    pack.write_bytes(pack.read_bytes()[:-1])
    assert [raw.has(place) for place in places] == [True] * (len(BODIES) - 1) + [False]
    assert raw.read(places[-1]) is None


def test_another_page_at_the_same_place_is_recognized(files: SafeFolder, tmp_path: Path) -> None:
    """As after a power cut that lost the end of a pack, and pages written since."""
    raw = RawPages(files, "home")
    frame, other = packed(BODIES[0])[1], packed(BODIES[1])[1]
    assert len(frame) == len(other)
    place = raw.add(frame)
    assert raw.has_whole(place, sha256(BODIES[0]).hexdigest())
    packs(tmp_path)[0].write_bytes(other)
    assert raw.has(place)
    assert not raw.has_whole(place, sha256(BODIES[0]).hexdigest())


@pytest.mark.parametrize("damage", [b"", b"\0" * 40])
def test_a_page_cut_or_zeroed_by_a_power_cut_is_missing(
    files: SafeFolder, tmp_path: Path, damage: bytes
) -> None:
    raw = RawPages(files, "home")
    place = raw.add(packed(BODIES[0])[1])
    packs(tmp_path)[0].write_bytes(damage)
    assert not raw.has_whole(place, sha256(BODIES[0]).hexdigest())


def test_a_place_outside_of_the_packs_is_missing(files: SafeFolder) -> None:
    files.write_atomic("secret", b"secret")
    assert RawPages(files, "home").read(("../../../secret", 0, 6)) is None

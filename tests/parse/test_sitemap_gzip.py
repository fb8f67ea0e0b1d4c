"""Packed sitemaps are unpacked as a stream, by their bytes and not by their names, up to a limit."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.sitemap.reader import Gunzip, read_sitemap

BASE = "https://example.com/sitemap.xml.gz"
BODY = b"<urlset>%s</urlset>" % b"".join(
    b"<url><loc>https://example.com/%d/%08x</loc></url>" % (number, zlib.crc32(b"%d" % number))
    for number in range(900)
)
PACKED = gzip.compress(BODY, mtime=0)


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        PACKED,
        gzip.compress(PACKED),
        gzip.compress(BODY[:1000]) + gzip.compress(BODY[1000:]),
        b"".join(gzip.compress(BODY[start : start + 500]) for start in range(0, len(BODY), 500)),
        gzip.compress(b"") + PACKED + gzip.compress(b""),
        PACKED + b"\0" * 10_000,
        PACKED + b"\0",
    ],
)
def test_packed_once_twice_or_in_parts_it_is_read(body: bytes) -> None:
    sitemap = read_sitemap(body, BASE)
    assert len(sitemap.entries) == 900
    assert sitemap.problem == ""


@pytest.mark.parametrize("body", [PACKED + b"junk", PACKED + b"\0\0junk" * 9999])
def test_junk_behind_it_is_left_out_and_reported(body: bytes) -> None:
    sitemap = read_sitemap(body, BASE)
    assert len(sitemap.entries) == 900
    assert sitemap.problem == "bytes after its gzip data were left out"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_of_a_cut_file_the_readable_part_is_used_and_the_loss_reported(share: float) -> None:
    sitemap = read_sitemap(PACKED[: int(len(PACKED) * share)], BASE)
    assert 900 * share * 0.7 < len(sitemap.entries) < 900
    assert sitemap.problem.startswith("its gzip data ends early")


def test_of_a_damaged_file_what_came_well_before_is_used() -> None:
    parts = [gzip.compress(BODY[start : start + 5000]) for start in range(0, len(BODY), 5000)]
    whole = b"".join(parts[:-1]).ljust(5000, b"\0")
    sitemap = read_sitemap(whole + b"\x1f\x8b\x08\0not deflate at all", BASE)
    assert len(sitemap.entries) > 500
    assert sitemap.problem.startswith("its gzip data is damaged")


def test_a_wrong_checksum_is_reported() -> None:
    sitemap = read_sitemap(PACKED[:-8] + b"\0" * 4 + PACKED[-4:], BASE)
    assert "damaged" in sitemap.problem


def test_a_bomb_is_read_up_to_the_limit() -> None:
    bomb = gzip.compress(gzip.compress(BODY[:-9] + b" " * 50_000_000))
    assert len(bomb) < 50_000
    sitemap = read_sitemap(bomb, BASE, max_bytes=1_000_000)
    assert len(sitemap.entries) == 900
    assert sitemap.problem == "it was read up to the limit of 1,000,000 bytes"


def test_packed_three_times_is_no_sitemap() -> None:
    assert read_sitemap(gzip.compress(gzip.compress(PACKED)), BASE).entries == []


def unpacked(data: bytes, size: int) -> tuple[bytes, str]:
    gunzip = Gunzip()
    pieces = [
        piece for start in range(0, len(data), size) for piece in gunzip.feed(data[start : start + size])
    ]
    gunzip.close()
    return b"".join(pieces), gunzip.problem


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.integers(0, 5), st.integers(1, 50))
def test_members_and_padding_in_any_pieces_give_the_content(
    parts: list[bytes], padding: int, size: int
) -> None:
    packed = b"".join(gzip.compress(part) + b"\0" * padding for part in parts)
    assert unpacked(packed, size) == (b"".join(parts), "")


@given(st.binary(min_size=1, max_size=400), st.integers(1, 50), st.data())
def test_cut_or_changed_it_never_raises_and_a_loss_never_goes_unsaid(
    content: bytes, size: int, data: st.DataObject
) -> None:
    packed = bytearray(gzip.compress(content, mtime=0))
    cut = data.draw(st.integers(0, len(packed) - 1))
    prefix, problem = unpacked(bytes(packed[:cut]), size)
    assert content.startswith(prefix)
    assert problem
    packed[cut] ^= data.draw(st.integers(1, 255))
    changed, problem = unpacked(bytes(packed), size)
    assert changed == content or problem

"""A body is decoded, or refused with the reason, and never grows too large."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sumi.fetch.decode import content_codings, undo_codings
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FetchLimits

MIB = 1024 * 1024
LIMITS = FetchLimits()
PAGE = b"".join(b"<p>paragraph %d of a page</p>\n" % number for number in range(5000))


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _brotli(data: bytes) -> bytes:
    packed: bytes = brotli.compress(data, quality=4)
    return packed


def _zstd_unsized(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(data)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": _brotli,
    "zstd": _zstd_unsized,
}


@cache
def _bomb(coding: str) -> bytes:
    return PACKERS[coding](bytes(64 * MIB))


each_coding = pytest.mark.parametrize("coding", PACKERS)


@given(st.binary(max_size=300), st.lists(st.sampled_from(sorted(PACKERS)), max_size=5))
def test_any_chain_of_codings_is_undone_exactly(body: bytes, chain: list[str]) -> None:
    packed = body
    for coding in chain:
        packed = PACKERS[coding](packed)
    assert undo_codings(packed, chain, LIMITS, keep=None) == body


@each_coding
def test_a_page_survives(coding: str) -> None:
    assert undo_codings(PACKERS[coding](PAGE), [coding], LIMITS, keep=None) == PAGE


def test_deflate_without_its_wrapper_is_understood() -> None:
    assert undo_codings(_raw_deflate(PAGE), ["deflate"], LIMITS, keep=None) == PAGE


@each_coding
def test_no_prefix_of_a_body_passes_for_the_whole(coding: str) -> None:
    packed = PACKERS[coding](PAGE[:2000])
    for end in range(1, len(packed)):
        verdict = undo_codings(packed[:end], [coding], LIMITS, keep=None)
        assert isinstance(verdict, Verdict), end
        assert verdict.outcome is Outcome.BAD_ENCODING


@each_coding
def test_an_empty_body_needs_no_decoding(coding: str) -> None:
    assert undo_codings(b"", [coding], LIMITS, keep=None) == b""


@each_coding
def test_a_wrong_label_is_bad_encoding(coding: str) -> None:
    verdict = undo_codings(b"<!doctype html><title>plain</title>" * 10, [coding], LIMITS, keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.BAD_ENCODING


def test_a_damaged_checksum_is_bad_encoding() -> None:
    packed = bytearray(gzip.compress(PAGE))
    packed[-6] ^= 1
    assert isinstance(undo_codings(bytes(packed), ["gzip"], LIMITS, keep=None), Verdict)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_members_in_a_row_are_one_body(coding: str) -> None:
    pack = PACKERS[coding]
    assert (
        undo_codings(pack(b"one ") + pack(b"two ") + pack(PAGE), [coding], LIMITS, keep=None)
        == b"one two " + PAGE
    )


def test_what_follows_the_last_member_is_ignored() -> None:
    assert undo_codings(gzip.compress(PAGE) + b"\0" * 512, ["gzip"], LIMITS, keep=None) == PAGE
    assert undo_codings(zlib.compress(PAGE) + b"junk", ["deflate"], LIMITS, keep=None) == PAGE


def test_a_second_member_that_is_cut_short_spoils_the_body() -> None:
    packed = gzip.compress(PAGE) + gzip.compress(PAGE)[:-9]
    assert isinstance(undo_codings(packed, ["gzip"], LIMITS, keep=None), Verdict)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_thousands_of_empty_members_are_refused(coding: str) -> None:
    verdict = undo_codings(PACKERS[coding](b"") * 5000, [coding], LIMITS, keep=None)
    assert isinstance(verdict, Verdict)
    assert "members" in verdict.rule


@each_coding
def test_a_bomb_is_refused_by_its_ratio_without_being_unpacked(coding: str) -> None:
    bomb = _bomb(coding)
    tracemalloc.start()
    verdict = undo_codings(bomb, [coding], LIMITS, keep=None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(verdict, Verdict)
    assert verdict.outcome in (Outcome.BAD_ENCODING, Outcome.TOO_LARGE)
    assert peak < 2 * LIMITS.body_bytes + 8 * MIB


def test_a_bomb_within_a_bomb_is_refused() -> None:
    bomb = gzip.compress(gzip.compress(_bomb("gzip")))
    verdict = undo_codings(bomb, ["gzip", "gzip", "gzip"], LIMITS, keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.BAD_ENCODING


@each_coding
def test_a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not(coding: str) -> None:
    limits = FetchLimits(body_bytes=len(PAGE))
    pack = PACKERS[coding]
    assert undo_codings(pack(PAGE), [coding], limits, keep=None) == PAGE
    verdict = undo_codings(pack(PAGE + b"x"), [coding], limits, keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.TOO_LARGE


def test_the_ratio_counts_only_beyond_one_mebibyte() -> None:
    limits = FetchLimits(ratio=2)
    assert undo_codings(gzip.compress(bytes(MIB)), ["gzip"], limits, keep=None) == bytes(MIB)
    verdict = undo_codings(gzip.compress(bytes(MIB + 1)), ["gzip"], limits, keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.BAD_ENCODING


@pytest.mark.parametrize("coding", ["", *PACKERS])
@pytest.mark.parametrize("keep", [0, 1, 1000, len(PAGE) - 1, len(PAGE), len(PAGE) + 1])
def test_a_request_for_a_prefix_gets_that_prefix(coding: str, keep: int) -> None:
    codings = [coding] if coding else []
    packed = PACKERS[coding](PAGE) if coding else PAGE
    assert undo_codings(packed, codings, LIMITS, keep) == PAGE[:keep]


@each_coding
def test_a_prefix_is_to_be_had_from_a_bomb_too(coding: str) -> None:
    bomb = _bomb(coding)
    assert undo_codings(bomb, [coding], LIMITS, keep=500_000) == bytes(500_000)


def test_a_plain_body_has_the_same_limit() -> None:
    verdict = undo_codings(PAGE, [], FetchLimits(body_bytes=1000), keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.TOO_LARGE


def test_a_prefix_larger_than_the_limit_does_not_lift_the_limit() -> None:
    verdict = undo_codings(PAGE, [], FetchLimits(body_bytes=1000), keep=2000)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.TOO_LARGE


def test_too_many_codings_are_refused_unseen() -> None:
    verdict = undo_codings(b"anything", ["gzip"] * 6, LIMITS, keep=None)
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.BAD_ENCODING


def test_an_unknown_coding_is_named() -> None:
    verdict = undo_codings(b"anything", ["sdch"], LIMITS, keep=None)
    assert verdict == Verdict(Outcome.BAD_ENCODING, "unknown content coding 'sdch'")


def test_a_zstd_frame_that_wants_a_huge_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(PAGE) + packer.flush()
    assert isinstance(undo_codings(packed, ["zstd"], LIMITS, keep=None), Verdict)


@given(st.binary(max_size=400), st.sampled_from(sorted(PACKERS)))
def test_any_bytes_give_a_value(body: bytes, coding: str) -> None:
    assert isinstance(undo_codings(body, [coding], LIMITS, keep=None), bytes | Verdict)


@pytest.mark.parametrize(
    ("values", "codings"),
    [
        ([], []),
        (["gzip"], ["gzip"]),
        (["GZip , br", "zstd"], ["gzip", "br", "zstd"]),
        (["identity", "", ",,", "identity, gzip"], ["gzip"]),
        (["gzip, " * 1000], ["gzip"] * 1000),
    ],
)
def test_codings_are_counted_over_all_headers(values: list[str], codings: list[str]) -> None:
    assert content_codings(values) == codings


def test_a_prefix_is_to_be_had_from_a_body_that_was_packed_twice() -> None:
    body = random.Random(1).randbytes(2000)
    packed = gzip.compress(zlib.compress(body))
    assert undo_codings(packed, ["deflate", "gzip"], LIMITS, keep=100) == body[:100]

"""A body is known by the same name however it is kept, and comes back as it was."""

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.page.raw import Unpacker, dictionary_needed, dictionary_number, trained
from sumi.policy import Preset

DICTIONARY = trained([b"<p>a page</p>" * 99] * 100)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz <>/=&;", max_size=500).map(str.encode)


@pytest.mark.parametrize("bodies", [[], [b""] * 100, [b"x" * 10] * 3])
def test_bodies_with_nothing_in_common_make_no_dictionary(bodies: list[bytes]) -> None:
    assert trained(bodies) == b""


@given(body=WORDS, dictionary=st.sampled_from([b"", DICTIONARY]))
def test_named_packed_and_found_again(body: bytes, dictionary: bytes) -> None:
    plain = DigestRequest("https://e.org/", body, "text/html", Kind.PAGE, Preset.CRAWL, raw=True, pack=False)
    kept = digest(plain)
    packed = digest(msgspec.structs.replace(plain, pack=True, dictionary=dictionary))
    assert isinstance(kept, PageDigest)
    assert isinstance(packed, PageDigest)
    assert kept.raw_sha256 == packed.raw_sha256 == hashlib.sha256(body).hexdigest()
    assert kept.raw == b""
    assert dictionary_needed(packed.raw) == dictionary_number(dictionary)
    assert Unpacker(dictionary).unpacked(packed.raw, 500) == body


@given(frame=st.binary(max_size=60), most=st.integers(0, 1000))
def test_what_is_no_frame_costs_nothing(frame: bytes, most: int) -> None:
    for data in (frame, b"\x28\xb5\x2f\xfd" + frame):
        assert dictionary_needed(data) >= 0
        body = Unpacker().unpacked(data, most)
        assert body is None or len(body) <= most

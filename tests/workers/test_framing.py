"""Messages between crawler and workers arrive unchanged, however the stream is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.workers.framing import HEADER_BYTES, MAX_PAYLOAD, FrameReader, FrameSizeError


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


@given(st.lists(st.binary(max_size=200)), st.lists(st.integers(min_value=1, max_value=50), min_size=1))
def test_frames_survive_any_cutting(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(framed, payloads))
    reader = FrameReader()
    received: list[bytes] = []
    position, turn = 0, 0
    while position < len(stream):
        size = cuts[turn % len(cuts)]
        received += reader.feed(stream[position : position + size])
        position, turn = position + size, turn + 1
    assert received == payloads


@given(st.binary(min_size=HEADER_BYTES, max_size=300))
def test_noise_is_refused_or_waited_on_but_never_makes_a_frame_from_nothing(noise: bytes) -> None:
    try:
        payloads = FrameReader().feed(noise)
    except FrameSizeError:
        return
    assert sum(len(payload) + HEADER_BYTES for payload in payloads) <= len(noise)


def test_a_length_beyond_the_limit_is_refused_before_its_payload_arrives() -> None:
    with pytest.raises(FrameSizeError):
        FrameReader().feed((MAX_PAYLOAD + 1).to_bytes(HEADER_BYTES, "big"))

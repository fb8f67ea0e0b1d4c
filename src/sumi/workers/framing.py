"""How the crawler and its digest workers talk: length-prefixed msgpack over one socket.

A frame is four bytes of length, big-endian, then the payload: a ``DigestRequest`` to the worker, an
``Answer`` from it. The worker's first frame is empty and means that it is ready. Answers come in the order of
the requests. Nothing here touches a socket, so that both ends can use it, the asyncio and the blocking one.
"""

import msgspec

from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest, Undigested

HEADER_BYTES = 4
# Above the largest body of any job (a 100 MiB sitemap); bounds what a broken worker can make us hold.
MAX_PAYLOAD = 128 * 1024 * 1024
READY_FRAME = bytes(HEADER_BYTES)

_encoder = msgspec.msgpack.Encoder()


class Answer(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Exactly one of the two is set."""

    digest: PageDigest | None = None
    refusal: Undigested | None = None

    @classmethod
    def of(cls, result: PageDigest | Undigested) -> "Answer":
        return cls(refusal=result) if isinstance(result, Undigested) else cls(digest=result)

    @property
    def result(self) -> PageDigest | Undigested:
        return self.digest or self.refusal or Undigested(Verdict(Outcome.PARSE_FAILED, "an empty answer"))


class FrameSizeError(ValueError):
    """A length beyond MAX_PAYLOAD: the worker is broken."""


def encode_frame(message: msgspec.Struct) -> bytearray:
    """A message as one frame, encoded in place: bodies are large, and copies are not free."""
    frame = bytearray(HEADER_BYTES)
    _encoder.encode_into(message, frame, HEADER_BYTES)
    size = len(frame) - HEADER_BYTES
    if size > MAX_PAYLOAD:
        raise FrameSizeError(f"a message of {size:,} bytes")
    frame[:HEADER_BYTES] = size.to_bytes(HEADER_BYTES, "big")
    return frame


def payload_size(header: bytes | bytearray) -> int:
    size = int.from_bytes(header[:HEADER_BYTES], "big")
    if size > MAX_PAYLOAD:
        raise FrameSizeError(f"a frame of {size:,} bytes")
    return size


class FrameReader:
    """Assembles frames from the pieces of a stream."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._wanted = HEADER_BYTES  # bytes needed before the next check

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that ``data`` completes. Raises FrameSizeError for a header beyond the limit."""
        pending = self._pending
        pending += data
        payloads: list[bytes] = []
        while len(pending) >= self._wanted:
            end = HEADER_BYTES + payload_size(pending)
            if len(pending) < end:
                self._wanted = end
                break
            with memoryview(pending) as view:
                payloads.append(bytes(view[HEADER_BYTES:end]))
            del pending[:end]  # bytearrays drop a prefix without moving the rest
            self._wanted = HEADER_BYTES
        return payloads

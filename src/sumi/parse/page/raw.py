"""A body as it came, packed to be kept: its name and one zstd frame.

A plain frame is opened by ``zstdcat``. One that was packed with a dictionary names it by its number, and is
opened by ``zstdcat -D`` and that dictionary.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import zstandard

# Measured on documentation: level 3 packs 5 % tighter than 1 for 80 microseconds more a page; 10 costs five
# times as much for another 13 %.
LEVEL: Final = 3
# Measured on thirteen sites: 32 KiB from a hundred pages make an archive 9 to 57 % smaller; 110 KiB from two
# hundred save 2 to 5 % more, and would travel to the process that packs with every page.
DICTIONARY_BYTES: Final = 32 * 1024
SAMPLES: Final = 100
_MOST_HEAD: Final = 64  # of a frame and its first block; the format's own limit is 21
SAMPLE_BYTES: Final = 128 * 1024  # of a body; so that no site makes them take more than 13 MB


@lru_cache(maxsize=2)
def _compressor(dictionary: bytes) -> zstandard.ZstdCompressor:
    # A dictionary object of its own: one that was made ready for a compressor is not to be used by another.
    known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    # The size in the frame's head lets a reader refuse what would not fit, before it unpacks anything.
    return zstandard.ZstdCompressor(
        level=LEVEL, dict_data=known, write_content_size=True, write_checksum=True, write_dict_id=True
    )


def packed(body: bytes, dictionary: bytes = b"") -> tuple[str, bytes]:
    """The SHA-256 of the body, and the body in a frame of its own."""
    return name_of(body), _compressor(dictionary).compress(body)


def name_of(body: bytes) -> str:
    """Its SHA-256."""
    return hashlib.sha256(body).hexdigest()


class Unpacker:
    """For one thread at a time. Making one takes twice as long (10 microseconds) as unpacking a page."""

    def __init__(self, dictionary: bytes = b"") -> None:
        known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._decompressor = zstandard.ZstdDecompressor(dict_data=known)

    def unpacked(self, frame: bytes, most: int) -> bytes | None:
        """The body again; None if the frame is damaged, needs another dictionary or holds more than ``most``
        bytes."""
        try:
            if zstandard.frame_content_size(frame) > most:
                return None
            return self._decompressor.decompress(frame, max_output_size=most)
        except zstandard.ZstdError:
            return None


def unpacked(frame: bytes, most: int) -> bytes | None:
    """The same for a plain frame, in any thread."""
    return Unpacker().unpacked(frame, most)


def has_frame_of(read: Callable[[int, int], bytes], size: int, body_bytes: int) -> bool:
    """Whether a file of ``size`` bytes is one frame of a body of so many: told by the heads of the frame and
    of its blocks, nothing is unpacked. ``read``: from where, and how much at most."""
    head = read(0, _MOST_HEAD)
    try:
        parameters = zstandard.get_frame_parameters(head)
        at = zstandard.frame_header_size(head)
    except zstandard.ZstdError:
        return False
    if parameters.content_size != body_bytes:
        return False
    is_last = False
    while not is_last:
        block = int.from_bytes(head[at : at + 3] if at + 3 <= len(head) else read(at, 3), "little")
        is_last, is_repeated, length = bool(block & 1), block >> 1 & 3 == 1, block >> 3
        at += 3 + (1 if is_repeated else length)
        if at > size:
            return False
    return at + (4 if parameters.has_checksum else 0) == size


def dictionary_needed(frame: bytes) -> int:
    """The number of the dictionary that a frame was packed with; 0 for none, and for what is no frame."""
    try:
        return zstandard.get_frame_parameters(frame).dict_id
    except zstandard.ZstdError:
        return 0


def dictionary_number(dictionary: bytes) -> int:
    """By which frames name it; 0 for what is no dictionary."""
    return zstandard.ZstdCompressionDict(dictionary).dict_id() if dictionary else 0


def trained(bodies: Sequence[bytes]) -> bytes:
    """A dictionary of what the bodies have in common; empty if that is nothing. Slow: call it in a thread."""
    try:
        return zstandard.train_dictionary(DICTIONARY_BYTES, list(bodies), level=LEVEL).as_bytes()
    except zstandard.ZstdError:
        return b""

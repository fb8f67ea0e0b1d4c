"""A text as a zstd frame: whole, or as a delta with the text before it as the dictionary.

Measured on two releases of a manual: the changed pages take a fiftieth of what they take one by one.
"""

from typing import Final

import zstandard

LEVEL: Final = 3
# A delta is unpacked after all texts before it; 16 keep that below a few milliseconds.
LONGEST_CHAIN: Final = 16
# A delta that saves less than this is not worth the dependence on another text.
WORTH: Final = 0.5
MOST_BYTES: Final = 1024**3  # of a text; more than any setting allows
_MOST_WINDOW: Final = 27  # 128 MiB: the dictionary of a large page is within reach


class WholeFrames:
    """Keeps its tables from text to text: to make them takes as long as to pack a page. Not for several
    threads."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False)

    def pack(self, text: bytes) -> bytes:
        return self._compressor.compress(text)


def delta_frame(text: bytes, base: bytes) -> bytes:
    """The base must be given again to unpack it."""
    size = len(text) + len(base)
    window = min(max(size.bit_length(), 10), _MOST_WINDOW)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL, source_size=len(text), dict_size=len(base), window_log=window
    )
    known = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=known).compress(text)


def opened(frame: bytes, base: bytes | None = None) -> bytes | None:
    """The text again; None if the frame is damaged or belongs to another base."""
    known = None
    if base is not None:
        known = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= MOST_BYTES:  # ours always say it
            return None
        unpacker = zstandard.ZstdDecompressor(dict_data=known, max_window_size=1 << _MOST_WINDOW + 1)
        return unpacker.decompress(frame, max_output_size=size)
    except zstandard.ZstdError:
        return None

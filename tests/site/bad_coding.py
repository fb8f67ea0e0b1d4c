"""Content codings: good ones, broken ones, and those that unfold into far more than was sent."""

import gzip
import struct
import zlib
from functools import lru_cache

import brotli  # type: ignore[import-untyped]
import zstandard

from tests.site.wire import Asked, Reply, page, table

BODY = page("Unfolded", "<p>" + "It was packed and came out whole. " * 60 + "</p>")
BOMB_BYTES = 64 << 20  # twice what a crawler takes by default, a thousand times what travels
PIECE = b" " * (1 << 20)
GZIP_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
EMPTY_LAST_BLOCK = b"\x03\x00"


def coded(coding: str, body: bytes) -> Reply:
    return Reply(200, body, headers=(("Content-Encoding", coding),))


def gzip_ok(_asked: Asked) -> Reply:
    """A page in gzip."""
    return coded("gzip", gzip.compress(BODY, mtime=0))


def deflate_ok(_asked: Asked) -> Reply:
    """A page in deflate, with its zlib wrapper."""
    return coded("deflate", zlib.compress(BODY))


def br_ok(_asked: Asked) -> Reply:
    """A page in Brotli."""
    return coded("br", brotli.compress(BODY))


def zstd_ok(_asked: Asked) -> Reply:
    """A page in Zstandard."""
    return coded("zstd", zstandard.compress(BODY))


def gzip_two_members(_asked: Asked) -> Reply:
    """A page in two gzip members, one after the other."""
    half = len(BODY) // 2
    return coded("gzip", gzip.compress(BODY[:half], mtime=0) + gzip.compress(BODY[half:], mtime=0))


@lru_cache(maxsize=2)
def gzip_repeated(start: bytes, piece: bytes, times: int) -> bytes:
    """``start``, then ``piece`` over and over; packed once, so that a bomb does not stall its own server."""
    packed = [_deflated(start), *[_deflated(piece)] * times]
    checksum = zlib.crc32(start)
    for _ in range(times):
        checksum = zlib.crc32(piece, checksum)
    trailer = struct.pack("<II", checksum, (len(start) + len(piece) * times) % 2**32)
    return GZIP_HEADER + b"".join(packed) + EMPTY_LAST_BLOCK + trailer


def _deflated(data: bytes) -> bytes:
    """Blocks that refer to nothing before them and can be followed by others."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def gzip_bomb(_asked: Asked) -> Reply:
    """64 MiB of blanks in 64 KiB of gzip."""
    return coded("gzip", gzip_repeated(b"", PIECE, BOMB_BYTES // len(PIECE)))


@lru_cache(maxsize=1)
def _br_blanks(size: int) -> bytes:
    packer = brotli.Compressor(quality=4)
    return bytes(b"".join(packer.process(PIECE) for _ in range(size // len(PIECE))) + packer.finish())


def br_bomb(_asked: Asked) -> Reply:
    """64 MiB of blanks in a few hundred bytes of Brotli."""
    return coded("br", _br_blanks(BOMB_BYTES))


@lru_cache(maxsize=1)
def _zstd_blanks(size: int) -> bytes:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join(packer.compress(PIECE) for _ in range(size // len(PIECE))) + packer.flush()


def zstd_bomb(_asked: Asked) -> Reply:
    """64 MiB of blanks in a few KiB of Zstandard."""
    return coded("zstd", _zstd_blanks(BOMB_BYTES))


def gzip_truncated(_asked: Asked) -> Reply:
    """A gzip stream that stops in the middle, with an honest Content-Length."""
    packed = gzip.compress(BODY, mtime=0)
    return coded("gzip", packed[: len(packed) // 2])


def gzip_corrupt(_asked: Asked) -> Reply:
    """A gzip stream whose checksum is wrong."""
    packed = bytearray(gzip.compress(BODY, mtime=0))
    packed[-5] ^= 0xFF
    return coded("gzip", bytes(packed))


def gzip_empty(_asked: Asked) -> Reply:
    """Says gzip and sends nothing."""
    return coded("gzip", b"")


def encoding_lies(_asked: Asked) -> Reply:
    """Says gzip and sends plain HTML."""
    return coded("gzip", BODY)


def many_codings(asked: Asked) -> Reply:
    """Gzip within gzip, N (12) times over."""
    layers = asked.number_or(12)
    body = BODY
    for _ in range(layers):
        body = gzip.compress(body, mtime=0)
    return coded(", ".join(["gzip"] * layers), body)


def unknown_encoding(_asked: Asked) -> Reply:
    """A coding that nobody asked for or knows."""
    return coded("x-origami", BODY)


ROUTES = table(
    gzip_ok,
    deflate_ok,
    br_ok,
    zstd_ok,
    gzip_two_members,
    gzip_bomb,
    br_bomb,
    zstd_bomb,
    gzip_truncated,
    gzip_corrupt,
    gzip_empty,
    encoding_lies,
    many_codings,
    unknown_encoding,
)

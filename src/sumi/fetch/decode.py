"""Decoding of content codings, bounded: no kilobyte expands to a gigabyte."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

import brotli  # type: ignore[import-untyped]
import zstandard
from isal import isal_zlib

from sumi.outcomes import Outcome, Verdict
from sumi.policy import FetchLimits

_RATIO_FREE = 1024 * 1024  # small bodies may compress as well as they like
_MAX_MEMBERS = 1024  # a gzip body may have several members; a million empty ones are an attack
_ISAL_STEP = 64 * 1024
_BROTLI_STEP = 1024 * 1024
_ZSTD_STEP = 512  # zstandard cannot limit its output; 4 bytes make at most 128 KiB, so this makes 16 MiB
_ZSTD_WINDOW = 8 * 1024 * 1024  # what RFC 9659 allows on the web


class _BrokenBodyError(Exception):
    """Its message ends up in the verdict."""


class _Member(Protocol):
    """One self-contained piece of compressed data."""

    def feed(self, piece: bytes, room: int) -> bytes:
        """What ``piece`` decodes to; never much more than ``room`` bytes."""
        ...

    def left_over(self) -> bytes | None:
        """What follows the member in the last piece; None before its end."""
        ...


class _IsalMember:
    def __init__(self, wbits: int) -> None:
        self._inflater = isal_zlib.decompressobj(wbits=wbits)

    def feed(self, piece: bytes, room: int) -> bytes:
        try:
            part: bytes = self._inflater.decompress(piece, room)
        except isal_zlib.error as error:  # type: ignore[misc]  # its stub declares an instance
            raise _BrokenBodyError("gzip or deflate data is damaged") from error
        return part

    def left_over(self) -> bytes | None:
        return self._inflater.unused_data if self._inflater.eof else None


class _ZstdMember:
    def __init__(self) -> None:
        self._inflater = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    def feed(self, piece: bytes, room: int) -> bytes:
        try:
            return self._inflater.decompress(piece)
        except zstandard.ZstdError as error:
            raise _BrokenBodyError("zstd data is damaged") from error

    def left_over(self) -> bytes | None:
        return self._inflater.unused_data if self._inflater.eof else None


class _Format(NamedTuple):
    name: str
    start: Callable[[], _Member]
    step: int  # bytes fed at once
    magic: bytes | None  # the start of a further member; anything else after the first is ignored


def content_codings(values: Iterable[str]) -> list[str]:
    """The codings of all Content-Encoding headers, in the order in which they were applied."""
    names = [name.strip().lower() for value in values for name in value.split(",")]
    return [name for name in names if name not in ("", "identity")]


def undo_codings(body: bytes, codings: list[str], limits: FetchLimits, keep: int | None) -> bytes | Verdict:
    """The decoded body, or what is wrong with it.

    ``keep``: at most this many bytes are wanted; the rest is not decoded.
    """
    if len(codings) > limits.codings:
        return Verdict(Outcome.BAD_ENCODING, f"more than {limits.codings} content codings")
    room = min(limits.body_bytes, max(_RATIO_FREE, limits.ratio * len(body)))
    wanted = room if keep is None else min(room, keep)
    try:
        body = _undo_all(body, codings, room, wanted)
    except _BrokenBodyError as broken:
        return Verdict(Outcome.BAD_ENCODING, str(broken))
    if len(body) <= wanted:
        return body
    if wanted == keep:
        return body[:keep]
    return _overgrown(room, limits)


def _overgrown(room: int, limits: FetchLimits) -> Verdict:
    if room == limits.body_bytes:
        return Verdict(Outcome.TOO_LARGE, f"larger than {limits.body_bytes} bytes once decoded")
    return Verdict(Outcome.BAD_ENCODING, f"expands to more than {limits.ratio} times its size")


def _undo_all(body: bytes, codings: list[str], room: int, wanted: int) -> bytes:
    """Last coding first. A step that had to stop returns a little more than ``room``."""
    for position in range(len(codings) - 1, -1, -1):
        if not body:
            break
        decoder = _DECODERS.get(codings[position])
        if decoder is None:
            raise _BrokenBodyError(f"unknown content coding {codings[position][:40]!r}")
        body = decoder(body, wanted if position == 0 else room)
        if len(body) > room:
            break
    return body


def _undo_members(data: bytes, room: int, form: _Format) -> bytes:
    parts: list[bytes] = []
    size = position = members = 0
    member = form.start()
    while position < len(data):
        # In small steps, because what follows a member is copied, once per member.
        piece = data[position : position + form.step]
        part = member.feed(piece, room - size + 1)
        parts.append(part)
        size += len(part)
        if size > room:
            return b"".join(parts)
        position += len(piece)
        left_over = member.left_over()
        if left_over is None:
            continue
        position -= len(left_over)
        if form.magic is None or not data.startswith(form.magic, position):
            return b"".join(parts)
        members += 1
        if members == _MAX_MEMBERS:
            raise _BrokenBodyError(f"more than {_MAX_MEMBERS} {form.name} members")
        member = form.start()
    raise _BrokenBodyError(f"{form.name} data ends too early")


_GZIP = _Format("gzip", lambda: _IsalMember(31), _ISAL_STEP, b"\x1f\x8b")
_ZLIB = _Format("deflate", lambda: _IsalMember(15), _ISAL_STEP, None)
_RAW_DEFLATE = _Format("deflate", lambda: _IsalMember(-15), _ISAL_STEP, None)
_ZSTD = _Format("zstd", _ZstdMember, _ZSTD_STEP, b"\x28\xb5\x2f\xfd")


def _undo_gzip(data: bytes, room: int) -> bytes:
    return _undo_members(data, room, _GZIP)


def _undo_zstd(data: bytes, room: int) -> bytes:
    return _undo_members(data, room, _ZSTD)


def _undo_deflate(data: bytes, room: int) -> bytes:
    """By the standard ``deflate`` is zlib, but some servers send it raw."""
    is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return _undo_members(data, room, _ZLIB if is_zlib else _RAW_DEFLATE)


def _undo_brotli(data: bytes, room: int) -> bytes:
    inflater = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    try:
        while size <= room and not inflater.is_finished():
            part = inflater.process(data, output_buffer_limit=min(_BROTLI_STEP, room + 1))
            if not part and not inflater.is_finished():
                raise _BrokenBodyError("br data ends too early")
            parts.append(part)
            size += len(part)
            data = b""
    except brotli.error as error:
        raise _BrokenBodyError("br data is damaged") from error
    return b"".join(parts)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _undo_gzip,
    "x-gzip": _undo_gzip,
    "deflate": _undo_deflate,
    "br": _undo_brotli,
    "zstd": _undo_zstd,
}

"""Reads web archives that anybody wrote: WARC, plain or gzipped by record, and WACZ, a ZIP of these.

Nothing in an archive is trusted. A record that is cut, lies about its length or is too large is reported and
costs only itself: reading goes on at the next record.
"""

import mmap
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from sumi.errors import UsageError

HEAD_BYTES: Final = 64 * 1024  # of a record's own header
BLOCK_BYTES: Final = 256 * 1024 * 1024  # of a record's content, as far as it is read
_STEP: Final = 256 * 1024
_FIRST_STEP: Final = 2 * 1024  # most records of large archives are small, and there may be millions
_GZIP: Final = b"\x1f\x8b\x08"
_VERSION: Final = re.compile(rb"WARC/[01]\.\d+\r?\n")
_NEXT: Final = re.compile(rb"WARC/[01]\.\d+\r?\n(?=WARC-)")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_DIGITS: Final = re.compile(r"\d{1,15}")
_START_BYTES: Final = 8 * 1024  # of a response's own head: enough to know its status and type


class Record(msgspec.Struct, frozen=True):
    """What the header of a record says, and where the record is."""

    archive: int  # the number of its part, see ``parts_of``
    offset: int
    kind: str  # response, request, revisit, …
    uri: str
    date: float  # seconds since the epoch; 0 if it has none that can be read
    length: int
    content_type: str
    truncated: str  # why the archive's writer cut it; "" if it did not
    start: bytes  # of its content
    payload_digest: str = ""  # as its writer computed it
    stored: int = 0  # bytes that it takes in its file


class BadRecord(msgspec.Struct, frozen=True):
    """A place that cannot be read."""

    path: Path
    offset: int
    why: str


Read: TypeAlias = Record | BadRecord


class Part(NamedTuple):
    """A WARC file, or one inside a WACZ."""

    path: Path
    start: int
    length: int


class _BrokenRecordError(Exception):
    """The message is for users."""


def parts_of(path: Path) -> list[Part]:
    """The WARC files in what the user named. Raises UsageError if it is no archive."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if first == b"PK\x03\x04":
        return _parts_of_wacz(path)
    if not first.startswith((_GZIP, b"WARC")):
        raise UsageError(f"{path} is not a WARC or WACZ file")
    return [Part(path, 0, size)]


def _parts_of_wacz(path: Path) -> list[Part]:
    parts = []
    try:
        with zipfile.ZipFile(path) as bundle:
            for entry in bundle.infolist():
                if not re.fullmatch(r"archive/[^/]+\.warc(\.gz)?", entry.filename):
                    continue
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise UsageError(f"{path}: {entry.filename} is compressed, which WACZ does not allow")
                with bundle.open(entry) as inside:
                    parts.append(Part(path, inside._orig_compress_start, entry.file_size))  # type: ignore[attr-defined]
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UsageError(f"{path} is damaged: {error}") from None
    if not parts:
        raise UsageError(f"{path} holds no archive/*.warc.gz: it is no WACZ file")
    return parts


class Archive:
    """Several archives as one. ``close`` it."""

    def __init__(self, paths: list[Path]) -> None:
        self.parts = [part for path in paths for part in parts_of(path)]
        self._views: list[memoryview] = []
        self._maps: list[mmap.mmap] = []
        for part in self.parts:
            with part.path.open("rb") as file:
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._maps.append(whole)
            self._views.append(memoryview(whole)[part.start : part.start + part.length])

    def close(self) -> None:
        for view in self._views:
            view.release()
        for whole in self._maps:
            whole.close()

    def __iter__(self) -> Iterator[Read]:
        for number in range(len(self.parts)):
            yield from self.records(number)

    def stored(self, record: Record) -> Iterator[bytes]:
        """The record as one gzip member, in pieces: as it is in its file, unless that is not compressed."""
        whole = self._views[record.archive][record.offset : record.offset + record.stored]
        pieces = (bytes(whole[at : at + _STEP]) for at in range(0, len(whole), _STEP))
        if bytes(whole[:3]) == _GZIP:
            yield from pieces
            return
        packer = zlib.compressobj(wbits=31)
        yield from (packer.compress(piece) for piece in pieces)
        yield packer.flush()

    def content(self, record: Record, most: int = BLOCK_BYTES) -> bytes | None:
        """The record's whole content; None if it is longer than ``most`` or not there any more."""
        if record.length > most:
            return None
        view = self._views[record.archive]
        try:
            if bytes(view[record.offset : record.offset + 3]) == _GZIP:
                head, text, _ = _inflated(view, record.offset, HEAD_BYTES + record.length + 8)
                content = text[head : head + record.length]
            else:
                start = _head_end(view, record.offset)
                content = bytes(view[start : start + record.length])
        except _BrokenRecordError:
            return None
        return content if len(content) == record.length else None

    def records(self, number: int) -> Iterator[Read]:
        """Those of one of ``parts``."""
        view, offset = self._views[number], 0
        while offset < len(view):
            compressed = bytes(view[offset : offset + 3]) == _GZIP
            try:
                record, after = (_gzipped if compressed else _plain)(view, number, offset)
                yield msgspec.structs.replace(record, stored=after - offset)
            except _BrokenRecordError as broken:
                yield BadRecord(self.parts[number].path, offset, str(broken))
                after = _next_start(view, offset + 1, compressed=compressed)
            offset = after


def _gzipped(view: memoryview, number: int, offset: int) -> tuple[Record, int]:
    _, text, after = _inflated(view, offset, HEAD_BYTES + _START_BYTES, to_end=True)
    head = _HEAD_END.search(text)
    if head is None or not _VERSION.match(text):
        raise _BrokenRecordError("no WARC record")
    record = _record(number, offset, text[: head.start()], text[head.end() : head.end() + _START_BYTES])
    return record, after


def _inflated(view: memoryview, offset: int, most: int, *, to_end: bool = False) -> tuple[int, bytes, int]:
    """Where the content starts, the first ``most`` bytes of a member, and where the next begins."""
    inflate, parts, size, position = zlib.decompressobj(wbits=31), [], 0, offset
    total, step = 0, _FIRST_STEP
    while not inflate.eof and position < len(view) and (to_end or size < most):
        chunk = bytes(view[position : position + step])
        position += len(chunk)
        step = min(4 * step, _STEP)
        while chunk and not inflate.eof:
            try:
                text = inflate.decompress(chunk, _STEP)
            except zlib.error:
                raise _BrokenRecordError("damaged: it cannot be decompressed") from None
            chunk = inflate.unconsumed_tail
            total += len(text)
            if size < most:
                parts.append(text[: most - size])
                size += len(parts[-1])
            if total > 4 * BLOCK_BYTES:
                raise _BrokenRecordError("it expands to more than a record may hold")
    if to_end and not inflate.eof:
        raise _BrokenRecordError("cut: the file ends within it")
    text = b"".join(parts)
    head = _HEAD_END.search(text)
    after = position - len(inflate.unused_data)
    length = _length_of(text[: head.start()]) if head else 0
    if to_end and head and length is not None and total > head.end() + length + 64:
        raise _BrokenRecordError("several records are compressed as one: recompress the file by record")
    if to_end and head and length is not None and total < head.end() + length:
        raise _BrokenRecordError("shorter than it says")
    return head.end() if head else 0, text, after


def _plain(view: memoryview, number: int, offset: int) -> tuple[Record, int]:
    start = _head_end(view, offset)
    head = _HEAD_END.split(bytes(view[offset:start]), maxsplit=1)[0]
    record = _record(number, offset, head, bytes(view[start : start + _START_BYTES]))
    end = start + record.length
    if end > len(view):
        raise _BrokenRecordError("longer than the file")
    after = end
    while after < len(view) and view[after] in b"\r\n":
        after += 1
    if after < len(view) and not _VERSION.match(bytes(view[after : after + 16])):
        raise _BrokenRecordError("it lies about its length")
    return record, after


def _head_end(view: memoryview, offset: int) -> int:
    for size in (_FIRST_STEP, HEAD_BYTES):
        head = bytes(view[offset : offset + size])
        end = _HEAD_END.search(head)
        if end is not None and _VERSION.match(head):
            return offset + end.end()
    raise _BrokenRecordError("no WARC record")


def _next_start(view: memoryview, offset: int, *, compressed: bool) -> int:
    """Where a record seems to begin."""
    while offset < len(view):
        piece = bytes(view[offset : offset + _STEP + 16])
        if compressed:
            found = piece.find(_GZIP)
        else:
            match = _NEXT.search(piece)
            found = match.start() if match else -1
        if found >= 0:
            return offset + found
        offset += _STEP
    return len(view)


def _record(number: int, offset: int, head: bytes, start: bytes) -> Record:
    fields = _fields(head)
    length = _length_of(head)
    if length is None:
        raise _BrokenRecordError("no Content-Length")
    uri = fields.get("warc-target-uri", "").strip("<>")  # wget writes the brackets of WARC 1.0
    return Record(
        number,
        offset,
        fields.get("warc-type", ""),
        uri,
        _seconds(fields.get("warc-date", "")),
        length,
        fields.get("content-type", ""),
        fields.get("warc-truncated", ""),
        start[:length],
        fields.get("warc-payload-digest", ""),
    )


def _fields(head: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in head.decode("utf-8", "replace").splitlines()[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def _length_of(head: bytes) -> int | None:
    text = _fields(head).get("content-length", "")
    return int(text) if _DIGITS.fullmatch(text) else None


def _seconds(text: str) -> float:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()

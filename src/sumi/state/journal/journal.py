"""An append-only log in numbered segments. What follows the last sync mark may be torn.

A record is one line, ``<length> <crc32c> <json>\\n``, readable with any pager; length and checksum
distinguish a complete record from a torn or damaged one.

Reading stops at the first bad line. If a later sync mark proves that the bad line was once durable, the file
is damaged, which is an error. Otherwise the rest is an unfinished write of a crash, and is cut off.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import google_crc32c

from sumi.errors import StateDamaged, StateError, SumiError
from sumi.files.disk_errors import disk_error, explained
from sumi.files.growing_file import write_all
from sumi.state.folder import sync_folder

USUAL_LINE = 4096  # lines up to this length are read at once
SEGMENT_BYTES = 64 * 1024 * 1024
SEGMENT_NAME = re.compile(r"journal-(\d{6})\.log")
SYNC_MARK = re.compile(rb'\{"type":"sync","upto":(\d+)\}')
HEADER_BYTES = 18  # 8 hex digits, space, 8 hex digits, space
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def frame(payload: bytes) -> bytes:
    return b"%08x %08x %s\n" % (len(payload), google_crc32c.value(payload), payload)


def line_length(start: bytes) -> int:
    """As the beginning of the line says; 0 if it is not a record."""
    try:
        return int(start[:8], 16) + HEADER_BYTES + 1
    except ValueError:
        return 0


def unframe(line: bytes) -> bytes | None:
    """The payload of one line (its newline included), or None if the line is torn or damaged."""
    if len(line) <= HEADER_BYTES or line[-1:] != b"\n":
        return None
    payload = line[HEADER_BYTES:-1]
    if line[:HEADER_BYTES] != b"%08x %08x " % (len(payload), google_crc32c.value(payload)):
        return None
    return payload


class Place(int):
    """Where a record starts: segment number and offset in one integer, so that a million fit in memory."""

    OFFSET_BITS = 40

    @classmethod
    def of(cls, segment: int, offset: int) -> "Place":
        return cls((segment << cls.OFFSET_BITS) | offset)

    @property
    def segment(self) -> int:
        return self >> self.OFFSET_BITS

    @property
    def offset(self) -> int:
        return self & ((1 << self.OFFSET_BITS) - 1)


class Journal:
    def __init__(self, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._number = max(self._numbers(), default=1)
        self._file = self._open_segment()
        self._size = os.fstat(self._file).st_size
        self._readers: dict[int, int] = {}
        self._retired: int | None = None
        self._failure: SumiError | None = None
        self.ends_synced = False  # set by ``replay``: everything is certainly durable
        self.torn_bytes = 0  # cut off by ``replay``

    def append(self, payloads: list[bytes]) -> list[Place]:
        """Write records; they survive a kill from now on, and a power cut after ``sync``."""
        self._refuse_after_failure()
        if self._size >= self._segment_bytes:
            self._rotate()
        places, lines, offset = [], [], self._size
        for payload in payloads:
            line = frame(payload)
            places.append(Place.of(self._number, offset))
            lines.append(line)
            offset += len(line)
        self._write(b"".join(lines))
        return places

    def sync(self) -> None:
        """Make everything appended so far durable."""
        self._refuse_after_failure()
        try:
            os.fdatasync(self._file)
        except OSError as error:
            # After a failed fsync the kernel may have dropped the dirty pages; a second one could succeed
            # wrongly.
            raise self._failed(error) from error

    @property
    def end(self) -> Place:
        """Where the next record will start."""
        return Place.of(self._number, self._size)

    def mark_synced(self, upto: Place) -> None:
        """Record that everything before ``upto`` is durable; more may have been written since."""
        self._refuse_after_failure()
        self._write(frame(b'{"type":"sync","upto":%d}' % upto))

    def replay(self) -> Iterator[tuple[Place, bytes]]:
        """Every record from the beginning; cuts off a torn tail."""
        numbers = self._numbers()
        for number in numbers:
            yield from self._replay_segment(number, last=number == numbers[-1])

    def read(self, place: Place) -> bytes:
        """One record again."""
        reader = self._reader(place.segment)
        line = os.pread(reader, USUAL_LINE, place.offset)
        length = line_length(line)
        line = line[:length] if length <= len(line) else os.pread(reader, length, place.offset)
        payload = unframe(line)
        if payload is None:
            raise StateDamaged(self._damage(place.segment, place.offset))
        return payload

    def close(self) -> None:
        for reader in self._readers.values():
            os.close(reader)
        self._readers.clear()
        self._close_retired()
        os.close(self._file)

    def _replay_segment(self, number: int, last: bool) -> Iterator[tuple[Place, bytes]]:
        offset = 0
        with self._path(number).open("rb") as lines:
            for line in lines:
                payload = unframe(line)
                if payload is None:
                    self._cut_tail(number, offset, lines, last)
                    return
                place = Place.of(number, offset)
                self.ends_synced = _mark_of(payload) == place
                yield place, payload
                offset += len(line)

    def _cut_tail(self, number: int, offset: int, rest: Iterator[bytes], last: bool) -> None:
        here = Place.of(number, offset)
        if not last or any(synced_upto(line) > here for line in rest):
            raise StateDamaged(self._damage(number, offset))
        self.torn_bytes += self._size - offset
        with explained(self._path(number)):
            os.ftruncate(self._file, offset)
        self._size = offset

    def _damage(self, number: int, offset: int) -> str:
        return (
            f"{self._path(number)} is damaged at byte {offset}: restore the file from a copy, "
            "or start over with --fresh"
        )

    def _write(self, data: bytes) -> None:
        try:
            write_all(self._file, data)
        except OSError as error:
            with contextlib.suppress(OSError):  # a half record at the end would be cut off on opening anyway
                os.ftruncate(self._file, self._size)
            raise self._failed(error) from error
        self._size += len(data)

    def _failed(self, error: OSError) -> SumiError:
        self._failure = disk_error(error, self._path(self._number))
        return self._failure

    def _refuse_after_failure(self) -> None:
        """Later records may depend on the one that was lost, so nothing may follow it."""
        if self._failure is not None:
            raise self._failure

    def _rotate(self) -> None:
        self.sync()
        self._close_retired()
        self._retired = self._file  # a thread may be about to sync it
        self._number += 1
        self._file = self._open_segment()
        self._size = 0

    def _close_retired(self) -> None:
        if self._retired is not None:
            os.close(self._retired)
            self._retired = None

    def _open_segment(self) -> int:
        """For appending; the name of a new one is durable before anything is written to it."""
        path = self._path(self._number)
        with explained(path):
            is_new = not path.exists()
            file = _open_for_append(path)
            if is_new:
                sync_folder(self._folder)
            return file

    def _reader(self, number: int) -> int:
        if number not in self._readers:
            path = self._path(number)
            with explained(path):
                self._readers[number] = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        return self._readers[number]

    def _numbers(self) -> list[int]:
        with explained(self._folder):
            return sorted(int(m[1]) for p in self._folder.iterdir() if (m := SEGMENT_NAME.fullmatch(p.name)))

    def _path(self, number: int) -> Path:
        return self._folder / f"journal-{number:06}.log"


def journal_bytes(folder: Path) -> int:
    """How much must be read to resume a job; 0 if there is no journal."""
    if not folder.is_dir():
        return 0
    with explained(folder):
        return sum(p.lstat().st_size for p in folder.iterdir() if SEGMENT_NAME.fullmatch(p.name))


def synced_upto(line: bytes) -> int:
    return _mark_of(unframe(line) or b"") or 0


def _mark_of(payload: bytes) -> int | None:
    mark = SYNC_MARK.fullmatch(payload)
    return int(mark[1]) if mark else None


def _open_for_append(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o644)


class Segment(NamedTuple):
    number: int
    path: Path
    size: int


class BadLine(NamedTuple):
    segment: Segment
    offset: int
    is_tail: bool  # never known to be durable: an unfinished write of a crash

    def __str__(self) -> str:
        return f"{self.segment.path} at byte {self.offset}"


class JournalView:
    """A journal opened read-only, while another process may be writing it.

    It shows what was there when it was opened. An incomplete last line is being written, or was torn by a
    crash; either way it does not count.
    """

    def __init__(self, folder: Path) -> None:
        self._segments = list(_segments(folder))
        self._readers: dict[int, int] = {}

    def replay(self) -> Iterator[tuple[Place, bytes]]:
        for line in self.lines():
            if not isinstance(line, BadLine):
                yield line
            elif line.is_tail:
                return
            else:
                raise StateDamaged(f"{line}: damaged; run sumi state check")

    def lines(self) -> Iterator[tuple[Place, bytes] | BadLine]:
        """Every line, including bad ones: to report those, or to salvage the others."""
        for segment in self._segments:
            offset = 0
            for line in _lines_of(segment):
                payload = unframe(line)
                if payload is None:
                    yield BadLine(segment, offset, self._is_tail(segment, offset))
                else:
                    yield Place.of(segment.number, offset), payload
                offset += len(line)

    def read(self, place: Place) -> bytes:
        reader = self._reader(place.segment)
        header = os.pread(reader, 8, place.offset)
        line = os.pread(reader, int(header, 16) + 19, place.offset) if len(header) == 8 else b""
        payload = unframe(line)
        if payload is None:
            raise StateDamaged(f"the journal is damaged at byte {place.offset} of segment {place.segment}")
        return payload

    def close(self) -> None:
        for reader in self._readers.values():
            os.close(reader)
        self._readers.clear()

    def _is_tail(self, segment: Segment, offset: int) -> bool:
        if segment is not self._segments[-1]:
            return False
        return Place.of(segment.number, offset) >= self._last_mark

    @cached_property
    def _last_mark(self) -> int:
        """Up to where the last segment is marked as durable."""
        return max(map(synced_upto, _lines_of(self._segments[-1])), default=0)

    def _reader(self, number: int) -> int:
        if number not in self._readers:
            path = next(segment.path for segment in self._segments if segment.number == number)
            with _gone_named(path):
                self._readers[number] = os.open(path, _READ)
        return self._readers[number]


def _segments(folder: Path) -> Iterator[Segment]:
    for path in sorted(folder.iterdir()):
        match = SEGMENT_NAME.fullmatch(path.name)
        if match is not None and path.is_file() and not path.is_symlink():
            yield Segment(int(match[1]), path, path.stat().st_size)


@contextmanager
def _gone_named(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise StateError(
            f"{path} is gone: the state was just moved to a database, or removed; try again"
        ) from None


def _lines_of(segment: Segment) -> Iterator[bytes]:
    with _gone_named(segment.path), segment.path.open("rb") as file:
        left = segment.size
        while left > 0 and (line := file.readline(left)):
            left -= len(line)
            yield line

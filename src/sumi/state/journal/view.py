"""A journal looked at while somebody else may be writing it: nothing is locked, made, cut or changed.

What was there when it was opened is what is seen. A last line that is not whole is one that is just being
written, or what a crash left of it; either way it has not happened.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sumi.errors import StateDamaged, StateError
from sumi.state.journal.journal import SEGMENT_NAME, Place, synced_upto
from sumi.state.journal.lines import unframe

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Segment(NamedTuple):
    number: int
    path: Path
    size: int


class BadLine(NamedTuple):
    segment: Segment
    offset: int
    is_tail: bool  # nothing that was ever known to be on the disk: a write that a crash left unfinished

    def __str__(self) -> str:
        return f"{self.segment.path} at byte {self.offset}"


class JournalView:
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
                raise StateDamaged(f"{line}: damaged; sumi state check says more")

    def lines(self) -> Iterator[tuple[Place, bytes] | BadLine]:
        """Every line, the bad ones too: for those who want to know them all, or save the others."""
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
        """Up to where the last segment says that everything reached the disk."""
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
            f"{path} is gone: the state was carried over into a database just now, or removed; look again"
        ) from None


def _lines_of(segment: Segment) -> Iterator[bytes]:
    with _gone_named(segment.path), segment.path.open("rb") as file:
        left = segment.size
        while left > 0 and (line := file.readline(left)):
            left -= len(line)
            yield line

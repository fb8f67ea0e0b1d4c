"""An append-only file of lines. A line that a kill tore is cut off before anything is appended."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sumi.files.disk_errors import explained

_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BLOCK = 64 * 1024


class GrowingFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, lines: Sequence[bytes], header: bytes = b"") -> None:
        """Durable on return. A new file starts with the header."""
        with explained(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, _APPEND, 0o644)
            try:
                start = b"" if cut_torn_line(file) else header
                write_all(file, start + b"".join(line + b"\n" for line in lines))
                os.fdatasync(file)
            finally:
                os.close(file)

    def cut_torn_end(self) -> None:
        """Remove what a kill left of an unfinished line."""
        if self._path.exists():
            with explained(self._path), self._path.open("r+b") as file:
                cut_torn_line(file.fileno())

    def whole_lines(self) -> Iterator[bytes]:
        """All complete lines, after a torn end was cut off; none if there is no file."""
        self.cut_torn_end()
        if self._path.exists():
            with explained(self._path), self._path.open("rb") as file:
                yield from file


def write_all(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, data[written:])


def cut_torn_line(file: int) -> int:
    """Cut off an unfinished last line; returns the size of the file."""
    end = end_of_whole_lines(file)
    if end < os.fstat(file).st_size:
        os.ftruncate(file, end)
    return end


def end_of_whole_lines(file: int) -> int:
    end = os.fstat(file).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        end = start + found + 1
        if found >= 0:
            break
    return end

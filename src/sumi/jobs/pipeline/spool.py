"""A spool of JSON lines in files, ``discoveries-<seconds>.jsonl``: one process appends, another takes.

Nothing that was once a whole line is ever changed or removed, so a bookmark of files and offsets stays good.
The taker (``spool_reader``) reads whole lines only; an unfinished last line is being written just now, or
is what a kill left of it, which the next appender cuts off.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.files.faults import explained
from sumi.files.growing_file import cut_torn_line, end_of_whole_lines, write_all
from sumi.jobs.pipeline.spool_folder import segments
from sumi.state.folder import sync_folder

# Far more than a discovery takes; a line beyond it is not one of ours.
MOST_LINE_BYTES = 1024 * 1024


class SpoolWriter:
    """The appending half of a spool."""

    def __init__(self, folder: Path, segment_bytes: int, now: float) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            known = segments(folder)
            self._name = known[-1] if known else _segment_name(int(now))
            self._file = self._open()
            self._size = _mended(self._file)

    @property
    def segment(self) -> str:
        return self._name

    def append(self, lines: Sequence[bytes], now: float) -> None:
        if not lines:
            return
        with explained(self._folder / self._name):
            if self._size >= self._segment_bytes:
                self._rotate(now)
            data = b"".join(line + b"\n" for line in lines)
            write_all(self._file, data)
            self._size += len(data)

    def sync(self) -> None:
        with explained(self._folder / self._name):
            os.fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def _rotate(self, now: float) -> None:
        self.sync()
        os.close(self._file)
        number = int(self._name.removeprefix("discoveries-").removesuffix(".jsonl"))
        self._name = _segment_name(max(int(now), number + 1))
        self._file = self._open()
        self._size = 0

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(self._folder / self._name, flags, 0o644)
        sync_folder(self._folder)
        return file


def is_whole_object(text: bytes) -> bool:
    """A part of an object is none: this line lacks nothing but its end, and may have been taken already."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return False


def _mended(file: int) -> int:
    """Where the file ends once its last line is whole, or gone."""
    size, end = os.fstat(file).st_size, end_of_whole_lines(file)
    if 0 < size - end <= MOST_LINE_BYTES and is_whole_object(os.pread(file, size - end, end)):
        write_all(file, b"\n")
        return size + 1
    return cut_torn_line(file)


def _segment_name(number: int) -> str:
    return f"discoveries-{number:010}.jsonl"

"""A spool of JSON lines in segments, ``discoveries-<seconds>.jsonl``: one process appends, another takes.

Nothing that was once a whole line is ever changed or removed, so a bookmark of a file and an offset stays
good. The taker reads complete lines only; an unfinished last line is what is being written just now, or what
a kill left of it, which the next appender cuts off.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.ports import SpoolLine, SpoolPlace
from sumi.store.faults import explained
from sumi.store.folder import own_file, sync_folder
from sumi.store.growing_file import cut_torn_line, write_all

SEGMENT_NAME = re.compile(r"discoveries-\d{10}\.jsonl\Z")
# Far more than a discovery takes; a line beyond it is not one of ours and is passed over.
MOST_LINE_BYTES = 1024 * 1024
READ_BYTES = 256 * 1024
_START = SpoolPlace("", 0)


def segments(folder: Path) -> list[str]:
    """Names in the order they were written."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(name for name in names if SEGMENT_NAME.match(name))


def spool_bytes_after(folder: Path, place: SpoolPlace) -> int:
    """How much there is that nobody has taken yet."""
    total = 0
    for name in segments(folder):
        if name >= place.file:
            total += _size(folder / name) - (place.offset if name == place.file else 0)
    return max(0, total)


def unread_bytes(folder: Path, bookmark: Path) -> int:
    """How much of it lies after the bookmark, or in all if that cannot be read."""
    return spool_bytes_after(folder, read_bookmark(bookmark) or _START)


class SpoolWriter:
    """The appending half of ``sumi.ports.Spool``."""

    def __init__(self, folder: Path, segment_bytes: int, now: float) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            known = segments(folder)
            self._name = known[-1] if known else _segment_name(int(now))
            self._file = self._open()
            self._size = cut_torn_line(self._file)

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


class SpoolReader:
    """The taking half of ``sumi.ports.Spool``, with its bookmark."""

    def __init__(self, folder: Path, bookmark: Path) -> None:
        self._folder = folder
        self._bookmark = bookmark
        self.problem = ""  # why the bookmark could not be used; "" if it could
        self._at = self._recovered(read_bookmark(bookmark))
        self._acked = self._saved = self._at

    @property
    def place(self) -> SpoolPlace:
        """What was acknowledged: everything before it is done with."""
        return self._acked

    def take(self, limit: int) -> list[SpoolLine]:
        """The next complete lines, at most ``limit``; none if the writer has not got any further."""
        while True:
            names = segments(self._folder)  # before reading: what is not the last by now has no more to come
            if not self._at.file:
                if not names:
                    return []
                self._at = SpoolPlace(names[0], 0)
            lines = self._lines_of(self._at, limit)
            if lines:
                self._at = lines[-1].after
                return lines
            later = [name for name in names if name > self._at.file]
            if not later:
                return []
            self._at = SpoolPlace(later[0], 0)

    def ack(self, place: SpoolPlace) -> None:
        """Nothing before ``place`` need ever be taken again. In the bookmark by the next ``save``."""
        self._acked = max(self._acked, place)

    def save(self) -> None:
        """A bookmark that is behind does no harm, so it need not outlive a power cut."""
        if self._saved == self._acked:
            return
        self._saved = self._acked
        data = msgspec.json.encode({"file": self._acked.file or None, "offset": self._acked.offset})
        draft = self._bookmark.with_name(f".{self._bookmark.name}.tmp")
        with explained(self._bookmark):
            self._bookmark.parent.mkdir(parents=True, exist_ok=True)
            with open(draft, "wb", opener=own_file) as file:
                file.write(data + b"\n")
            draft.replace(self._bookmark)

    def _lines_of(self, place: SpoolPlace, limit: int) -> list[SpoolLine]:
        try:
            file = os.open(self._folder / place.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        try:
            data = os.pread(file, READ_BYTES, place.offset)
            if data and b"\n" not in data:
                data = os.pread(file, MOST_LINE_BYTES, place.offset)
        finally:
            os.close(file)
        if len(data) == MOST_LINE_BYTES and b"\n" not in data:
            data += b"\n"  # not a line of ours: given out in pieces, which nobody can read as one
        return _split(data, place, limit)

    def _recovered(self, place: SpoolPlace | None) -> SpoolPlace:
        """The earliest place that can be meant. Lines before it that come again are known to be done."""
        if place is None:
            self.problem = f"{self._bookmark} cannot be read, so the spool is gone through from its start"
            return _START
        if place == _START:
            return place
        if place.file not in segments(self._folder):
            self.problem = (
                f"{self._bookmark} names {place.file}, which is gone: going on with what comes after it"
            )
            return SpoolPlace(place.file, 0)
        if not self._is_line_start(place):
            self.problem = f"{self._bookmark} points into a line of {place.file}: it is read from its start"
            return SpoolPlace(place.file, 0)
        return place

    def _is_line_start(self, place: SpoolPlace) -> bool:
        if place.offset == 0:
            return True
        with (self._folder / place.file).open("rb") as file:
            file.seek(place.offset - 1)
            return file.read(1) == b"\n"


def read_bookmark(path: Path) -> SpoolPlace | None:
    """None if there is one that cannot be read; the start if there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _START
    except OSError:
        return None
    try:
        mark = msgspec.json.decode(data, type=_Bookmark)
    except msgspec.MsgspecError:
        return None
    if mark.file is None:
        return _START
    return SpoolPlace(mark.file, mark.offset) if SEGMENT_NAME.match(mark.file) and mark.offset >= 0 else None


class _Bookmark(msgspec.Struct):
    file: str | None
    offset: int


def _split(data: bytes, place: SpoolPlace, limit: int) -> list[SpoolLine]:
    lines: list[SpoolLine] = []
    start = 0
    while len(lines) < limit and (end := data.find(b"\n", start)) >= 0:
        here = SpoolPlace(place.file, place.offset + start)
        after = SpoolPlace(place.file, place.offset + end + 1)
        lines.append(SpoolLine(here, after, data[start:end]))
        start = end + 1
    return lines


def _segment_name(number: int) -> str:
    return f"discoveries-{number:010}.jsonl"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""Reads a spool: each complete line of all its files once, as files appear and grow.

Files are read one after the other, in the order of their names; a file that appears or grows later is read
then, whatever its name.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from sumi.events import Listener, Warned
from sumi.jobs.pipeline.spool import (
    MOST_LINE_BYTES,
    SEGMENT_NAME,
    Bookmark,
    SpoolFolder,
    is_whole_object,
    list_spool,
    natural_order,
    read_bookmark,
    write_bookmark,
)
from sumi.ports import Ledger, Remains

READ_BYTES: Final = 256 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def unread_bytes(folder: Path, bookmark: Path) -> int:
    """The size of the spool after the bookmark, or of all of it if the bookmark cannot be read."""
    sizes = list_spool(folder).sizes
    read = (read_bookmark(bookmark) or Bookmark()).offsets(sizes)
    return sum(max(0, size - read.get(name, 0)) for name, size in sizes.items())


class SpoolPlace(msgspec.Struct, frozen=True):
    """Where a line of a spool begins or ends."""

    file: str
    offset: int


class SpoolLine(msgspec.Struct, frozen=True):
    place: SpoolPlace
    after: SpoolPlace
    data: bytes  # without the line end
    too_long: bool = False  # and therefore not read


class SpoolRest(msgspec.Struct, frozen=True):
    """What was not read."""

    ignored: dict[str, str]  # files that are not read, and why
    unfinished: tuple[SpoolPlace, ...]  # incomplete last lines
    behind: bool  # complete lines are left


class SpoolReader:
    """Reads the lines that ``spool.SpoolWriter`` appended, from the bookmark on."""

    def __init__(self, folder: Path, bookmark: Path) -> None:
        self._folder = folder
        self._bookmark = bookmark
        self.problems: list[str] = []  # why the bookmark could not be used, in full or for a file
        self._trusted = True  # the bookmark is valid: files it does not name are new
        self._unreadable: dict[str, str] = {}
        self._taken = self._recovered(read_bookmark(bookmark))
        self._acked = dict(self._taken)
        self._current = self._last = ""
        self._is_saved = True
        self._counted: dict[str, tuple[int, int]] = {}  # by file, an offset and the lines before it
        self._searched: dict[SpoolPlace, int] = {}  # by start of an overlong line: how far it was searched

    def take(self, limit: int) -> list[SpoolLine]:
        """The next complete lines, at most ``limit``; none if there are no new ones."""
        lines = self._lines_of(self._current, limit) if self._current else []
        if not lines:
            for name, size in list_spool(self._folder).sizes.items():
                if size > self._taken.get(name, 0) and (lines := self._lines_of(name, limit)):
                    self._current = name
                    break
        return self._noted(lines)

    def take_unended(self) -> list[SpoolLine]:
        """Last lines that only lack their line end, as many programs leave them. Call it when nobody is
        writing any more."""
        return self._noted([line for _, line in self._last_lines() if line is not None])

    def rest(self) -> SpoolRest:
        listing = list_spool(self._folder)
        last = dict(self._last_lines())
        unfinished = tuple(place for place, line in last.items() if line is None)
        waiting = {place.file for place in last}
        behind = any(
            size > self._taken.get(name, 0) and name not in waiting and name not in self._unreadable
            for name, size in listing.sizes.items()
        )
        return SpoolRest(listing.ignored | self._unreadable, unfinished, behind)

    def ack(self, place: SpoolPlace) -> None:
        """Everything before ``place`` in its file is done. ``save`` writes it to the bookmark."""
        self._acked[place.file] = max(self._acked.get(place.file, 0), place.offset)
        self._last = place.file
        self._is_saved = False

    def save(self) -> None:
        if self._is_saved:
            return
        self._is_saved = True
        others = {name: at for name, at in self._acked.items() if name != self._last}
        write_bookmark(self._bookmark, Bookmark(self._last, self._acked[self._last], others))

    def came_after(self, known: SpoolPlace, place: SpoolPlace) -> bool:
        """Whether ``known`` was read after ``place``, or is the same line. Files are only certain to be read
        in the order of their names if they are the crawler's own, or if the bookmark was lost.
        """
        if known.file == place.file:
            return known.offset >= place.offset
        own = SEGMENT_NAME.match(known.file) and SEGMENT_NAME.match(place.file)
        return bool(own or not self._trusted) and natural_order(known.file) > natural_order(place.file)

    def line_number(self, place: SpoolPlace) -> int:
        """From 1. Counts on from the previous call, so that many bad lines cost no more than one."""
        at, lines = self._counted.get(place.file, (0, 0))
        if at > place.offset:
            at, lines = 0, 0
        for block in _blocks(self._folder / place.file, at, place.offset):
            lines += block.count(b"\n")
        self._counted[place.file] = place.offset, lines
        return lines + 1

    def is_gone(self, name: str) -> bool:
        return not (self._folder / name).exists()

    # ── within a file ──────────────────────────────────────────────────────────────────────────────────

    def _noted(self, lines: list[SpoolLine]) -> list[SpoolLine]:
        for line in lines:
            self._taken[line.after.file] = line.after.offset
        return lines

    def _lines_of(self, name: str, limit: int) -> list[SpoolLine]:
        place = SpoolPlace(name, self._taken.get(name, 0))
        data = self._read(place, READ_BYTES)
        if data and b"\n" not in data:
            data = self._read(place, MOST_LINE_BYTES)
        if len(data) < MOST_LINE_BYTES or b"\n" in data:
            return _split(data, place, limit)
        end = self._end_of_overlong(place)
        return [] if end is None else [SpoolLine(place, SpoolPlace(name, end), b"", too_long=True)]

    def _end_of_overlong(self, place: SpoolPlace) -> int | None:
        """Where an overlong line ends; None if it has not ended yet."""
        at = self._searched.get(place, place.offset)
        for block in _blocks(self._folder / place.file, at, None):
            found = block.find(b"\n")
            if found >= 0:
                return at + found + 1
            at += len(block)
        self._searched[place] = at
        return None

    def _last_lines(self) -> Iterator[tuple[SpoolPlace, SpoolLine | None]]:
        """What follows the last line end of each file and was not read; with the line, if it is complete."""
        for name, size in list_spool(self._folder).sizes.items():
            place = SpoolPlace(name, self._taken.get(name, 0))
            if size <= place.offset:
                continue
            data = self._read(place, MOST_LINE_BYTES)
            if not data or b"\n" in data:
                continue
            text = _text(data, place)
            if not text.strip():
                continue
            whole = size - place.offset <= MOST_LINE_BYTES and is_whole_object(text)
            after = SpoolPlace(name, place.offset + len(data) + 1)  # after a line end that may be added
            yield place, SpoolLine(place, after, text) if whole else None

    def _read(self, place: SpoolPlace, most: int) -> bytes:
        try:
            file = os.open(self._folder / place.file, _READ)
        except FileNotFoundError:
            return b""
        except OSError as error:
            self._unreadable[place.file] = f"it cannot be read ({os.strerror(error.errno or 0)})"
            return b""
        try:
            return os.pread(file, most, place.offset)
        finally:
            os.close(file)

    # ── the bookmark ───────────────────────────────────────────────────────────────────────────────────

    def _recovered(self, mark: Bookmark | None) -> dict[str, int]:
        """For each file, the offset to continue at, or an earlier one if in doubt: the ledger knows which
        lines are done."""
        if mark is None:
            self._distrust(f"{self._bookmark} cannot be read, so the spool is read from its start")
            return {}
        listing = list_spool(self._folder)
        if mark.file is not None and mark.file not in listing.sizes:
            self.problems.append(
                f"{self._bookmark} names {mark.file}, which is gone: continuing with the other files"
            )
        there = {name: at for name, at in mark.offsets(listing.sizes).items() if name in listing.sizes}
        return {name: self._line_start(name, at, listing) for name, at in there.items()}

    def _line_start(self, name: str, offset: int, listing: SpoolFolder) -> int:
        size = listing.sizes[name]
        ended = offset == 0 or self._read(SpoolPlace(name, min(offset, size) - 1), 1) == b"\n"
        if (ended and offset <= size) or (not ended and offset == size + 1):
            return offset
        self._distrust(f"{self._bookmark} points into a line of {name}: it is read from its start")
        return 0

    def _distrust(self, why: str) -> None:
        self.problems.append(why)
        self._trusted = False


def _blocks(path: Path, start: int, end: int | None) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(READ_BYTES if end is None else min(READ_BYTES, end - file.tell())):
            yield block


def _split(data: bytes, place: SpoolPlace, limit: int) -> list[SpoolLine]:
    lines: list[SpoolLine] = []
    start = 0
    while len(lines) < limit and (end := data.find(b"\n", start)) >= 0:
        here = SpoolPlace(place.file, place.offset + start)
        after = SpoolPlace(place.file, place.offset + end + 1)
        lines.append(SpoolLine(here, after, _text(data[start:end], here)))
        start = end + 1
    return lines


def _text(line: bytes, place: SpoolPlace) -> bytes:
    """Without a byte order mark."""
    return line.removeprefix(_BOM) if place.offset == 0 else line


# ── lines that are not discoveries: each is reported with file and line number, and counted in the ledger ─


SKIPPED_NOTE: Final = "spool.passed_over"
# After so many in one run they are only counted.
MOST_WARNINGS: Final = 1000
_MOST_NAMED: Final = 10  # in a summary


class _Passed(msgspec.Struct, frozen=True):
    lines: int
    up_to: int  # the offset of the last one


class SkippedLines:
    def __init__(self, spool: SpoolReader, ledger: Ledger, tell: Listener) -> None:
        self._spool = spool
        self._ledger = ledger
        self._tell = tell
        self._by_file: dict[str, _Passed] = {}
        self._is_noted = True
        self._warnings = 0

    async def load(self) -> None:
        self._by_file = _by_file(await self._ledger.get_note(SKIPPED_NOTE))
        for name in [name for name in self._by_file if self._spool.is_gone(name)]:
            del self._by_file[name]
            self._is_noted = False
        for name, why in self._spool.rest().ignored.items():
            self._tell(Warned(f"{name} in the spool is not read: {why}"))

    def skip(self, line: SpoolLine, why: str) -> None:
        place = line.place
        before = self._by_file.get(place.file, _Passed(0, -1))
        if place.offset > before.up_to:
            self._by_file[place.file] = _Passed(before.lines + 1, place.offset)
            self._is_noted = False
        self.warn(place, f"passed over, {why}")

    def warn(self, place: SpoolPlace, words: str) -> None:
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            self._tell(Warned(f"{place.file}:{self._spool.line_number(place)}: {words}"))
        elif self._warnings == MOST_WARNINGS + 1:
            self._tell(
                Warned("more lines of the spool are not discoveries: from here on they are only counted")
            )

    async def note(self) -> None:
        if not self._is_noted:
            self._is_noted = True
            await self._ledger.put_note(SKIPPED_NOTE, msgspec.json.encode(self._by_file).decode())

    def remains(self) -> Remains:
        rest = self._spool.rest()
        lines = _lines(self._by_file)
        unfinished = [f"{place.file}:{self._spool.line_number(place)}" for place in rest.unfinished]
        notes = [*self._bad_lines(lines)]
        notes += [f"{where}: the line is incomplete, so it was not read" for where in _few(unfinished)]
        notes += [f"{name} in the spool is not read: {rest.ignored[name]}" for name in _few(rest.ignored)]
        return Remains(rest.behind, lines + len(unfinished) + len(rest.ignored), tuple(notes))

    def _bad_lines(self, lines: int) -> list[str]:
        if not lines:
            return []
        files = ", ".join(f"{name}: {self._by_file[name].lines:,}" for name in _few(self._by_file))
        what = "one line of the spool is" if lines == 1 else f"{lines:,} lines of the spool are"
        return [
            f"{what} not a discovery ({files}): put the corrected lines into another file and remove this one"
        ]


def lines_skipped(note: str | None) -> int:
    """The total in a ledger's note."""
    return _lines(_by_file(note))


def _lines(by_file: dict[str, _Passed]) -> int:
    return sum(passed.lines for passed in by_file.values())


def _by_file(note: str | None) -> dict[str, _Passed]:
    try:
        return {} if note is None else msgspec.json.decode(note, type=dict[str, _Passed])
    except msgspec.MsgspecError:
        return {}


def _few(names: Iterable[str]) -> list[str]:
    return list(names)[:_MOST_NAMED]

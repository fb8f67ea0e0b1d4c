"""The spool: files of JSON lines, ``discoveries-<seconds>.jsonl``, that the crawler writes and the scraper
reads.

A complete line is never changed or removed, so a bookmark of files and offsets stays valid. The reader
(``spool_reader``) takes complete lines only; an incomplete last line is either being written, or was torn by
a kill and is cut off by the next writer.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from sumi.files.disk_errors import explained
from sumi.files.growing_file import cut_torn_line, end_of_whole_lines, write_all
from sumi.jobs.pipeline.discoveries import Discoveries
from sumi.ports import Clock, UrlRecord
from sumi.state.folder import own_file, sync_folder

# Names of the crawler's own files: with the second in which each was begun.
SEGMENT_NAME: Final = re.compile(r"discoveries-\d{10}\.jsonl\Z", re.ASCII)
FILE_NAME: Final = re.compile(r"discoveries-[^/]+\.jsonl\Z")
_NUMBERS: Final = re.compile(r"(\d+)", re.ASCII)


class SpoolFolder(msgspec.Struct, frozen=True):
    sizes: dict[str, int]  # bytes by file name, in reading order
    ignored: dict[str, str]  # files that are not read, and why


def list_spool(folder: Path) -> SpoolFolder:
    entries: list[os.DirEntry[str]] = []
    sizes: dict[str, int] = {}
    ignored: dict[str, str] = {}
    with explained(folder), suppress(FileNotFoundError):
        entries += os.scandir(folder)
    for entry in entries:
        why = _why_not(entry)
        if why:
            ignored[entry.name] = why
        elif not entry.name.startswith("."):
            sizes[entry.name] = _size(entry)
    return SpoolFolder({name: sizes[name] for name in sorted(sizes, key=natural_order)}, ignored)


def segments(folder: Path) -> list[str]:
    """Names of the crawler's own files, in the order in which they were written."""
    return [name for name in list_spool(folder).sizes if SEGMENT_NAME.match(name)]


def natural_order(name: str) -> tuple[list[str | int], str]:
    """A natural sort key. Text and numbers alternate, so text is never compared with a number."""
    parts = _NUMBERS.split(name)
    return [int(part) if number % 2 else part for number, part in enumerate(parts)], name


def _why_not(entry: "os.DirEntry[str]") -> str:
    if entry.name.startswith("."):
        return ""
    if not FILE_NAME.match(entry.name) or not entry.name.isprintable():
        return "it is not called discoveries-*.jsonl"
    if entry.is_symlink():
        return "it is a symbolic link"
    return "" if entry.is_file() else "it is not a file"


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:  # gone meanwhile
        return 0


class Bookmark(msgspec.Struct, frozen=True):
    file: str | None = None  # the one read last
    offset: int = 0
    others: dict[str, int] | None = None  # None in a bookmark of an earlier version

    def offsets(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """How far each file was read. ``sizes``: the files that exist."""
        if self.file is None:
            return {}
        if self.others is not None:
            return {**self.others, self.file: self.offset}
        before = [name for name in sizes if SEGMENT_NAME.match(name) and name < self.file]
        return {**{name: sizes[name] for name in before}, self.file: self.offset}


def read_bookmark(path: Path) -> Bookmark | None:
    """None if it cannot be read; the start of the spool if there is no bookmark."""
    try:
        mark = msgspec.json.decode(path.read_bytes(), type=Bookmark)
    except FileNotFoundError:
        return Bookmark()
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    named = {**(mark.others or {}), **({} if mark.file is None else {mark.file: mark.offset})}
    return mark if all(FILE_NAME.match(name) and at >= 0 for name, at in named.items()) else None


def write_bookmark(path: Path, mark: Bookmark) -> None:
    """Not synced: a bookmark that is behind after a power cut does no harm."""
    draft = path.with_name(f".{path.name}.tmp")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(draft, "wb", opener=own_file) as file:
            file.write(msgspec.json.encode(mark) + b"\n")
        draft.replace(path)


# Far more than a discovery takes.
MOST_LINE_BYTES = 1024 * 1024


class SpoolWriter:
    """Appends lines; ``spool_reader.SpoolReader`` reads them."""

    def __init__(self, folder: Path, segment_bytes: int, now: float) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            known = segments(folder)
            self._name = known[-1] if known else _segment_name(int(now))
            self._file = self._open()
            self._size = _repaired_size(self._file)

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
    """Whether a last line lacks nothing but its line end; it may have been read already. A torn line does not
    parse."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return False


def _repaired_size(file: int) -> int:
    """End the last line if it is complete, else cut it off; returns the size."""
    size, end = os.fstat(file).st_size, end_of_whole_lines(file)
    if 0 < size - end <= MOST_LINE_BYTES and is_whole_object(os.pread(file, size - end, end)):
        write_all(file, b"\n")
        return size + 1
    return cut_torn_line(file)


def _segment_name(number: int) -> str:
    return f"discoveries-{number:010}.jsonl"


class SpoolCopy:
    """The spool as a copy of the ledger: every page is listed for the scraper once."""

    name = "spool"

    def __init__(self, writer: SpoolWriter, folder: Path, clock: Clock) -> None:
        self._writer = writer
        self._folder = folder
        self._clock = clock
        self._form = Discoveries()
        self.mark = writer.segment

    def present(self, mark: str) -> set[int]:
        known: set[int] = set()
        for name in segments(self._folder):
            if name >= mark:
                with (self._folder / name).open("rb") as lines:  # the writer has repaired the last one
                    known.update(self._form.identities(lines))
        return known

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        lines = [line for line in map(self._form.line, records) if line is not None]
        self._writer.append(lines, self._clock.now())
        self._writer.sync()

"""Of a file of lines, each about something, the last line about each thing; and the file without the others.

A file that only grows is the simplest thing that a kill cannot harm. What has been replaced is left out now
and then, by writing the file anew beside its place: a crash finds the old one or the new one.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from sumi.store.faults import explained
from sumi.store.folder import sync_folder

# Some 60,000 records of an index. Less is not worth looking through, whatever is in it.
LEAST_BYTES: Final = 16 * 1024 * 1024
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def last_lines(path: Path, subject_of: Callable[[bytes], str | None]) -> Iterator[bytes]:
    """In their order. Lines without a subject are left out."""
    yield from _unmarked(path, _superseded(path, subject_of))


def without_superseded(
    path: Path, subject_of: Callable[[bytes], str | None], least_bytes: int = LEAST_BYTES
) -> None:
    """Write the file anew, durably, if it is large and fewer than half of its lines count any more."""
    with explained(path):
        if not path.exists() or path.stat().st_size < least_bytes:
            return
        marks = _superseded(path, subject_of)
        if 2 * marks.count(1) > len(marks):
            _replace(path, _unmarked(path, marks))


def _superseded(path: Path, subject_of: Callable[[bytes], str | None]) -> bytearray:
    """A mark for each line: 1 where a later one is about the same, or it is about nothing.

    Subjects are known by 64 bits: a million of them take 115 MB and 1.5 s, and the chance that two are taken
    for one is one in 10^7."""
    marks = bytearray()
    latest: dict[int, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines):
            subject = subject_of(line)
            marks.append(subject is None)
            if subject is not None:
                before = latest.get(hash(subject))
                if before is not None:
                    marks[before] = 1
                latest[hash(subject)] = number
    return marks


def _unmarked(path: Path, marks: bytearray) -> Iterator[bytes]:
    """As far as the file was looked at: it may have grown since."""
    with path.open("rb") as lines:
        for mark, line in zip(marks, lines, strict=False):
            if not mark:
                yield line


def _replace(path: Path, lines: Iterator[bytes]) -> None:
    draft = path.with_name(f".{path.name}.tmp")
    descriptor = os.open(draft, _NEW_FILE, 0o644)
    with open(descriptor, "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(draft, path.stat().st_mode)
    draft.replace(path)
    sync_folder(path.parent)

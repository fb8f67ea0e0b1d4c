"""Of a file of lines, each about something, the last line about each thing; and the file without the others.

A file that only grows is the simplest thing that a kill cannot harm. What has been replaced is left out when
nobody is adding to it, by writing the file anew beside its place: a crash finds the old one or the new one.
"""

import os
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from sumi.files.faults import explained
from sumi.state.folder import sync_folder

# Subjects looked at together: some 30 MB, however many lines there are.
_SHARE: Final = 250_000
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def last_lines(path: Path, subject_of: Callable[[bytes], str | None]) -> Iterator[bytes]:
    """In their order. Lines without a subject are left out."""
    with path.open("rb") as file:  # once: meanwhile another file may get its name
        yield from _unmarked(file, _superseded(file, subject_of))


def without_superseded(path: Path, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> None:
    """Write the file anew, durably, if any of its lines no longer counts."""
    with explained(path):
        if not path.exists():
            return
        with path.open("rb") as file:
            marks = _superseded(file, subject_of, share)
            if any(marks):
                _replace(path, _unmarked(file, marks))


def _superseded(file: BinaryIO, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> bytearray:
    """A mark for each line: 1 where a later one is about the same, or it is about nothing.

    Subjects are known by 64 bits: of a million, the chance that two are taken for one is one in 10^7. A
    million lines take 1.5 s."""
    marks, keys = bytearray(), array("q")
    for line in file:
        subject = subject_of(line)
        marks.append(subject is None)
        keys.append(hash(subject))
    shares = 1 + len(keys) // share
    for mine in range(shares):
        latest: dict[int, int] = {}
        for number, key in enumerate(keys):
            if key % shares == mine and not marks[number]:
                before = latest.get(key)
                if before is not None:
                    marks[before] = 1
                latest[key] = number
    return marks


def _unmarked(file: BinaryIO, marks: bytearray) -> Iterator[bytes]:
    """As far as the file was looked at: it may have grown since."""
    file.seek(0)
    for mark, line in zip(marks, file, strict=False):
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

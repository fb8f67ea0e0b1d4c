"""What lies in a spool: files called ``discoveries-*.jsonl``, by name, and whatever else, which is not read.

Numbers in names count as numbers: ``discoveries-9.jsonl`` comes before ``discoveries-10.jsonl``. What begins
with a dot is a draft of whoever writes there, and none of ours.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from sumi.files.faults import explained

# What the crawler calls its own files: the second in which each was begun.
SEGMENT_NAME: Final = re.compile(r"discoveries-\d{10}\.jsonl\Z", re.ASCII)
FILE_NAME: Final = re.compile(r"discoveries-[^/]+\.jsonl\Z")
_NUMBERS: Final = re.compile(r"(\d+)", re.ASCII)


class SpoolFolder(msgspec.Struct, frozen=True):
    sizes: dict[str, int]  # in bytes, by the names of the files, in their order
    strangers: dict[str, str]  # by name, why it is not read


def look_into(folder: Path) -> SpoolFolder:
    entries: list[os.DirEntry[str]] = []
    sizes: dict[str, int] = {}
    strangers: dict[str, str] = {}
    with explained(folder), suppress(FileNotFoundError):
        entries += os.scandir(folder)
    for entry in entries:
        why = _why_not(entry)
        if why:
            strangers[entry.name] = why
        elif not entry.name.startswith("."):
            sizes[entry.name] = _size(entry)
    return SpoolFolder({name: sizes[name] for name in sorted(sizes, key=in_order)}, strangers)


def segments(folder: Path) -> list[str]:
    """Names of the crawler's own files, in the order they were written."""
    return [name for name in look_into(folder).sizes if SEGMENT_NAME.match(name)]


def in_order(name: str) -> tuple[list[str | int], str]:
    """A key to sort names by. Text and numbers take turns, so that no text is compared with a number."""
    parts = _NUMBERS.split(name)
    return [int(part) if number % 2 else part for number, part in enumerate(parts)], name


def _why_not(entry: "os.DirEntry[str]") -> str:
    if entry.name.startswith("."):
        return ""
    if not FILE_NAME.match(entry.name) or not entry.name.isprintable():
        return "it is not called discoveries-*.jsonl"
    if entry.is_symlink():
        return "it is a symbolic link"
    return "" if entry.is_file() else "it is no file"


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:  # gone meanwhile
        return 0

"""The zstd dictionaries of an archive: ``dictionaries/<number>-<hash>.zdict`` beside its blobs.

A frame names its dictionary by the number, so each is kept for ever and none is ever changed. One that a
power cut tore does not hash to its name, and is passed over: no blob can need it, as it was not durable yet.
"""

import re
from hashlib import sha256
from typing import Final, Protocol

from sumi.parse.page.raw import DICTIONARY_BYTES, dictionary_number

FOLDER: Final = "dictionaries"
_NAME: Final = re.compile(r"(\d{1,10})-([0-9a-f]{16})\.zdict")
_MOST_BYTES: Final = 32 * DICTIONARY_BYTES  # of somebody else's making, too


class Files(Protocol):
    """What blobs and dictionaries need of a file system; paths are relative, with ``/``."""

    def make_folder_of(self, rel_path: str) -> bool:
        """Whether it had to be made: then there is no such file."""
        ...

    def write_atomic(self, rel_path: str, data: bytes, mode: int = 0o644) -> None: ...

    def read_bytes(self, rel_path: str, most: int = -1) -> bytes | None: ...

    def names(self, rel_folder: str) -> list[str]: ...

    def sync(self) -> None: ...


class Dictionaries:
    def __init__(self, files: Files) -> None:
        self._files = files

    def in_use(self) -> bytes:
        """What new blobs are packed with; empty if there is none yet.

        Two processes that share an archive may each have made one: both choose the same of them from then on.
        """
        found = (self._read(name) for name in sorted(self._files.names(FOLDER)))
        return next(filter(None, found), b"")

    def of(self, number: int) -> bytes:
        """Empty if it is not there."""
        own = (name for name in self._files.names(FOLDER) if name.startswith(f"{number}-"))
        return next(filter(None, map(self._read, own)), b"")

    def add(self, dictionary: bytes) -> None:
        """No blob may be packed with it before ``sync``."""
        name = f"{dictionary_number(dictionary)}-{_hash(dictionary)}.zdict"
        self._files.write_atomic(f"{FOLDER}/{name}", dictionary)

    def sync(self) -> None:
        """Slow: call it in a thread."""
        self._files.sync()

    def _read(self, name: str) -> bytes:
        named = _NAME.fullmatch(name)
        data = self._files.read_bytes(f"{FOLDER}/{name}", _MOST_BYTES) if named else None
        if named is None or data is None or _hash(data) != named[2]:
            return b""
        return data if dictionary_number(data) == int(named[1]) else b""


def _hash(dictionary: bytes) -> str:
    return sha256(dictionary).hexdigest()[:16]

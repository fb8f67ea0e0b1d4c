"""Blobs in a folder: ``aa/bb/<sha256>.html.zst``, written beside their place and renamed.

A blob never changes, so it is never written twice. Call ``sync`` before a record names a blob: until then, a
power cut may leave its name without its content.

The zstd dictionaries of an archive are beside its blobs, as ``dictionaries/<number>-<hash>.zdict``. A frame
names its dictionary by number, so dictionaries are never changed or removed. One that a power cut tore does
not match its hash and is ignored: no blob needs it, because it was not durable yet.
"""

import re
from hashlib import sha256
from typing import Final, Protocol

from sumi.parse.page.raw import DICTIONARY_BYTES, Unpacker, dictionary_needed, dictionary_number

PACKED_SUFFIX = ".html.zst"
PLAIN_SUFFIX = ".html"
MOST_BODY_BYTES = 64 * 1024 * 1024  # far more than a fetcher lets in
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
FOLDER: Final = "dictionaries"
_NAME: Final = re.compile(r"(\d{1,10})-([0-9a-f]{16})\.zdict")
_MOST_BYTES: Final = 32 * DICTIONARY_BYTES  # other programs may make larger ones than we do


class Files(Protocol):
    """What blobs and dictionaries need of a file system; paths are relative, with ``/``."""

    def make_folder_of(self, rel_path: str) -> bool:
        """Whether it had to be created, so that there is no such file."""
        ...

    def write_atomic(self, rel_path: str, data: bytes, mode: int = 0o644) -> None: ...

    def read_bytes(self, rel_path: str, most: int = -1) -> bytes | None: ...

    def names(self, rel_folder: str) -> list[str]: ...

    def sync(self) -> None: ...


class Dictionaries:
    def __init__(self, files: Files) -> None:
        self._files = files

    def in_use(self) -> bytes:
        """The dictionary for new blobs; empty if there is none yet.

        Two processes that share an archive may each have made one: from then on both choose the same.
        """
        found = (self._read(name) for name in sorted(self._files.names(FOLDER)))
        return next(filter(None, found), b"")

    def of(self, number: int) -> bytes:
        """Empty if there is none."""
        own = (name for name in self._files.names(FOLDER) if name.startswith(f"{number}-"))
        return next(filter(None, map(self._read, own)), b"")

    def add(self, dictionary: bytes) -> None:
        """No blob may be compressed with it before ``sync``."""
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


class FolderBlobs:
    """Implements ``sumi.ports.Blobs``. ``packed``: new blobs are zstd frames. Both kinds can be read."""

    def __init__(self, files: Files, *, packed: bool, mode: int = 0o644) -> None:
        self._files = files
        self._suffix = PACKED_SUFFIX if packed else PLAIN_SUFFIX
        self._mode = mode
        self.packed = packed
        self.dictionaries = Dictionaries(files)
        self._unpackers: dict[int, Unpacker] = {}  # by the number of their dictionary; 0 for none

    def path_of(self, digest: str) -> str:
        """Where a new blob goes, relative to the folder."""
        if not _DIGEST.match(digest):
            raise ValueError(f"not a SHA-256 in hexadecimal: {digest!r}")
        return f"{digest[:2]}/{digest[2:4]}/{digest}{self._suffix}"

    def put(self, digest: str, data: bytes) -> str:
        path = self.path_of(digest)
        # The folder is named by two bytes of the digest, so it is new for most of the first 65,536 blobs.
        there = None if self._files.make_folder_of(path) else self._files.read_bytes(path)
        # After a power cut it may be empty; and the same body may have been compressed differently.
        if there is None or (there != data and not self._holds(there, digest)):
            self._files.write_atomic(path, data, self._mode)
        return path

    def open(self, digest: str, most: int) -> bytes | None:
        if not _DIGEST.match(digest):
            return None
        stem = f"{digest[:2]}/{digest[2:4]}/{digest}"
        frame = self._files.read_bytes(stem + PACKED_SUFFIX)
        if frame is not None:
            return self._unpacked(frame, most)
        plain = self._files.read_bytes(stem + PLAIN_SUFFIX)
        return None if plain is None or len(plain) > most else plain

    def has_whole(self, digest: str) -> bool:
        return _is_body_of(digest, self.open(digest, MOST_BODY_BYTES))

    def _holds(self, data: bytes, digest: str) -> bool:
        body = self._unpacked(data, MOST_BODY_BYTES) if self.packed else data
        return _is_body_of(digest, body)

    def _unpacked(self, frame: bytes, most: int) -> bytes | None:
        unpacker = self._unpacker_for(dictionary_needed(frame))
        return None if unpacker is None else unpacker.unpacked(frame, most)

    def _unpacker_for(self, number: int) -> Unpacker | None:
        """None if there is no such dictionary. Not remembered: other processes add some, too."""
        if number not in self._unpackers:
            dictionary = self.dictionaries.of(number) if number else b""
            if number and not dictionary:
                return None
            self._unpackers[number] = Unpacker(dictionary)
        return self._unpackers[number]

    def sync(self) -> None:
        self._files.sync()


def _is_body_of(digest: str, body: bytes | None) -> bool:
    return body is not None and sha256(body).hexdigest() == digest

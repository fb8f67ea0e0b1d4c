"""Blobs in a folder: ``aa/bb/<sha256>.html.zst``, written beside their place and renamed.

A blob that is there is the same for ever, so it is never written twice. Whoever names one in a record syncs
first: see ``sync``. Until then a power cut may leave its name without its content.
"""

import re
from hashlib import sha256

from sumi.files.dictionaries import Dictionaries, Files
from sumi.parse.page.raw import Unpacker, dictionary_needed

PACKED_SUFFIX = ".html.zst"
PLAIN_SUFFIX = ".html"
MOST_BODY_BYTES = 64 * 1024 * 1024  # far more than a fetcher lets in
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class FolderBlobs:
    """Implements ``sumi.ports.Blobs``. ``packed``: new blobs are zstd frames; both kinds are read."""

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
        # With two bytes of the digest for its name, the folder is new for most of the first 65,536 blobs.
        there = None if self._files.make_folder_of(path) else self._files.read_bytes(path)
        # After a power cut it may be there and empty; and the same body may have been packed otherwise.
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
        """None if there is no such dictionary; asked again, it is looked for again: others make some, too."""
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

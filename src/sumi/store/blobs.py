"""Blobs in a folder: ``aa/bb/<sha256>.html.zst``, written beside their place and renamed.

A blob that is there is the same for ever, so it is never written twice. Whoever names one in a record syncs
first: see ``sync``. Until then a power cut may leave its name without its content.
"""

import re
from hashlib import sha256
from typing import Protocol

from sumi.parse.raw import unpacked

PACKED_SUFFIX = ".html.zst"
PLAIN_SUFFIX = ".html"
MOST_BODY_BYTES = 64 * 1024 * 1024  # far more than a fetcher lets in
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class AtomicFiles(Protocol):
    """What a folder of blobs needs of a file system; paths are relative, with ``/``."""

    def write_atomic(self, rel_path: str, data: bytes, mode: int = 0o644) -> None: ...

    def read_bytes(self, rel_path: str) -> bytes | None: ...

    def sync(self) -> None: ...


class FolderBlobs:
    """Implements ``sumi.ports.Blobs``. ``packed``: new blobs are zstd frames; both kinds are read."""

    def __init__(self, files: AtomicFiles, *, packed: bool, mode: int = 0o644) -> None:
        self._files = files
        self._suffix = PACKED_SUFFIX if packed else PLAIN_SUFFIX
        self._mode = mode
        self.packed = packed

    def path_of(self, digest: str) -> str:
        """Where a new blob goes, relative to the folder."""
        if not _DIGEST.match(digest):
            raise ValueError(f"not a SHA-256 in hexadecimal: {digest!r}")
        return f"{digest[:2]}/{digest[2:4]}/{digest}{self._suffix}"

    def put(self, digest: str, data: bytes) -> str:
        path = self.path_of(digest)
        if self._files.read_bytes(path) != data:  # after a power cut it may be there and empty
            self._files.write_atomic(path, data, self._mode)
        return path

    def open(self, digest: str, most: int) -> bytes | None:
        if not _DIGEST.match(digest):
            return None
        stem = f"{digest[:2]}/{digest[2:4]}/{digest}"
        frame = self._files.read_bytes(stem + PACKED_SUFFIX)
        if frame is not None:
            return unpacked(frame, most)
        plain = self._files.read_bytes(stem + PLAIN_SUFFIX)
        return None if plain is None or len(plain) > most else plain

    def has_whole(self, digest: str) -> bool:
        body = self.open(digest, MOST_BODY_BYTES)
        return body is not None and sha256(body).hexdigest() == digest

    def sync(self) -> None:
        self._files.sync()

"""``.sumi/raw/``: the original bodies of a mirror, each a zstd frame, many to a file.

A file for each would double the inodes of a mirror, and take as long to make as the page itself. Frames are
only ever added, and a page's record says where its own is; what a killed run added and never recorded is
never looked at. ``zstdcat`` opens a pack: it holds its bodies one after the other.
"""

import re
from hashlib import sha256

from sumi.files.safe_files import SafeFolder
from sumi.parse.page.raw import unpacked

FOLDER = ".sumi/raw"
MOST_BYTES = 1024**3  # of one body; above any configurable limit
PACK_BYTES = 256 * 1024 * 1024  # of one pack, before the next starts
_PACK = re.compile(r"pack-(\d{6})\.zst")


class RawPages:
    def __init__(self, files: SafeFolder, home: str, pack_bytes: int = PACK_BYTES) -> None:
        self._files = files
        self._pack_bytes = pack_bytes
        self._folder = f"{home}/{FOLDER}"
        self._pack = ""  # receives new frames

    def add(self, frame: bytes) -> tuple[str, int, int]:
        """Where it is: the name of its pack, its first byte, its length."""
        name = self._pack or self._newest()
        start = self._files.append(self._path(name), frame)
        self._pack = name
        if start + len(frame) >= self._pack_bytes:
            self._files.stop_appending(self._path(name))
            self._pack = _after(name)
        return name, start, len(frame)

    def read(self, place: tuple[str, int, int]) -> bytes | None:
        """The frame; None if it is not there."""
        name, start, length = place
        if not _PACK.fullmatch(name):
            return None
        frame = self._files.read_range(self._path(name), start, length)
        return frame if frame is not None and len(frame) == length else None

    def has(self, place: tuple[str, int, int]) -> bool:
        """Whether its pack is long enough, which suffices unless the power was cut."""
        name, start, length = place
        pack = self._files.status(self._path(name)) if _PACK.fullmatch(name) else None
        return pack is not None and start + length <= pack.st_size

    def has_whole(self, place: tuple[str, int, int], digest: str) -> bool:
        """After a power cut a pack may be short, contain zeros, or have other frames at that place."""
        frame = self.read(place)
        body = None if frame is None else unpacked(frame, MOST_BYTES)
        return body is not None and sha256(body).hexdigest() == digest

    def _newest(self) -> str:
        packs = sorted(name for name in self._files.names(self._folder) if _PACK.fullmatch(name))
        return packs[-1] if packs else _after("")

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _after(name: str) -> str:
    known = _PACK.fullmatch(name)
    return f"pack-{int(known[1]) + 1 if known else 1:06}.zst"

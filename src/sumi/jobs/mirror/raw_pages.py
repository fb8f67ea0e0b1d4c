"""``.sumi/raw/``: the original bodies of a mirror, each a zstd frame, many to a file.

A file for each would double the inodes of a mirror, and take as long to write as the page itself. Packs are
append-only, and a page's record has the place of its frame; frames that a killed run wrote without a record
are ignored. ``zstdcat`` prints all bodies of a pack.
"""

from hashlib import sha256

from sumi.catalogue.page_files import RAW_FOLDER, RAW_PACK
from sumi.files.safe_files import SafeFolder
from sumi.parse.page.raw import unpacked

MOST_BYTES = 1024**3  # of one body; more than any setting allows
PACK_BYTES = 256 * 1024 * 1024  # a pack of this size is full


class RawPages:
    def __init__(self, files: SafeFolder, home: str, pack_bytes: int = PACK_BYTES) -> None:
        self._files = files
        self._pack_bytes = pack_bytes
        self._folder = f"{home}/{RAW_FOLDER}"
        self._pack = ""  # the one to append to

    def add(self, frame: bytes) -> tuple[str, int, int]:
        """Returns its place: the name of the pack, the offset and the length."""
        name = self._pack or self._newest()
        start = self._files.append(self._path(name), frame)
        self._pack = name
        if start + len(frame) >= self._pack_bytes:
            self._files.stop_appending(self._path(name))
            self._pack = _next_pack(name)
        return name, start, len(frame)

    def read(self, place: tuple[str, int, int]) -> bytes | None:
        """The frame, or None if it is missing."""
        name, start, length = place
        if not RAW_PACK.fullmatch(name):
            return None
        frame = self._files.read_range(self._path(name), start, length)
        return frame if frame is not None and len(frame) == length else None

    def has(self, place: tuple[str, int, int]) -> bool:
        """Whether the pack is long enough, which is proof unless there was a power cut."""
        name, start, length = place
        pack = self._files.status(self._path(name)) if RAW_PACK.fullmatch(name) else None
        return pack is not None and start + length <= pack.st_size

    def has_whole(self, place: tuple[str, int, int], digest: str) -> bool:
        """Also compares the content: after a power cut a pack may be short, contain zeros or other frames."""
        frame = self.read(place)
        body = None if frame is None else unpacked(frame, MOST_BYTES)
        return body is not None and sha256(body).hexdigest() == digest

    def _newest(self) -> str:
        packs = sorted(name for name in self._files.names(self._folder) if RAW_PACK.fullmatch(name))
        return packs[-1] if packs else _next_pack("")

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _next_pack(name: str) -> str:
    known = RAW_PACK.fullmatch(name)
    return f"pack-{int(known[1]) + 1 if known else 1:06}.zst"

"""Where the contents of a mirror or a crawl are read from: files in its folder, or segments in a store."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Protocol

from sumi.errors import OutputRefused, StorageFailed
from sumi.files.contents_place import contents_of
from sumi.files.objects import Objects
from sumi.files.safe_files import SafeFolder
from sumi.files.segments import SegmentReader, place_in
from sumi.parse.page.raw import unpacked
from sumi.ports import Place

MOST_TEXT_BYTES: Final = 256 * 1024 * 1024
RAW_FOLDER: Final = ".sumi/raw"  # below the home of a mirror
RAW_PACK: Final = re.compile(r"pack-(\d{6})\.zst")


class PageFiles(Protocol):
    def read(self, path: str, most: int = MOST_TEXT_BYTES) -> bytes | None:
        """What a record's ``path`` names; None if it is not there, or larger."""
        ...

    def body(self, place: Place, most: int = MOST_TEXT_BYTES) -> bytes | None:
        """The page as the server sent it."""
        ...


class FolderFiles:
    def __init__(self, root: SafeFolder, home: str) -> None:
        self._root = root
        self._packs = f"{home}/{RAW_FOLDER}"

    def read(self, path: str, most: int = MOST_TEXT_BYTES) -> bytes | None:
        try:
            data = self._root.read_bytes(path, most + 1)
        except (OutputRefused, StorageFailed):
            return None
        return data if data is not None and len(data) <= most else None

    def body(self, place: Place, most: int = MOST_TEXT_BYTES) -> bytes | None:
        name, start, length = place
        if not RAW_PACK.fullmatch(name):
            return None
        try:
            frame = self._root.read_range(f"{self._packs}/{name}", start, length)
        except (OutputRefused, StorageFailed):
            return None
        return None if frame is None else unpacked(frame, most)


class SegmentFiles:
    """Raises StorageFailed if the store does not answer: then nothing says that a page is missing."""

    def __init__(self, reader: SegmentReader) -> None:
        self._reader = reader

    def read(self, path: str, most: int = MOST_TEXT_BYTES) -> bytes | None:
        place = place_in(path)
        return None if place is None else self._reader.body(place, most)

    def body(self, place: Place, most: int = MOST_TEXT_BYTES) -> bytes | None:
        return self._reader.body(place, most)


@contextmanager
def open_page_files(root: Path, home: Path, state: Path) -> Iterator[PageFiles]:
    """``root``: what the paths of pages are relative to. ``home``: the folder of the mirror."""
    address = contents_of(state)
    if address is not None:
        yield SegmentFiles(SegmentReader(Objects(address)))
        return
    with closing(SafeFolder(root)) as folder:
        yield FolderFiles(folder, home.resolve().name)

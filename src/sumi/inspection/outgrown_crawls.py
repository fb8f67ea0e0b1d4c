"""Where the bodies of a crawl go when it moves into a database, and when it comes back as a workspace."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from sumi.catalogue.role import Role, note_role
from sumi.files.blobs import MOST_BODY_BYTES, FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.files.segments import RAW, SegmentReader, SegmentWriter, place_text
from sumi.jobs.pipeline.ledger_copies import NOTE, Standing
from sumi.jobs.pipeline.state import UNIFIED
from sumi.model import PageFacts
from sumi.ports import Ledger, Place

STATES: Final = {"files": "frontier", "sqlite": "frontier.sqlite", "lmdb": "frontier.lmdb"}
_ROOT: Final = "store/html"
_METADATA: Final = "metadata/crawl_metadata.jsonl"
_EDGES: Final = "logs/edges.csv"
There = Callable[[bytes | None, str], bytes]


class BodyUploads:
    """``there``: refuses what is missing."""

    def __init__(self, home: Path, segments: SegmentWriter, there: There) -> None:
        self._home = home
        self._segments = segments
        self._there = there
        self._archives: dict[str, FolderBlobs] = {}
        self._places: list[Place] = []

    async def moved(self, facts: PageFacts, url: str) -> PageFacts:
        if facts.path is None or facts.raw is None:
            return facts
        root = facts.path.rsplit("/", 3)[0]  # above aa/bb/<sha256>
        if root not in self._archives:
            self._archives[root] = FolderBlobs(SafeFolder(self._home / root), packed=True)
        body = self._there(self._archives[root].open(facts.raw, MOST_BODY_BYTES), url)
        at = self._segments.add(RAW, body)
        self._places.append(at)
        return msgspec.structs.replace(facts, path=place_text(at), raw_at=at)

    async def stored(self) -> None:
        self._segments.close_segment()
        await self._segments.stored(self._places)
        self._places.clear()


class BodyDownloads:
    def __init__(self, reader: SegmentReader, home: Path, there: There) -> None:
        self._reader = reader
        self._there = there
        self.files = SafeFolder(home / _ROOT)
        self._blobs = FolderBlobs(self.files, packed=False)

    async def moved(self, facts: PageFacts, url: str) -> PageFacts:
        if facts.raw_at is None or facts.raw is None:
            return facts
        body = self._there(self._reader.body(facts.raw_at, MOST_BODY_BYTES), url)
        path = f"{_ROOT}/{self._blobs.put(facts.raw, body)}"
        return msgspec.structs.replace(facts, path=path, raw_at=None)

    async def stored(self) -> None:
        """They are made durable at the end, before the folder gets its name."""


async def note_workspace(ledger: Ledger, home: Path, state: Path, target: Path) -> None:
    """The next run writes the lines of all pages: metadata and index were those of other machines."""
    await note_role(ledger, Role(UNIFIED, home), state)
    standing = Standing(0.0, _marks(target), whole=False)
    await ledger.put_note(NOTE, msgspec.json.encode(standing).decode())


def _marks(target: Path) -> dict[str, str]:
    place = target.absolute()
    return {"metadata": str(place / _METADATA), "trajectory": str(place / _EDGES), "index": ""}

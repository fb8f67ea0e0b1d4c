"""The archive of a crawl that many machines share, in an object store: bodies in segments.

A record has the place of its body instead of a path, so whoever has the record can read it.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

import msgspec

from sumi.events import Listener
from sumi.files.blobs import MOST_BODY_BYTES
from sumi.files.objects import Objects
from sumi.files.segments import RAW, SegmentReader, SegmentWriter, place_text
from sumi.jobs.pipeline.archive import Archive
from sumi.jobs.pipeline.ledger_copies import LedgerCopies
from sumi.model import Lease, PageFacts, Response
from sumi.parse.page.digest import PageDigest
from sumi.ports import UrlRecord


class SegmentBodies:
    """Where bodies go, and where they are read from."""

    def __init__(self, objects: Objects, tell: Listener) -> None:
        self.segments = SegmentWriter(objects, tell)
        self._reader = SegmentReader(objects)

    def has_whole(self, facts: PageFacts) -> bool:
        if facts.raw_at is None or facts.raw is None:
            return facts.path is None
        body = self._reader.body(facts.raw_at, MOST_BODY_BYTES)
        return body is not None and sha256(body).hexdigest() == facts.raw


class SegmentArchive(Archive):
    """Implements ``sumi.ports.Output``."""

    def __init__(
        self,
        bodies: SegmentBodies,
        page_type: Callable[[str], str],
        copies: LedgerCopies,
        on_settled: Sequence[Callable[[UrlRecord], None]],
    ) -> None:
        super().__init__(None, "", page_type, copies, on_settled, packed=True)
        self._bodies = bodies

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        at = None if digest.raw_sha256 is None else self._bodies.segments.append(RAW, digest.raw)
        path = None if at is None else place_text(at)
        return msgspec.structs.replace(self.facts_of(lease, response, digest), path=path, raw_at=at)

    def has_whole(self, facts: PageFacts) -> bool:
        return self._bodies.has_whole(facts)

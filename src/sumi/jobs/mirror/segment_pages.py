"""The output of a mirror whose contents are in an object store: pages, bodies and files in segments.

There are no files beside the state. A record has the place of its page instead of a path, so whoever has the
record can read the page; trees and lists are made by ``sumi export``.
"""

from collections.abc import Sequence

import msgspec

from sumi.events import Progress
from sumi.files.objects import Objects
from sumi.files.segments import FILE, RAW, TEXT, SegmentReader, SegmentWriter, place_in, place_text
from sumi.jobs.mirror.assets import asset_facts, full, is_whole_asset, stored_assets
from sumi.jobs.mirror.markdown_page import compose_page, is_whole
from sumi.jobs.mirror.survey import Survey, counted_records
from sumi.jobs.mirror.update import changes_since_update
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Frontier, FrontierStats, Ledger, Place, UrlRecord


class SegmentPages:
    """Implements ``sumi.ports.RestorableOutput`` and ``AssetKeeper``."""

    def __init__(self, objects: Objects, segments: SegmentWriter, most_asset_bytes: int = 0) -> None:
        self.segments = segments
        self._reader = SegmentReader(objects)
        self._most_asset_bytes = most_asset_bytes
        self._asset_bytes = 0
        self._assets: dict[str, Place] = {}  # by hash: where that content is
        self._survey = Survey()

    async def load(self, ledger: Ledger) -> None:
        if not self._most_asset_bytes:
            return
        async for record in stored_assets(ledger):
            place = place_in(record.facts.path)
            if place is not None and record.facts.sha256 is not None:
                self._note_asset(record.facts, place)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        data, facts = compose_page(lease.url, response, digest)
        path = place_text(self.segments.add(TEXT, data))
        raw_at = None if digest.raw_sha256 is None else self.segments.append(RAW, digest.raw)
        return msgspec.structs.replace(facts, path=path, raw=digest.raw_sha256, raw_at=raw_at)

    async def keep(self, lease: Lease, response: Response) -> PageFacts | Verdict:
        facts = asset_facts(lease.url, lease.candidate.kind, response)
        if isinstance(facts, Verdict) or facts.sha256 is None:
            return facts
        place = self._assets.get(facts.sha256)
        if place is None:
            if self._asset_bytes + len(response.body) > self._most_asset_bytes:
                return full(self._asset_bytes, self._most_asset_bytes)
            place = self.segments.add(FILE, response.body)
            self._note_asset(facts, place)
        name = (facts.path or "").rpartition("/")[2]
        return msgspec.structs.replace(facts, path=place_text(place, name))

    def _note_asset(self, facts: PageFacts, place: Place) -> None:
        if self._assets.setdefault(facts.sha256 or "", place) == place:
            self._asset_bytes += facts.size or 0

    def read_page(self, facts: PageFacts) -> bytes | None:
        place = place_in(facts.path)
        return None if place is None else self._reader.body(place)

    async def replace_pages(
        self, pages: Sequence[tuple[str, PageFacts, bytes | None]], frontier: Frontier
    ) -> None:
        """The new contents are stored before a record names them; the old ones become garbage."""
        records = {url: facts for url, facts, _ in pages}
        written = []
        for url, facts, data in pages:
            if data is not None:
                written.append(self.segments.add(TEXT, data))
                records[url] = msgspec.structs.replace(facts, path=place_text(written[-1]))
        self.segments.close_segment()
        await self.segments.stored(written)
        await frontier.amend(records)

    def has(self, record: UrlRecord) -> bool:
        """A stored segment never changes; ``sumi state check`` looks whether it is there."""
        return record.facts.path is None or place_in(record.facts.path) is not None

    def has_whole(self, facts: PageFacts) -> bool:
        if facts.path is None:
            return True
        data = self.read_page(facts)
        return data is not None and (is_whole_asset if facts.asset else is_whole)(data, facts)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """The ledger has the reason."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """Nothing mirrors the store."""

    def write_progress(self, progress: Progress) -> None:
        """``sumi status`` shows it."""

    async def sync(self) -> None:
        """What is settled is stored already."""

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        self._survey = Survey(await changes_since_update(ledger))
        async for record in counted_records(ledger):
            self._survey.add(record)

    def remarks(self) -> tuple[str, ...]:
        return self._survey.remarks()

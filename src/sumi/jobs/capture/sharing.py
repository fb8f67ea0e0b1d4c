"""A capture that many machines work on: what its row in the database says, and its output, whose pages are in
an object store. Each machine has the whole capture in its own folder once the job is over."""

from collections.abc import Mapping
from typing import Final

import msgspec

from sumi.assembly.shared_job import SharedJob, SharedRecipe, settings_of, shared_recipe
from sumi.errors import UsageError
from sumi.files.segments import RAW, TEXT, SegmentReader, SegmentWriter, place_in, place_text
from sumi.jobs.capture.output import FAILURES, CaptureOutput
from sumi.jobs.capture.settings import CAPTURE_SETTINGS, DEFAULT_STORE, CaptureSettings
from sumi.model import Kind, Lease, PageFacts, Response
from sumi.outcomes import CAME
from sumi.parse.page.digest import PageDigest
from sumi.parse.page.raw import packed
from sumi.ports import FrontierStats, Ledger, Place
from sumi.settings.setting import OPERATING
from sumi.settings.sources import SECRET

KIND: Final = "capture"
# Of each machine: where it writes, how many processes it has, how it is operated.
LOCAL: Final = frozenset(
    {
        *("store", "captures", "contents", "state", "job", "warc", "replay", "replay_unlinked", "identity"),
        "seen_memory",
        *("index", "history", "processes", "min_free", "browser", "ca_file", "shared_pace", "passwords"),
        *(setting.field for setting in CAPTURE_SETTINGS if setting.group == OPERATING),
    }
)


def shared_capture(settings: CaptureSettings, name: str, *, joins: bool) -> SharedJob:
    assert settings.state is not None
    if settings.contents is None and not joins:
        raise UsageError(
            "a capture in a database has its pages in a store: name one by --store s3://BUCKET/PREFIX"
        )
    recipe = None if joins else shared_recipe(settings, LOCAL, SECRET)
    return SharedJob(settings.state, name, KIND, recipe, settings.contents, settings.seen_memory)


def settings_for_worker(
    recipe: SharedRecipe, address: str, name: str, own: Mapping[str, object]
) -> CaptureSettings:
    """``own``: settings of this machine, by field, those from its environment included."""
    values = settings_of(recipe, own, name)
    folder = values.pop("output", DEFAULT_STORE)
    return msgspec.convert({**values, "store": folder, "state": address, "job": name}, CaptureSettings)


class SharedCaptureOutput(CaptureOutput):
    def share(self, segments: SegmentWriter, reader: SegmentReader) -> None:
        self._segments, self._reader = segments, reader

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        facts = await super().accept(lease, response, digest)
        text = (digest.markdown or "").encode("utf-8", "replace")
        path = place_text(self._segments.append(TEXT, packed(text)[1]))
        has_body = self._keep_bodies and digest.raw_sha256 is not None
        raw_at = self._segments.append(RAW, digest.raw) if has_body else None
        return msgspec.structs.replace(facts, path=path, raw_at=raw_at)

    async def load(self, ledger: Ledger) -> None:
        async for record in ledger.records(CAME | FAILURES):
            if record.kind is Kind.PAGE:
                self._count(record.url, record.outcome)

    def has_whole(self, facts: PageFacts) -> bool:
        """A stored segment never changes; ``sumi state check`` looks whether it is there."""
        return facts.path is None or place_in(facts.path) is not None

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        if not stats.pending or (self._limit and stats.captured >= self._limit):
            await self._gather(ledger)
        await super().finish(ledger, stats)

    async def _gather(self, ledger: Ledger) -> None:
        """The pages of all machines, each text once: two that worked beside each other may both have kept
        the first page with a text."""
        first: dict[str, str] = {}
        async for record in ledger.records(CAME):
            key = record.facts.content_key
            if key is not None and record.facts.duplicate_of is None:
                first.setdefault(key, record.url)
        known = self._database.page_urls(self.job.id)
        present: set[str] = set()
        async for record in ledger.records(CAME | FAILURES):
            if record.kind is not Kind.PAGE:
                continue
            present.add(record.url)
            self._count(record.url, record.outcome)
            original = first.get(record.facts.content_key or "", record.url)
            duplicate_of = None if original == record.url else original
            facts = msgspec.structs.replace(record.facts, duplicate_of=duplicate_of)
            if record.url not in known or facts != record.facts:
                self._fetch(facts)
                self._restore(msgspec.structs.replace(record, facts=facts), present - {record.url})
        self._database.drop_pages(self.job.id, known - present)

    def _fetch(self, facts: PageFacts) -> None:
        found: list[tuple[str | None, Place | None]] = [
            (facts.sha256, place_in(facts.path)),
            (facts.raw, facts.raw_at),
        ]
        for sha256, place in found:
            if sha256 is None or place is None or self._database.has_content(sha256):
                continue
            frame = self._reader.frame(place)
            if frame is not None:
                self._database.put_contents([(sha256, frame)])

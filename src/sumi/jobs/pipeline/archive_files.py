"""The files of a crawl, a scrape or a unified run: the archive of bodies, and the copies of the ledger."""

import dataclasses
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from sumi.engine.io import Io
from sumi.events import Event, Listener, PageDeferred
from sumi.files.blobs import FolderBlobs
from sumi.files.growing_file import GrowingFile
from sumi.files.safe_files import SafeFolder
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.jobs.pipeline.archive import Archive, NoPacking, TrainedPacking
from sumi.jobs.pipeline.config import CrawlConfig, IndexBackend, PackingDictionary
from sumi.jobs.pipeline.ledger_copies import (
    Copy,
    FileCopy,
    LedgerCopies,
    is_up_to_date_page,
    was_not_modified,
)
from sumi.jobs.pipeline.page_index import IndexCopy, IndexRecord, index_records, open_page_index
from sumi.jobs.pipeline.pages_csv import CrawlMetadata, PagesCsv, TrajectoryCsv
from sumi.jobs.pipeline.policy import page_type_of
from sumi.jobs.pipeline.segment_archive import SegmentArchive, SegmentBodies
from sumi.jobs.pipeline.spool import SpoolCopy, SpoolWriter
from sumi.model import Kind
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.ports import Clock, UrlRecord

HEADER: Final = b"timestamp,metric,value\n"


class PageCounts:
    """Counts the pages of this run by their outcomes."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, PageDeferred):
            self._counts["retries"] += 1

    def settled(self, record: UrlRecord) -> None:
        if record.kind is not Kind.PAGE:
            return
        facts = record.facts
        if facts.status is not None:
            status = NOT_MODIFIED if was_not_modified(record) else facts.status
            self._counts["pages_fetched"] += 1
            self._counts[f"status_{status // 100}xx"] += 1
        if was_not_modified(record):
            self._counts["not_modified_304"] += 1
        elif is_up_to_date_page(record):
            self._counts["pages_saved"] += 1
            self._counts["bytes_saved"] += facts.body_bytes or 0
            self._counts["links_extracted"] += facts.links or 0
        elif record.outcome is Outcome.NOT_HTML:
            self._counts["not_html"] += 1
        elif MEANINGS[record.outcome].ending is Ending.FAILED:
            self._counts["fetch_fail"] += 1
        elif MEANINGS[record.outcome].ending is Ending.PASSED_OVER:
            self._counts["policy_denied"] += 1

    def lines(self, second: int) -> list[bytes]:
        return [f"{second},{name},{count}".encode() for name, count in sorted(self._counts.items())]


class MetricsCsv:
    """Appends all counters every ``interval`` seconds, and once more at the end."""

    def __init__(self, path: Path, counts: PageCounts, interval: float, clock: Clock) -> None:
        self._file = GrowingFile(path)
        self._counts = counts
        self._interval = interval
        self._clock = clock
        self._due = clock.now() + interval

    def __call__(self, event: Event) -> None:
        """Called with every event, several times a second during a run."""
        if self._clock.now() >= self._due:
            self.flush()

    def flush(self) -> None:
        self._due = self._clock.now() + self._interval
        lines = self._counts.lines(int(self._clock.now()))
        if lines:
            self._file.append(lines, HEADER)


MEGABYTE = 1_000_000


class ArchiveFiles:
    """The files of one run, opened and closed together. ``writer`` names this process."""

    def __init__(
        self,
        config: CrawlConfig,
        writer: str,
        metrics: Path,
        clock: Clock,
        bodies: SegmentBodies | None = None,
        *,
        shared_as: str = "",
    ) -> None:
        """``bodies``: of a crawl that keeps them in an object store. ``shared_as``: this workspace among
        those of all machines that share the job."""
        self._config = config
        self._clock = clock
        self._bodies = bodies
        self._shared_as = shared_as
        self.files = SafeFolder(config.store.root, writer)
        store = config.store
        self.blobs = FolderBlobs(self.files, packed=store.compress, mode=store.permissions)
        self.counts = PageCounts()
        interval = config.metrics.flush_interval_sec
        self._metrics = MetricsCsv(metrics, self.counts, interval, clock)
        self._closers: list[Callable[[], None]] = [self.files.close]

    @property
    def listeners(self) -> tuple[Listener, ...]:
        return (self.counts, self._metrics)

    def archive(
        self,
        copies: Sequence[Copy],
        on_settled: Sequence[Callable[[UrlRecord], None]] = (),
        on_copied: Callable[[Sequence[UrlRecord]], None] = lambda records: None,
    ) -> Archive:
        config = self._config
        page_type, heard = page_type_of(config), (self.counts.settled, *on_settled)
        # A spool hands over what its own scraper has to read.
        lists = [copy for copy in copies if self._shared_as and not isinstance(copy, SpoolCopy)]
        lines = LedgerCopies(copies, self._clock, on_copied, workspace=self._shared_as, in_the_end=lists)
        if self._bodies is not None:
            return SegmentArchive(self._bodies, page_type, lines, heard)
        folder = config.store.root.relative_to(config.workspace).as_posix()
        return Archive(self.blobs, folder, page_type, lines, heard, packed=config.store.compress)

    @asynccontextmanager
    async def packing(self, io: Io) -> AsyncIterator[Io]:
        """Replace the digester by one that packs bodies as the configuration says."""
        if self._bodies is not None:
            try:
                yield dataclasses.replace(io, segments=self._bodies.segments)
            finally:
                await self._bodies.segments.aclose()
        elif not self._config.store.compress:
            yield dataclasses.replace(io, digester=NoPacking(io.digester))
        elif self._config.store.dictionary is PackingDictionary.OFF:
            yield io
        else:
            digester = TrainedPacking(io.digester, self.blobs.dictionaries)
            try:
                yield dataclasses.replace(io, digester=digester)
            finally:
                await digester.aclose()

    # ── the copies of the ledger ───────────────────────────────────────────────────────────────────────

    def pages_csv(self) -> Copy:
        return FileCopy("pages csv", self._config.pages_csv.path, PagesCsv())

    def metadata(self) -> Copy:
        return FileCopy("metadata", self._config.metadata.path, CrawlMetadata())

    def trajectory(self) -> tuple[Copy, ...]:
        section = self._config.trajectory
        if not section.enabled:
            return ()
        return (FileCopy("trajectory", section.path, TrajectoryCsv()),)

    def spool(self) -> Copy:
        section = self._config.spool
        segment_bytes = int(section.segment_mb * MEGABYTE)
        writer = SpoolWriter(section.dir, segment_bytes, self._clock.now())
        self._closers.append(writer.close)
        return SpoolCopy(writer, section.dir, self._clock)

    def index(self) -> Copy:
        section = self._config.index
        index = open_page_index(section.db_path, in_lmdb=section.backend is IndexBackend.LMDB)
        self._closers.append(index.close)
        return IndexCopy(index)

    def close(self) -> None:
        self._metrics.flush()
        for close in reversed(self._closers):
            close()


def indexed(config: CrawlConfig) -> Iterator[IndexRecord]:
    """The records of the page index that the configuration names."""
    return index_records(config.index.db_path, in_lmdb=config.index.backend is IndexBackend.LMDB)

"""What crawling, scraping and doing both at once are put together from: an archive and its files."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sumi.engine.io import Io
from sumi.events import Listener
from sumi.files.blobs import FolderBlobs
from sumi.files.growing_file import GrowingFile
from sumi.files.safe_files import SafeFolder
from sumi.files.warc import WarcFile
from sumi.jobs.pipeline.archive import Archive
from sumi.jobs.pipeline.config import CrawlConfig, IndexBackend, PackingDictionary
from sumi.jobs.pipeline.config_rules import page_type_of
from sumi.jobs.pipeline.crawl_metadata import CrawlMetadata
from sumi.jobs.pipeline.discoveries import Discoveries
from sumi.jobs.pipeline.ledger_copies import Copy, FileCopy, LedgerCopies
from sumi.jobs.pipeline.metrics_csv import MetricsCsv, PageCounts
from sumi.jobs.pipeline.packing import NoPacking, TrainedPacking
from sumi.jobs.pipeline.page_index import IndexRecord, PageIndex, index_records, open_page_index
from sumi.jobs.pipeline.page_rows import identity, is_kept_page, second_of, was_not_modified
from sumi.jobs.pipeline.pages_csv import PagesCsv
from sumi.jobs.pipeline.spool import SpoolWriter
from sumi.jobs.pipeline.spool_folder import segments
from sumi.jobs.pipeline.trajectory import TrajectoryCsv
from sumi.ports import Clock, UrlRecord

MEGABYTE = 1_000_000


class Workshop:
    """The files of one run, opened together and closed together. ``writer`` is this process's name."""

    def __init__(self, config: CrawlConfig, writer: str, metrics: Path, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self.files = SafeFolder(config.store.root, writer)
        store = config.store
        self.blobs = FolderBlobs(self.files, packed=store.compress, mode=store.permissions)
        self.counts = PageCounts()
        interval = config.metrics.flush_interval_sec
        self._metrics = MetricsCsv(_growing(str(metrics)), self.counts, interval, clock)
        self._closers: list[Callable[[], None]] = [self.files.close]

    @property
    def listeners(self) -> tuple[Listener, ...]:
        return (self.counts, self._metrics)

    def archive(
        self,
        copies: Sequence[Copy],
        warc: str | None = None,
        hearers: Sequence[Callable[[UrlRecord], None]] = (),
        told: Callable[[Sequence[UrlRecord]], None] = lambda records: None,
    ) -> Archive:
        config = self._config
        return Archive(
            self.blobs,
            config.store.root.relative_to(config.workspace).as_posix(),
            page_type_of(config),
            LedgerCopies(copies, self._clock, told),
            (self.counts.settled, *hearers),
            packed=config.store.compress,
            warc=self._opened_warc(warc),
        )

    @asynccontextmanager
    async def packing(self, io: Io) -> AsyncIterator[Io]:
        """With a digester that packs bodies as the configuration wants it."""
        if not self._config.store.compress:
            yield dataclasses.replace(io, digester=NoPacking(io.digester))
        elif self._config.store.dictionary is PackingDictionary.OFF:
            yield io
        else:
            digester = TrainedPacking(io.digester, self.blobs.dictionaries)
            try:
                yield dataclasses.replace(io, digester=digester)
            finally:
                await digester.aclose()

    # ── what follows the ledger ────────────────────────────────────────────────────────────────────────

    def pages_csv(self) -> Copy:
        return FileCopy("pages csv", str(self._config.pages_csv.path), PagesCsv(), _growing)

    def metadata(self) -> Copy:
        return FileCopy("metadata", str(self._config.metadata.path), CrawlMetadata(), _growing)

    def trajectory(self) -> tuple[Copy, ...]:
        section = self._config.trajectory
        if not section.enabled:
            return ()
        return (FileCopy("trajectory", str(section.path), TrajectoryCsv(), _growing),)

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

    def _opened_warc(self, path: str | None) -> WarcFile | None:
        if path is None:
            return None
        warc = WarcFile(Path(path), self._clock.now())
        self._closers.append(warc.close)
        return warc


class SpoolCopy:
    """The spool as a copy of the ledger: the scraper is told of every kept page once."""

    name = "spool"

    def __init__(self, writer: SpoolWriter, folder: Path, clock: Clock) -> None:
        self._writer = writer
        self._folder = folder
        self._clock = clock
        self._form = Discoveries()
        self.mark = writer.segment

    def present(self, mark: str) -> set[int]:
        known: set[int] = set()
        for name in segments(self._folder):
            if name >= mark:
                with (self._folder / name).open("rb") as lines:  # the writer has mended the last of them
                    known.update(self._form.identities(lines))
        return known

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        lines = [line for line in map(self._form.line, records) if line is not None]
        self._writer.append(lines, self._clock.now())
        self._writer.sync()


class IndexCopy:
    """The page index as a copy of the ledger."""

    name = "index"
    mark = ""

    def __init__(self, index: PageIndex) -> None:
        self._index = index

    def present(self, mark: str) -> set[int]:
        return {identity(record.url, record.timestamp) for record in self._index.present()}

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        kept = [record for record in records if is_kept_page(record) and not was_not_modified(record)]
        if kept:
            self._index.put([_index_record(record) for record in kept])


def indexed(config: CrawlConfig) -> Iterator[IndexRecord]:
    """What the page index says of each URL."""
    return index_records(config.index.db_path, in_lmdb=config.index.backend is IndexBackend.LMDB)


def _index_record(record: UrlRecord) -> IndexRecord:
    facts = record.facts
    return IndexRecord(
        url=record.url,
        sha256=facts.raw or "",
        stored_path=facts.path or "",
        etag=facts.etag,
        last_modified=facts.last_modified,
        timestamp=second_of(record),
    )


def _growing(path: str) -> GrowingFile:
    return GrowingFile(Path(path))

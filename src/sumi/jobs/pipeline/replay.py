"""``sumi scrape replay``: writes the pages CSV again from the page index and the archive, without the
network."""

import time
from collections.abc import Sequence
from os import PathLike

import msgspec

from sumi.errors import UsageError
from sumi.events import Listener, Warned
from sumi.files.blobs import MOST_BODY_BYTES, FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.jobs.pipeline.archive_files import indexed
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.page_index import IndexRecord
from sumi.jobs.pipeline.pages_csv import HEADER, PageRow, csv_line, page_row
from sumi.jobs.pipeline.policy import page_type_of
from sumi.jobs.pipeline.state import (
    holds_state,
    require_configured_frontier,
    require_configured_index,
    scraper_state,
)
from sumi.ports import Snapshot
from sumi.state.folder import open_snapshot
from sumi.state.lock import FolderLock


class Replayed(msgspec.Struct, frozen=True):
    rows: int
    missing: int  # pages of the index whose body is missing in the archive or damaged
    path: str


async def replay(
    config: CrawlConfig | str | PathLike[str],
    *,
    run_id: str | None = None,
    listeners: Sequence[Listener] = (),
) -> Replayed:
    """``sumi scrape replay``: write the pages CSV again, from the index and the archive, without the network.

    Raises UsageError if there is no index."""
    chosen = load_crawl_config(config, run_id)
    require_configured_index(chosen)
    if not chosen.index.db_path.exists():
        raise UsageError(f"there is no page index at {chosen.index.db_path}: run sumi scrape run first")
    return await _replay(chosen, listeners, time.time())


async def _replay(config: CrawlConfig, listeners: Sequence[Listener], now: float) -> Replayed:
    """Locks out the scraper, which may write the same CSV."""
    state = scraper_state(config)
    if not holds_state(state):
        return await _write(config, listeners, now)
    lock = FolderLock(state, command="sumi scrape replay")
    try:
        return await _write(config, listeners, now)
    finally:
        lock.release()


async def _write(config: CrawlConfig, listeners: Sequence[Listener], now: float) -> Replayed:
    ledger = _ledger(config, now)
    archive = SafeFolder(config.store.root)
    csv = SafeFolder(config.pages_csv.path.parent)
    blobs = FolderBlobs(archive, packed=config.store.compress)
    page_type = page_type_of(config)
    rows = missing = 0
    try:
        with csv.stream_atomic(config.pages_csv.path.name) as file:
            file.write(HEADER)
            for record in indexed(config):
                body = blobs.open(record.sha256, MOST_BODY_BYTES)
                if body is None:
                    missing += 1
                    _tell(listeners, f"{record.url}: its body is not in the archive, or damaged; no row")
                    continue
                row = await _row(record, ledger, len(body), page_type(record.url))
                file.write(csv_line(row) + b"\n")
                rows += 1
        csv.sync()
    finally:
        archive.close()
        csv.close()
        if ledger is not None:
            await ledger.aclose()
    return Replayed(rows, missing, str(config.pages_csv.path))


def _ledger(config: CrawlConfig, now: float) -> Snapshot | None:
    """The ledger of the scraper or of a unified run, whichever wrote the index."""
    for state in (scraper_state(config), config.frontier.db_path):
        if holds_state(state):
            return open_snapshot(state, now)
    require_configured_frontier(config)
    return None


async def _row(record: IndexRecord, ledger: Snapshot | None, size: int, page_type: str) -> PageRow:
    """The original row if the ledger still has the page; else what index and archive know."""
    known = None if ledger is None else await ledger.record(record.url)
    if known is None:
        return PageRow(
            timestamp=record.timestamp,
            url=record.url,
            page_type=page_type,
            http_status=200,
            content_sha256=record.sha256,
            content_bytes=size,
            stored_path=record.stored_path,
            etag=record.etag,
            last_modified=record.last_modified,
        )
    return msgspec.structs.replace(
        page_row(known),
        timestamp=record.timestamp,
        http_status=known.facts.status,
        content_sha256=record.sha256,
        content_bytes=size,
        stored_path=record.stored_path,
        etag=record.etag,
        last_modified=record.last_modified,
    )


def _tell(listeners: Sequence[Listener], words: str) -> None:
    for listener in listeners:
        listener(Warned(words))

"""The mirror job's output: a tree of Markdown files, and the files about the whole mirror.

Pages go to ``<root>/<host>/…/index.md``. The job's own files live in ``<root>/<home>/``:
``_manifest.json``, ``_index.md``, ``_processed.txt``, ``_failed.log``, ``_checkpoint.json``,
``_progress.json``, ``_failed/``, ``_skipped/`` and ``_assets/``. All but the pages, the placeholders and the
assets are projections: rewritten from the ledger at every start and every clean end.
"""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from sumi.events import Progress
from sumi.files.safe_files import SafeFolder
from sumi.history.recorder import HistoryRecorder
from sumi.jobs.mirror.assets import AssetFolder, is_whole_asset
from sumi.jobs.mirror.contents import PARTS, write_contents
from sumi.jobs.mirror.layout import stored_layout
from sumi.jobs.mirror.manifest import MirrorInfo, write_manifest
from sumi.jobs.mirror.markdown_page import compose_page, is_whole
from sumi.jobs.mirror.missing_pages import GonePages, Placeholders
from sumi.jobs.mirror.page_history import PageHistory
from sumi.jobs.mirror.progress_files import (
    FAILED_LOG,
    PROCESSED,
    StatusCounts,
    checkpoint_json,
    failed_line,
    processed_line,
    progress_json,
    rewritten_logs,
    running,
    stopped,
)
from sumi.jobs.mirror.raw_pages import RawPages
from sumi.jobs.mirror.survey import DONE, Survey, counted_records, is_stored_page
from sumi.jobs.mirror.update import changes_since_update
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Ending, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import Layout
from sumi.ports import Clock, Frontier, FrontierStats, Ledger, UrlRecord
from sumi.urls.paths import PathAllocator

# The job's first start, kept in the ledger because a resumed job is as old as its first run.
STARTED_NOTE = "markdown_tree.started_at"


class Rewritable(Protocol):
    """Pages that are there, to be read and written again."""

    def read_page(self, facts: PageFacts) -> bytes | None: ...

    async def replace_pages(
        self, pages: Sequence[tuple[str, PageFacts, bytes | None]], frontier: Frontier
    ) -> None:
        """New records of pages, by URL, and new content for those that get some."""
        ...


class MarkdownTree:
    """Implements ``sumi.ports.Output`` and ``AssetKeeper``. Await ``load`` before the first ``accept``."""

    def __init__(
        self,
        root: Path,
        home: str,
        source_url: str,
        clock: Clock,
        most_asset_bytes: int = 0,
        history: HistoryRecorder | None = None,
    ) -> None:
        self._files = SafeFolder(root)
        self._mirror = MirrorInfo(home, source_url, clock.now())
        self._clock = clock
        self._layout = Layout.URLS
        self._paths = PathAllocator()
        self._placeholders = Placeholders(self._files, home)
        self._raw = RawPages(self._files, home)
        self._gone = GonePages(self._files, home)
        self._assets = AssetFolder(self._files, home, most_asset_bytes)
        self._history = None if history is None else PageHistory(history, self._files, home)
        self._survey = Survey()  # as of the last ``finish``

    async def load(self, ledger: Ledger) -> None:
        """Load the path of every page and the time of the first start, and rewrite the logs."""
        await self._load_start(ledger)
        self._layout = await stored_layout(ledger)
        self._paths = PathAllocator(self._layout)
        had_pages = False
        with rewritten_logs(self._files, self._mirror.home) as log:
            async for record in counted_records(ledger):
                log(record)
                if is_stored_page(record) and record.facts.path is not None:
                    self._paths.restore(record.url, record.facts.path)
                    had_pages = True
        await self._gone.load(ledger, self._paths)
        await self._assets.load(ledger)
        await self._remove_stale_placeholders(ledger)
        if self._history is not None:
            await self._history.load(ledger, had_pages=had_pages)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """Write the page's file, and remove the placeholder of an earlier failure."""
        data, facts = compose_page(lease.url, response, digest)
        path = self._paths.claim(lease.url)
        raw_at = None if digest.raw_sha256 is None else self._raw.add(digest.raw)
        if self._history is not None:
            self._history.accept(lease.url, path, data, facts, digest)
        self._files.write_atomic(path, data)
        self._placeholders.remove(lease.url)
        self._gone.returned(lease.url)
        return msgspec.structs.replace(facts, path=path, raw=digest.raw_sha256, raw_at=raw_at)

    async def keep(self, lease: Lease, response: Response) -> PageFacts | Verdict:
        """Store an image or a file unchanged."""
        kept = self._assets.keep(lease.url, lease.candidate.kind, response)
        if isinstance(kept, PageFacts):
            self._placeholders.remove(lease.url)
        return kept

    def raw_page(self, facts: PageFacts) -> bytes | None:
        """The packed body that a page was made from; None if it was not kept."""
        return None if facts.raw_at is None else self._raw.read(facts.raw_at)

    def read_page(self, facts: PageFacts) -> bytes | None:
        return None if facts.path is None else self._files.read_bytes(facts.path)

    def replace_page(self, facts: PageFacts, data: bytes) -> None:
        """Write new content to a page's file; the caller amends its record."""
        if facts.path is not None:
            self._files.write_atomic(facts.path, data)

    async def replace_pages(
        self, pages: Sequence[tuple[str, PageFacts, bytes | None]], frontier: Frontier
    ) -> None:
        await frontier.amend({url: facts for url, facts, _ in pages})
        for _, facts, data in pages:
            if data is not None:
                self.replace_page(facts, data)

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def had_name_conflicts(self) -> bool:
        """Whether several pages had the same file name, so that some got another."""
        return self._paths.had_name_conflicts

    def remove_file(self, path: str) -> None:
        """Remove the former file of a renamed page."""
        self._files.remove(path)

    def remove_stray(self, path: str, recorded: Iterable[str]) -> None:
        """Remove a file without a record, unless it is the same file as one of ``recorded`` on this disk."""
        stray = self._files.status(path)
        kept = (self._files.status(name) for name in recorded)
        if stray is not None and not any(each and os.path.samestat(each, stray) for each in kept):
            self._files.remove(path)

    def has(self, record: UrlRecord) -> bool:
        """Whether the page's file and its original body are as recorded; True for pages without a file. The
        size of a file that was not modified since is enough."""
        facts = record.facts
        if facts.path is None:
            return True
        found = self._files.status(facts.path)
        if found is None or found.st_size != facts.size:
            return False
        if found.st_mtime > (record.at or 0.0) and not self._is_whole(facts):
            return False
        return facts.raw is None or (facts.raw_at is not None and self._raw.has(facts.raw_at))

    def has_whole(self, facts: PageFacts) -> bool:
        """Whether the content of the page's file and of its original body is as recorded: after a power cut,
        the size and time of a file cannot be trusted."""
        if facts.path is not None and not self._is_whole(facts):
            return False
        if facts.path is None or facts.raw is None:
            return True
        return facts.raw_at is not None and self._raw.has_whole(facts.raw_at, facts.raw)

    def _is_whole(self, facts: PageFacts) -> bool:
        data = self.read_page(facts)
        whole = is_whole_asset if facts.asset else is_whole
        return data is not None and whole(data, facts)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Write a placeholder that says why there is no page."""
        self._placeholders.put(lease.url, verdict, at)

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """The settlement is durable, so the logs may list it."""
        self._gone.settle(lease.url, facts, self._paths)
        if self._history is not None:
            self._history.settled(lease.url, verdict.outcome, facts, at)
        if verdict.ending is Ending.DONE:
            if verdict.outcome is not Outcome.CAPTURED:  # other good endings may follow a failure
                self._placeholders.remove(lease.url)
            self._files.append(self._own(PROCESSED), processed_line(lease.url))
        elif verdict.ending is Ending.FAILED:
            self._files.append(self._own(FAILED_LOG), failed_line(lease.url, verdict, at))

    def write_progress(self, progress: Progress) -> None:
        """Write the progress of a running job: two small files, so call it only every few seconds."""
        self._write_status(running(progress), progress)

    async def sync(self) -> None:
        await asyncio.to_thread(self._files.sync)
        if self._history is not None and not self._files.syncs_at_once:
            await asyncio.to_thread(self._history.sync)

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        await self._load_start(ledger)
        await self._assets.load(ledger)
        self._assets.sweep()
        self._survey = await self._survey_records(ledger)
        with self._files.stream_atomic(self._own("_manifest.json")) as file:
            await write_manifest(file, self._mirror, ledger, self._survey, stats)
        self._write_contents(self._survey)
        if self._history is not None:
            await self._history.finish(ledger, finished=not stats.pending)
        self._write_status(stopped(stats))

    async def _survey_records(self, ledger: Ledger) -> Survey:
        found = Survey(await changes_since_update(ledger))
        with rewritten_logs(self._files, self._mirror.home) as log:
            async for record in counted_records(ledger):
                log(record)
                found.add(record)
                if self._history is not None and is_stored_page(record):
                    self._history.check(record)
        return found

    def _write_contents(self, found: Survey) -> None:
        written = write_contents(lambda name: self._files.stream_atomic(self._own(name)), self._mirror, found)
        for name in self._files.names(self._own(PARTS)):
            if f"{PARTS}/{name}" not in written:
                self._files.remove(self._own(f"{PARTS}/{name}"))

    def remarks(self) -> tuple[str, ...]:
        """Notes for the summary, as of the last ``finish``."""
        notes = self._survey.remarks()
        if self._history is not None:
            notes = (*notes, *self._history.notes())
        return notes

    def close(self) -> None:
        if self._history is not None:
            self._history.close()
        self._files.close()

    async def _remove_stale_placeholders(self, ledger: Ledger) -> None:
        """A run may have been killed between settling a page and removing its placeholder."""
        if self._placeholders:
            async for record in ledger.records(DONE):
                self._placeholders.remove(record.url)

    async def _load_start(self, ledger: Ledger) -> None:
        note = await ledger.get_note(STARTED_NOTE)
        if note is None:
            await ledger.put_note(STARTED_NOTE, repr(self._mirror.started))
        else:
            self._mirror = msgspec.structs.replace(self._mirror, started=float(note))

    def _write_status(self, counts: StatusCounts, progress: Progress | None = None) -> None:
        now = self._clock.now()
        self._files.write_atomic(self._own("_progress.json"), progress_json(counts, now, progress))
        self._files.write_atomic(self._own("_checkpoint.json"), checkpoint_json(counts, self._mirror.started))

    def _own(self, name: str) -> str:
        return f"{self._mirror.home}/{name}"

"""The mirror job's output: a folder tree of Markdown files, and beside it what is made of the whole.

Pages go to ``<root>/<host>/…/index.md``. The job's own files live in ``<root>/<home>/``:
``_manifest.json``, ``_index.md``, ``_processed.txt``, ``_failed.log``, ``_checkpoint.json``,
``_progress.json``, ``_failed/`` and ``_skipped/``. All but the pages and the placeholders are
projections: written anew from the ledger at every start and every orderly end.
"""

import asyncio
from pathlib import Path

import msgspec

from sumi.events import Progress
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Ending, Verdict
from sumi.outputs.checkpoint import Standing, checkpoint_json, progress_json, running, stopped
from sumi.outputs.contents import read_entries, write_contents
from sumi.outputs.job_logs import FAILED_LOG, PROCESSED, failed_line, processed_line, rebuild_logs
from sumi.outputs.manifest import PAGES, Mirror, survey, write_manifest
from sumi.outputs.markdown_page import compose_page, is_whole
from sumi.outputs.placeholders import Placeholders
from sumi.outputs.safe_files import SafeFolder
from sumi.parse.digest import PageDigest
from sumi.ports import Clock, FrontierStats, Ledger
from sumi.urls.paths import PathAllocator

# The job's first start, kept in the ledger so that a resumed job does not look younger than it is.
STARTED_NOTE = "markdown_tree.started_at"


class MarkdownTree:
    """Implements ``sumi.ports.Output``. Await ``recall`` before the first ``accept``."""

    def __init__(self, root: Path, home: str, source_url: str, clock: Clock) -> None:
        self._files = SafeFolder(root)
        self._mirror = Mirror(home, source_url, clock.now())
        self._clock = clock
        self._paths = PathAllocator()
        self._placeholders = Placeholders(self._files, home)

    async def recall(self, ledger: Ledger) -> None:
        """Take up what the ledger knows: the path of every page, the time of the first start, the logs."""
        await self._recall_start(ledger)
        async for record in ledger.records(PAGES):
            if record.facts.path is not None:
                self._paths.restore(record.url, record.facts.path)
        await rebuild_logs(self._files, self._mirror.home, ledger)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """Write the page's file, and remove what an earlier failure left in its stead."""
        data, facts = compose_page(lease.url, response, digest)
        path = self._paths.claim(lease.url)
        self._files.write_atomic(path, data)
        self._placeholders.remove(lease.url)
        return msgspec.structs.replace(facts, path=path)

    def has_whole(self, facts: PageFacts) -> bool:
        """Whether the page's file is there as it was accepted; True for what has no file."""
        if facts.path is None:
            return True
        data = self._files.read_bytes(facts.path)
        return data is not None and is_whole(data, facts)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Leave a placeholder that says why there is no page."""
        self._placeholders.put(lease.url, verdict, at)

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """The settlement is durable: the logs may tell of it."""
        if verdict.ending is Ending.DONE:
            self._files.append_line(self._own(PROCESSED), processed_line(lease.url))
        elif verdict.ending is Ending.FAILED:
            self._files.append_line(self._own(FAILED_LOG), failed_line(lease.url, verdict, at))

    def write_progress(self, progress: Progress) -> None:
        """A look from outside at a running job. A few small files: call it every few seconds."""
        self._write_standing(running(progress), progress)

    async def sync(self) -> None:
        await asyncio.to_thread(self._files.sync)

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        await self.recall(ledger)
        found = await survey(ledger)
        with self._files.stream_atomic(self._own("_manifest.json")) as file:
            await write_manifest(file, self._mirror, ledger, found, stats)
        entries = await read_entries(ledger)
        with self._files.stream_atomic(self._own("_index.md")) as file:
            write_contents(lambda text: file.write(text.encode()), self._mirror, entries, found)
        self._write_standing(stopped(stats))

    def close(self) -> None:
        self._files.close()

    async def _recall_start(self, ledger: Ledger) -> None:
        note = await ledger.get_note(STARTED_NOTE)
        if note is None:
            await ledger.put_note(STARTED_NOTE, repr(self._mirror.started))
        else:
            self._mirror = msgspec.structs.replace(self._mirror, started=float(note))

    def _write_standing(self, standing: Standing, progress: Progress | None = None) -> None:
        now = self._clock.now()
        self._files.write_atomic(self._own("_progress.json"), progress_json(standing, now, progress))
        self._files.write_atomic(
            self._own("_checkpoint.json"), checkpoint_json(standing, self._mirror.started)
        )

    def _own(self, name: str) -> str:
        return f"{self._mirror.home}/{name}"

"""The output of crawl, scrape and unified runs: bodies in the archive, and copies of the ledger.

A body is stored under its hash before its page is settled, and is durable before the record that names it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sumi.catalogue.role import Role
from sumi.engine.answers import page_facts
from sumi.files.blobs import PACKED_SUFFIX, Dictionaries, FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.jobs.pipeline.ledger_copies import LedgerCopies
from sumi.jobs.pipeline.state import CRAWLER, SCRAPER
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import UP_TO_DATE, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import SAMPLE_BYTES, SAMPLES, has_frame_of, trained
from sumi.ports import Blobs, Digester, FrontierStats, Ledger, Snapshot, UrlRecord
from sumi.state.check import Finding, ledger_violations


class Archive:
    """Implements ``sumi.ports.Output``. ``folder``: the prefix of stored paths."""

    def __init__(
        self,
        blobs: Blobs | None,
        folder: str,
        page_type: Callable[[str], str],
        copies: LedgerCopies,
        on_settled: Sequence[Callable[[UrlRecord], None]],
        *,
        packed: bool,
    ) -> None:
        self._blobs = blobs
        self._folder = folder
        self._page_type = page_type
        self._copies = copies
        self._on_settled = on_settled  # called for every page as it is settled
        self._packed = packed
        self._syncing = asyncio.Lock()

    @property
    def since(self) -> float:
        """When this run began, or the killed run that it resumes."""
        return self._copies.since

    async def load(self, ledger: Ledger) -> None:
        await self._copies.load(ledger, self.has_whole)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """Store the body, if it is to be kept; return what to record of the page."""
        path = None
        if digest.raw_sha256 is not None and self._blobs is not None:
            body = digest.raw if self._packed else response.body
            path = f"{self._folder}/{self._blobs.put(digest.raw_sha256, body)}"
        return msgspec.structs.replace(self.facts_of(lease, response, digest), path=path)

    def facts_of(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """All but where its body is."""
        return msgspec.structs.replace(
            page_facts(response, digest),
            sha256=digest.raw_sha256,
            raw=digest.raw_sha256,
            charset=digest.charset,
            page_type=self._page_type(lease.url),
            proxy=response.proxy or None,
        )

    def has_whole(self, facts: PageFacts) -> bool:
        if facts.path is None or facts.raw is None or self._blobs is None:
            return True
        return self._blobs.has_whole(facts.raw)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Nothing to store for a page without content; the ledger has the reason."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        record = _settled_record(lease, verdict, at, facts)
        for call in self._on_settled:
            call(record)
        self._copies.settled(record)

    async def sync(self) -> None:
        async with self._syncing:
            due = self._copies.take_due()
            await _uninterrupted(asyncio.to_thread(self._write, due))
            await self._copies.ask_for_another_sync()

    def _write(self, due: list[UrlRecord]) -> None:
        if self._blobs is not None:
            self._blobs.sync()
        self._copies.write(due)

    def remarks(self) -> tuple[str, ...]:
        """None: the counts say it all."""
        return ()

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        await self._copies.finish(ledger, self.has_whole, is_over=not stats.pending)


def _settled_record(lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> UrlRecord:
    """The record as the ledger has it now."""
    page = lease.candidate
    return UrlRecord(
        url=page.url,
        hop=page.hop,
        kind=page.kind,
        depth=page.depth,
        referrer=page.referrer,
        outcome=verdict.outcome,
        rule=verdict.rule,
        at=at,
        attempts=lease.attempt,
        facts=facts,
        address=page.address,
    )


async def _uninterrupted(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if cancelled: lines taken from the list must get into the files."""
    done = asyncio.ensure_future(work)
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise


# ── packing: digesters that wrap the one that does the work ──────────────────────────────────────────────


class NoPacking:
    """Implements ``sumi.ports.Digester``: bodies are stored unpacked, so only their hash is computed."""

    def __init__(self, digester: Digester) -> None:
        self._digester = digester

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        return await self._digester.digest(msgspec.structs.replace(request, pack=False))

    async def aclose(self) -> None:
        """The owner of the wrapped digester closes it."""


class TrainedPacking:
    """Implements ``sumi.ports.Digester``: packs bodies with a dictionary trained on an archive's first pages.

    Most of a page is what it shares with others. The dictionary is trained once: a blob can only be unpacked
    with the dictionary that it was packed with.
    """

    def __init__(self, digester: Digester, dictionaries: Dictionaries) -> None:
        self._digester = digester
        self._dictionaries = dictionaries
        self._dictionary = dictionaries.in_use()
        self._samples: list[bytes] = []
        self._training: asyncio.Task[None] | None = None

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        """Raises the disk error, if the dictionary could not be written."""
        if self._training is not None and self._training.done():
            self._training.result()
        if request.raw and self._dictionary:
            request = msgspec.structs.replace(request, dictionary=self._dictionary)
        result = await self._digester.digest(request)
        if isinstance(result, PageDigest) and request.raw and self._training is None:
            self._learn(request.body)
        return result

    async def aclose(self) -> None:
        """Wait for a training that has begun; the owner of the wrapped digester closes it."""
        if self._training is not None:
            await self._training

    def _learn(self, body: bytes) -> None:
        if self._dictionary:
            return
        self._samples.append(body[:SAMPLE_BYTES])
        if len(self._samples) == SAMPLES:
            self._training = asyncio.create_task(self._train())

    async def _train(self) -> None:
        """The dictionary is durable before anything is packed with it."""
        samples, self._samples = self._samples, []
        dictionary = self._dictionaries.in_use()  # trained by another process of this archive meanwhile
        if not dictionary:
            dictionary = await asyncio.to_thread(trained, samples)
            if dictionary:
                self._dictionaries.add(dictionary)
        await asyncio.to_thread(self._dictionaries.sync)
        self._dictionary = dictionary


# ── sumi state check: does an archive agree with the state of its writer? ───────────────────────────────


async def archive_findings(role: Role, store: Snapshot, *, deep: bool) -> AsyncIterator[Finding]:
    """``deep`` also unpacks every body and compares it with its hash. A body that no page names is not a
    finding: its page changed, or a kill came before the page was settled."""
    # A scraper need not know the pages that linked to its pages; a crawler that does not hand pages over
    # stores none.
    is_scraper, keeps = role.job == SCRAPER, role.job != CRAWLER
    async for words in ledger_violations(store, 0, whole_ways=not is_scraper, keeps_files=keeps):
        yield Finding(words)
    bodies = _Bodies(role.home)
    try:
        async for record in store.records(UP_TO_DATE):
            words = bodies.problem_with(record, deep=deep)
            if words:
                yield Finding(f"{record.url}: {record.facts.path} {words}", requeue=record.url)
    finally:
        bodies.close()


class _Bodies:
    """The archives of a workspace: more than one if ``store.root`` was changed."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._workspace = SafeFolder(home)
        self._folders: list[SafeFolder] = []
        self._archives: dict[str, FolderBlobs] = {}

    def problem_with(self, record: UrlRecord, *, deep: bool) -> str:
        """Empty if the body is there, or none was kept."""
        path, body_sha256 = record.facts.path, record.facts.raw
        if path is None or body_sha256 is None:
            return ""
        status = self._workspace.status(path)
        if status is None:
            return "is missing"
        if not self._has_right_size(path, status.st_size, record.facts.body_bytes):
            return f"has {status.st_size:,} bytes, not what was written"
        if deep and not self._is_whole(path, body_sha256):
            return "does not match its recorded hash"
        return ""

    def _has_right_size(self, path: str, size: int, body_bytes: int | None) -> bool:
        if body_bytes is None:  # an earlier version did not record it
            return size > 0
        if not path.endswith(PACKED_SUFFIX):
            return size == body_bytes

        def read(start: int, length: int) -> bytes:
            return self._workspace.read_range(path, start, length) or b""

        return has_frame_of(read, size, body_bytes)

    def close(self) -> None:
        for folder in (self._workspace, *self._folders):
            folder.close()

    def _is_whole(self, path: str, body_sha256: str) -> bool:
        root = path.rsplit("/", 3)[0]  # above aa/bb/<sha256>
        if root not in self._archives:
            self._folders.append(SafeFolder(self._home / root))
            self._archives[root] = FolderBlobs(self._folders[-1], packed=True)
        return self._archives[root].has_whole(body_sha256)

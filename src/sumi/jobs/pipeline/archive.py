"""The output of crawling, scraping and doing both at once: bodies in the archive, and copies of the ledger.

A body is stored under its hash before its page is settled, and is durable before the record that names it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from sumi.engine.facts import page_facts
from sumi.files.warc import WarcFile
from sumi.jobs.pipeline.ledger_copies import LedgerCopies
from sumi.jobs.pipeline.page_rows import settled_record
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Blobs, FrontierStats, Ledger, UrlRecord


class Archive:
    """Implements ``sumi.ports.Output``. ``folder`` is what stored paths begin with."""

    def __init__(
        self,
        blobs: Blobs,
        folder: str,
        page_type: Callable[[str], str],
        copies: LedgerCopies,
        hearers: Sequence[Callable[[UrlRecord], None]],
        *,
        packed: bool,
        warc: WarcFile | None = None,
    ) -> None:
        self._blobs = blobs
        self._folder = folder
        self._page_type = page_type
        self._copies = copies
        self._hearers = hearers  # told of every settled page at once
        self._packed = packed
        self._warc = warc
        self._turn = asyncio.Lock()

    @property
    def since(self) -> float:
        """When this run began, or the killed one that it goes on with."""
        return self._copies.since

    async def load(self, ledger: Ledger) -> None:
        await self._copies.recall(ledger, self.has_whole)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """Store the body, if it was kept; what to record of the page."""
        path = None
        if digest.raw_sha256 is not None:
            body = digest.raw if self._packed else response.body
            path = f"{self._folder}/{self._blobs.put(digest.raw_sha256, body)}"
        if self._warc is not None:
            self._warc.add(response)
        return msgspec.structs.replace(
            page_facts(response, digest),
            path=path,
            sha256=digest.raw_sha256,
            raw=digest.raw_sha256,
            charset=digest.charset,
            page_type=self._page_type(lease.url),
            proxy=response.proxy or None,
        )

    def has_whole(self, facts: PageFacts) -> bool:
        return facts.path is None or facts.raw is None or self._blobs.has_whole(facts.raw)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Nothing is kept of a page without content; the ledger says why."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        record = settled_record(lease, verdict, at, facts)
        for hear in self._hearers:
            hear(record)
        self._copies.settled(record)

    async def sync(self) -> None:
        async with self._turn:
            due = self._copies.take_due()
            await _to_its_end(asyncio.to_thread(self._write, due))
            await self._copies.ask_for_another_sync()

    def _write(self, due: list[UrlRecord]) -> None:
        self._blobs.sync()
        if self._warc is not None:
            self._warc.sync()
        self._copies.write(due)

    def remarks(self) -> tuple[str, ...]:
        """The counts say it all."""
        return ()

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        await self._copies.finish(ledger)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Even if we are cancelled: what was taken from the list to be written must get into the files."""
    done = asyncio.ensure_future(work)
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise

"""What a map gives out besides its database: contents of pages, and what a user's own handler receives."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Protocol

import msgspec

from sumi.engine.answers import page_facts
from sumi.files.safe_files import SafeFolder
from sumi.jobs.map.coverage import coverage_notes, read_coverage
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Blobs, FrontierStats, Ledger


class MapOutput:
    """Implements ``sumi.ports.Output``. A page's record has the hash that its content is stored under."""

    def __init__(self, database: Path, contents: Blobs | None) -> None:
        self._database = database
        self._contents = contents

    async def load(self, ledger: Ledger) -> None:
        """Nothing to load: the database is the state."""

    def has_whole(self, facts: PageFacts) -> bool:
        return self._contents is None or facts.sha256 is None or self._contents.has_whole(facts.sha256)

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        sha256 = digest.raw_sha256 or hashlib.sha256(response.body).hexdigest()
        if self._contents is not None and digest.raw:
            self._contents.put(sha256, digest.raw)
        return msgspec.structs.replace(page_facts(response, digest), sha256=sha256)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Recorded in the database."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """Recorded in the database."""

    def remarks(self) -> tuple[str, ...]:
        """The coverage of the quality domains; the rest is in the summary file."""
        return coverage_notes(read_coverage(self._database))

    def has_lone_page(self) -> bool:
        """Whether a quality domain is a single page without a followed link."""
        return any(one.lone for one in read_coverage(self._database).values())

    async def sync(self) -> None:
        if self._contents is not None:
            await asyncio.to_thread(self._contents.sync)

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        """The summary is written once the end of the run is recorded."""


class OutputHandler(Protocol):
    """A user's own sink for what a map finds, called after it is in the database. It must not block, because
    the crawl waits. A resumed run reports only what it finds itself."""

    def record_page(self, url: str, facts: PageFacts) -> None: ...

    def record_link(self, source: str, target: str) -> None: ...

    def record_blacklisted(self, url: str, referrer: str) -> None: ...

    def record_stubbed(self, url: str, referrer: str) -> None: ...

    def record_error(self, url: str, error: Verdict) -> None: ...

    def generate_summary(self) -> None:
        """The run is over and its end is recorded."""
        ...

    def finalize(self, status: str) -> None:
        """The last call. ``status``: as in the table of runs."""
        ...


def write_text(path: Path, text: str) -> None:
    """Written atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = SafeFolder(path.parent, str(os.getpid()))  # a run and a command may write it at the same time
    try:
        folder.write_atomic(path.name, text.encode())
    finally:
        folder.close()

"""A run in memory that writes nothing: sumi plan and sumi sitemap look at a site this way."""

from collections.abc import Sequence

from sumi.assembly.parts import connected
from sumi.engine.control import Control, obeying_signals
from sumi.engine.crawl import Crawl
from sumi.engine.io import SystemClock
from sumi.errors import Interrupted
from sumi.events import Listener
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import Durability
from sumi.ports import FrontierStats, Ledger, Output
from sumi.recipe import Job
from sumi.state.memory import MemoryStore


class NoOutput:
    """Implements ``sumi.ports.Output``."""

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        return PageFacts(status=response.status, title=digest.title, body_bytes=len(response.body))

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Recorded in the ledger."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """Recorded in the ledger."""

    async def sync(self) -> None:
        """Nothing was written."""

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        """Nothing was written."""


async def look_at(
    job: Job, output: Output, listeners: Sequence[Listener], control: Control, processes: int | None
) -> MemoryStore:
    """Run a job to its end and return what it learnt. Raises Interrupted if it was stopped: a part would be
    mistaken for the whole."""
    clock = SystemClock()
    store = MemoryStore(job.frontier, clock.now())
    async with connected(job, store, output, clock, listeners, processes, must_reach=True) as io:
        with obeying_signals(control):
            await Crawl(job.recipe, io, control, Durability.BATCH).run()
    if control.was_stopped:
        raise Interrupted("interrupted before the end: run the same command again")
    return store

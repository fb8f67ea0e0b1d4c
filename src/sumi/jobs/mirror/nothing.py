"""The output of a run that looks and writes nothing."""

from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import FrontierStats, Ledger


class NoOutput:
    """Implements ``sumi.ports.Output``."""

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        return PageFacts(status=response.status, title=digest.title, body_bytes=len(response.body))

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """The ledger has it."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """The ledger has it."""

    async def sync(self) -> None:
        """There is nothing to lose."""

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        """There is nothing to finish."""

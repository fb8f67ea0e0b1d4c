"""``--replay-unlinked``: every page of an archive is taken, linked or not."""

from sumi.errors import UsageError
from sumi.fetch.replay import ReplayFetcher
from sumi.model import Candidate, Hop, Lease, Response
from sumi.ports import Enqueue, Fetcher, Ledger, Remains, Settlement, Source

BATCH = 500


class ArchivedPages:
    """Implements ``sumi.ports.Source``: queues archived pages that are not known yet, besides those of
    ``other``."""

    def __init__(self, fetcher: Fetcher, other: Source, ledger: Ledger) -> None:
        if not isinstance(fetcher, ReplayFetcher):
            raise UsageError("--replay-unlinked needs an archive: give one with --replay")
        self._archive = fetcher
        self._other = other
        self._ledger = ledger

    @property
    def more_to_come(self) -> bool:
        return self._other.more_to_come

    async def resume(self, enqueue: Enqueue) -> None:
        await self._other.resume(enqueue)
        batch: list[Candidate] = []
        for url in self._archive.pages():
            if await self._ledger.record(url) is None:
                batch.append(Candidate(url, Hop.MANIFEST))
            if len(batch) >= BATCH:
                await enqueue(batch)
                batch.clear()
        await enqueue(batch)

    async def feed(self, enqueue: Enqueue) -> None:
        await self._other.feed(enqueue)

    def at_hand(self, lease: Lease) -> Response | None:
        return self._other.at_hand(lease)

    def signed(self, settlement: Settlement) -> Settlement:
        return self._other.signed(settlement)

    def remains(self) -> Remains:
        return self._other.remains()

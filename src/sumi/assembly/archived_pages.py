"""Every page of an archive, linked or not, for jobs that take their answers from one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sumi.errors import UsageError
from sumi.fetch.replay import ReplayFetcher
from sumi.model import Candidate, Hop, Lease, Response
from sumi.policy import FetchLimits, Preset
from sumi.ports import Enqueue, Fetcher, Ledger, Remains, Settlement, Source
from sumi.urls import PRESETS, origin, spelled, split

_AT_ONCE: Final = 500


class ArchivedPages:
    """``--replay-unlinked``, as a ``sumi.ports.Source``: every page of an archive that is not known yet is
    queued, linked or not, besides those of ``other``."""

    def __init__(self, fetcher: Fetcher, other: Source, ledger: Ledger, preset: Preset) -> None:
        if not isinstance(fetcher, ReplayFetcher):
            raise UsageError("--replay-unlinked needs an archive: give one with --replay")
        self._archive = fetcher
        self._other = other
        self._ledger = ledger
        self._rules = PRESETS[preset]

    @property
    def more_to_come(self) -> bool:
        return self._other.more_to_come

    async def resume(self, enqueue: Enqueue) -> None:
        await self._other.resume(enqueue)
        batch: list[Candidate] = []
        for candidate in self._candidates():
            if await self._ledger.record(candidate.url) is None:
                batch.append(candidate)
            if len(batch) >= _AT_ONCE:
                await enqueue(batch)
                batch.clear()
        await enqueue(batch)

    def _candidates(self) -> Iterator[Candidate]:
        for url, written in self._archive.addresses():
            found = spelled(written, self._rules) or spelled(url, self._rules)
            if found is not None:
                yield Candidate(found.identity, Hop.MANIFEST, address=found.address)

    async def feed(self, enqueue: Enqueue) -> None:
        await self._other.feed(enqueue)

    def at_hand(self, lease: Lease) -> Response | None:
        return self._other.at_hand(lease)

    def signed(self, settlement: Settlement) -> Settlement:
        return self._other.signed(settlement)

    def remains(self) -> Remains:
        return self._other.remains()


def archived_roots(archives: Sequence[str]) -> list[str]:
    """The root of each site in the archives, with or without ``www.`` and whatever its scheme; the one with
    most pages first."""
    fetcher = ReplayFetcher([Path(path) for path in archives], FetchLimits())
    fetcher.close()
    sites: dict[str, str] = {}
    for root, _ in Counter(f"{origin(url)}/" for url in fetcher.pages()).most_common():
        host = root.removeprefix(f"{split(root).scheme}://").removeprefix("www.")
        sites.setdefault(host, root)
    if not sites:
        raise UsageError(f"{' and '.join(archives)}: no page is archived there")
    return list(sites.values())

"""Assets of a mirror that has pages already: wanted only now, or no longer too many or too large."""

import asyncio
from collections.abc import AsyncIterator, Iterable

from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.survey import pages_here
from sumi.model import Candidate, Hop, Kind, Lease, Response
from sumi.outcomes import Outcome
from sumi.parse.markdown.link_targets import image_targets
from sumi.parse.page.file_types import named_like_a_file
from sumi.policy import Preset
from sumi.ports import Frontier, Ledger, Remains, Settlement, TakeIn, UrlRecord
from sumi.settings import MirrorSettings
from sumi.urls import normalize

# Set once the assets of all pages that are here have been asked for; removed by a run that takes none.
NOTE = "mirror.assets_taken_up"
BATCH = 500
# What a link to an image may have ended as, before the image itself was wanted.
NOT_YET_WANTED = frozenset({Outcome.OUT_OF_SCOPE, Outcome.EXCLUDED, Outcome.UNLISTED, Outcome.TOO_DEEP})


class EarlierAssets:
    """Implements ``sumi.ports.Source``: images and files of pages that came when they were not wanted."""

    more_to_come = False

    def __init__(self, ledger: Ledger, frontier: Frontier, tree: MarkdownTree) -> None:
        self._ledger = ledger
        self._frontier = frontier
        self._tree = tree

    async def recall(self, take_in: TakeIn) -> None:
        if await self._ledger.get_note(NOTE):
            return
        skipped = [record.url async for record in self._ledger.records({Outcome.NOT_HTML})]
        await self._frontier.requeue(skipped, 0.0)
        async for batch in _batches(self._candidates()):
            await take_in(batch)
        await self._ledger.put_note(NOTE, "yes")

    async def feed(self, take_in: TakeIn) -> None:
        return

    def at_hand(self, lease: Lease) -> Response | None:
        return None

    def remains(self) -> Remains:
        return Remains()

    def signed(self, settlement: Settlement) -> Settlement:
        return settlement

    async def _candidates(self) -> AsyncIterator[Candidate]:
        async for record in self._ledger.records({Outcome.UNLISTED}):
            if record.kind is Kind.PAGE and named_like_a_file(record.url):
                yield Candidate(record.url, Hop.EMBED, Kind.FILE, record.depth, record.referrer)
        async for page in pages_here(self._ledger):
            for url in _images_of(self._tree, page):
                known = await self._ledger.record(url)
                if known is None or known.outcome in NOT_YET_WANTED:
                    yield Candidate(url, Hop.EMBED, Kind.IMAGE, page.depth, page.url)
            await asyncio.sleep(0)


async def forget_assets(ledger: Ledger) -> None:
    """A run without assets: what its pages show is asked for when assets are wanted again."""
    if await ledger.get_note(NOTE):
        await ledger.put_note(NOTE, "")


async def retry_passed_over(
    ledger: Ledger, frontier: Frontier, before: MirrorSettings | None, now: MirrorSettings, at: float
) -> None:
    """What did not fit into smaller limits is asked for again. Before the new limits are remembered."""
    if before is None or not now.assets:
        return
    fits = set()
    if now.max_asset_size > before.max_asset_size:
        fits.add(Outcome.ASSET_TOO_LARGE)
    if now.max_assets_total > before.max_assets_total:
        fits.add(Outcome.ASSETS_FULL)
    urls = [record.url async for record in ledger.records(fits)] if fits else []
    await frontier.requeue(urls, at)


def _images_of(tree: MarkdownTree, page: UrlRecord) -> Iterable[str]:
    body = (tree.read_page(page.facts) or b"").partition(HEAD_END)[2].decode("utf-8", "replace")
    urls = (normalize(target, Preset.MIRROR) for target in image_targets(body) if "://" in target)
    return dict.fromkeys(filter(None, urls))


async def _batches(candidates: AsyncIterator[Candidate]) -> AsyncIterator[list[Candidate]]:
    batch: list[Candidate] = []
    async for candidate in candidates:
        batch.append(candidate)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch

"""After a crawl: links to what is here, pages or images and files, are pointed at it."""

from sumi.jobs.mirror.assets import assets_here
from sumi.jobs.mirror.local_links import LocalLinks
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.survey import pages_here
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Frontier, Ledger

BATCH = 500
MOVED = frozenset({Outcome.REDIRECTED, Outcome.DUPLICATE, Outcome.GONE})


async def link_pages(
    ledger: Ledger, frontier: Frontier, tree: MarkdownTree, *, to_pages: bool, to_assets: bool
) -> int:
    """Bring every file's links in line with what is here; how many files were rewritten."""
    links = await local_links(ledger, to_pages=to_pages, to_assets=to_assets)
    rewritten = 0
    amended: dict[str, PageFacts] = {}
    async for record in pages_here(ledger):
        data = tree.read_page(record.facts)
        if data is None:
            continue
        new, facts = links.applied(data, record.facts)
        if new != data:
            tree.replace_page(facts, new)
            rewritten += 1
        if facts != record.facts:  # also if a run was killed between writing the file and saying so
            amended[record.url] = facts
        if len(amended) >= BATCH:
            await _amend(amended, frontier, tree)
            amended = {}
    await _amend(amended, frontier, tree)
    return rewritten


async def _amend(amended: dict[str, PageFacts], frontier: Frontier, tree: MarkdownTree) -> None:
    if amended:
        await tree.sync()  # or a power cut could leave a record whose file did not arrive
        await frontier.amend(amended)


async def local_links(ledger: Ledger, *, to_pages: bool, to_assets: bool) -> LocalLinks:
    links = LocalLinks()
    targets: dict[str, str] = {}
    async for record in pages_here(ledger):
        links.learn(record, wanted=to_pages)
        if record.facts.source is not None:
            targets[record.facts.source] = record.url  # a site's own Markdown links to such
    async for record in assets_here(ledger):
        links.learn(record, wanted=to_assets)
    async for record in ledger.records(MOVED):
        links.learn(record)
        target = record.facts.location or record.facts.duplicate_of
        if target is not None:
            targets[record.url] = target
    links.learn_aliases(targets)
    return links

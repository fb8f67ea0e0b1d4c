"""After a crawl: links between mirrored pages are pointed at their files."""

from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.outputs.local_links import LocalLinks
from sumi.outputs.manifest import pages_here
from sumi.outputs.markdown_tree import MarkdownTree
from sumi.ports import Frontier, Ledger

BATCH = 500
MOVED = frozenset({Outcome.REDIRECTED, Outcome.DUPLICATE, Outcome.GONE})


async def link_pages(ledger: Ledger, frontier: Frontier, tree: MarkdownTree) -> int:
    """Bring every file's links in line with what is here; how many files were rewritten."""
    links = await local_links(ledger)
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
            await frontier.amend(amended)
            amended = {}
    await frontier.amend(amended)
    return rewritten


async def local_links(ledger: Ledger) -> LocalLinks:
    links = LocalLinks()
    async for record in pages_here(ledger):
        links.learn(record)
    async for record in ledger.records(MOVED):
        links.learn(record)
        target = record.facts.location or record.facts.duplicate_of
        if target is not None:
            links.learn_alias(record.url, target)
    return links

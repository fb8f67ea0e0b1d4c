"""One pass over a mirror's ledger: the counts and entries for its logs, manifest, contents and summary."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from sumi.files.segments import place_in
from sumi.jobs.mirror.update import Changes
from sumi.model import Kind
from sumi.outcomes import BY_ENDING, KEPT, Ending, Outcome
from sumi.ports import Ledger, UrlRecord
from sumi.urls.paths import INDEX

DONE = BY_ENDING[Ending.DONE]
FAILED = BY_ENDING[Ending.FAILED] - KEPT
ENDED = frozenset(Outcome) - {Outcome.PENDING}
# Pages of other sites and guessed sitemaps are not missing from the mirror.
_UNLISTED = frozenset((Outcome.OUT_OF_SCOPE, Outcome.ABSENT))
SKIPPED = BY_ENDING[Ending.PASSED_OVER] - _UNLISTED
# Sorts before every character of a file name, so that a folder's own page comes first, then the pages in it,
# then its neighbours.
STEP = "\0"


class Entry(NamedTuple):
    """A line of the contents."""

    folder: str  # with STEP between the names; of a page without a folder of its own, its name without .md
    title: str
    is_file: bool = False


async def stored_pages(ledger: Ledger) -> AsyncIterator[UrlRecord]:
    """Every page with a file: settled ones, and those that an unfinished update has yet to request."""
    async for record in ledger.records(KEPT | {Outcome.PENDING} if await _has_requeued(ledger) else KEPT):
        if is_stored_page(record):
            yield record


async def _has_requeued(ledger: Ledger) -> bool:
    """Usually not: then the pending records, most of a large crawl, need not be read."""
    async for _ in ledger.waiting_again():
        return True
    return False


async def counted_records(ledger: Ledger) -> AsyncIterator[UrlRecord]:
    """All records for ``Survey.add``: settled ones, then those that wait to be requested again."""
    async for record in ledger.records(ENDED):
        yield record
    async for record in ledger.waiting_again():
        yield record


def is_stored_page(record: UrlRecord) -> bool:
    facts, outcome = record.facts, record.outcome
    return not facts.asset and (outcome in KEPT or (outcome is Outcome.PENDING and facts.path is not None))


class Survey:
    def __init__(self, changes: Changes | None = None) -> None:
        self.pages = self.failed = self.skipped = self.assets = 0
        self.from_markdown = 0  # pages made from the site's own Markdown
        self.sitemap: str | None = None  # the first that was read
        self.last_settled: float | None = None
        self.changes = changes  # by the last update; None for a mirror that was never updated
        self.entries: list[Entry] = []

    def add(self, record: UrlRecord) -> None:
        if is_stored_page(record):
            self._add_page(record)
        elif record.outcome in FAILED:
            self.failed += 1
        elif record.outcome in SKIPPED:
            self.skipped += 1
        elif record.outcome is Outcome.READ and record.kind is Kind.SITEMAP and self.sitemap is None:
            self.sitemap = record.url
        self.assets += record.facts.asset
        if record.at is not None and record.outcome not in _UNLISTED:
            self.last_settled = max(record.at, self.last_settled or record.at)
        if self.changes is not None:
            self.changes.add(record)

    def remarks(self) -> tuple[str, ...]:
        """Notes for the summary."""
        notes = [] if self.changes is None else [self.changes.sentence()]
        if self.from_markdown:
            from_html = self.pages - self.from_markdown
            notes.append(
                f"source: {self.from_markdown:,} pages from the site's own Markdown, {from_html:,} from HTML"
            )
        return tuple(notes)

    def _add_page(self, record: UrlRecord) -> None:
        facts = record.facts
        self.pages += 1
        self.from_markdown += facts.source is not None
        if facts.path is not None and place_in(facts.path) is None:
            folder = facts.path.removesuffix(f"/{INDEX}")
            is_file = folder == facts.path
            name = (folder.removesuffix(".md") if is_file else folder).replace("/", STEP)
            self.entries.append(Entry(name, facts.title or "", is_file))

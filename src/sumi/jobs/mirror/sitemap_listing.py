"""``sumi sitemap``: lists the pages in a site's sitemaps that a mirror would take, without fetching them."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from sumi.assembly.parts import connected
from sumi.engine.control import Control, obeying_signals
from sumi.engine.crawl import Crawl
from sumi.engine.io import SystemClock
from sumi.errors import Interrupted
from sumi.events import Listener
from sumi.files.plain_text import markdown_text, markdown_url, one_line
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import MirrorSettings, given_settings
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import MEANINGS, Ending, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import Durability, FollowLinks
from sumi.ports import FrontierStats, Ledger, Output
from sumi.recipe import Job
from sumi.state.memory import MemoryStore
from sumi.urls import origin


class ListFormat(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    TEXT = "text"


class ReadSitemap(msgspec.Struct, frozen=True):
    url: str
    says: str  # what it holds, or what is wrong with it
    ok: bool


class ListedPage(msgspec.Struct, frozen=True):
    url: str
    sitemap: str | None


class Listing(msgspec.Struct, frozen=True):
    site: str
    sitemaps: list[ReadSitemap]
    pages: list[ListedPage]
    left_out: dict[str, int]  # listed pages that a mirror would not take, by outcome


async def sitemap(
    url: str | MirrorSettings,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    **settings: object,
) -> Listing:
    """``sumi sitemap``: the pages of the site's sitemaps that a mirror with these settings would take."""
    chosen = given_settings(url, settings)
    store = await run_in_memory(
        listing_job(chosen), NoOutput(), listeners, control or Control(), chosen.processes
    )
    return await read_listing(chosen.url, store)


def listing_job(settings: MirrorSettings) -> Job:
    job = mirror_job(settings)
    # Requested first, so that robots.txt is read; its Sitemap lines and the other usual places follow.
    first = Candidate(f"{origin(settings.url)}/sitemap.xml", Hop.GUESS, Kind.SITEMAP, referrer=settings.url)
    # The start page of a mirror is listed only if a sitemap lists it, like any other page.
    sitemaps = (seed for seed in job.recipe.seeds if seed.kind is Kind.SITEMAP)
    recipe = msgspec.structs.replace(
        job.recipe,
        job="sitemap",
        seeds=(*sitemaps, first),
        follow_links=FollowLinks.NEVER,
        list_only=True,
        max_pages=0,
        markdown=False,
        keep_raw=False,
        trust_dates=False,
    )
    frontier = msgspec.structs.replace(job.frontier, max_pages=0)
    return msgspec.structs.replace(job, recipe=recipe, frontier=frontier)


async def read_listing(site: str, ledger: Ledger) -> Listing:
    sitemaps: list[ReadSitemap] = []
    pages: list[ListedPage] = []
    left_out: dict[str, int] = {}
    async for record in ledger.records(None):
        if record.kind == "sitemap":
            if record.outcome is not Outcome.ABSENT:
                sitemaps.append(ReadSitemap(record.url, record.rule, record.outcome is Outcome.READ))
        elif record.outcome is Outcome.LISTED:
            pages.append(ListedPage(record.url, record.referrer))
        elif MEANINGS[record.outcome].ending is Ending.PASSED_OVER:
            left_out[record.outcome.value] = left_out.get(record.outcome.value, 0) + 1
    return Listing(site, sitemaps, pages, left_out)


def format_listing(listing: Listing, form: ListFormat) -> str:
    match form:
        case ListFormat.JSON:
            return msgspec.json.format(msgspec.json.encode(listing), indent=2).decode() + "\n"
        case ListFormat.TEXT:
            return "".join(f"{one_line(page.url)}\n" for page in listing.pages)
        case ListFormat.MARKDOWN:
            return _markdown(listing)


def _markdown(listing: Listing) -> str:
    lines = [f"# {markdown_text(listing.site)}", "", f"{_counted(len(listing.pages), 'page')} listed.", ""]
    lines += [f"- {markdown_url(sitemap.url)}: {markdown_text(sitemap.says)}" for sitemap in listing.sitemaps]
    if listing.left_out:
        words = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in listing.left_out.items())
        lines += ["", f"Left out: {words}."]
    lines += ["", "## Pages", "", *(f"- {markdown_url(page.url)}" for page in listing.pages), ""]
    return "\n".join(lines)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


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


async def run_in_memory(
    job: Job, output: Output, listeners: Sequence[Listener], control: Control, processes: int | None
) -> MemoryStore:
    """Run a job without writing files, and return its store. Raises Interrupted if it was stopped: half a
    result would be misleading."""
    clock = SystemClock()
    store = MemoryStore(job.frontier, clock.now())
    async with connected(job, store, output, clock, listeners, processes, must_reach=True) as io:
        with obeying_signals(control):
            await Crawl(job.recipe, io, control, Durability.BATCH).run()
    if control.was_stopped:
        raise Interrupted("interrupted before the end: run the same command again")
    return store

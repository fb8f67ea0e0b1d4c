"""``sumi plan``: estimates the pages, the time and the size of a mirror from a sample."""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from statistics import fmean

import msgspec

from sumi.engine.control import Control, RunState
from sumi.events import Listener
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import MirrorSettings, given_settings
from sumi.jobs.mirror.sitemap_listing import (
    ListedPage,
    Listing,
    NoOutput,
    ReadSitemap,
    run_in_memory,
    sitemap,
)
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import BY_ENDING, Ending, Outcome
from sumi.parse.page.digest import PageDigest
from sumi.parse.page.javascript import needs_javascript
from sumi.parse.page.metadata import framework_of
from sumi.policy import FollowLinks, PacingPolicy, RobotsPolicy
from sumi.ports import Ledger
from sumi.recipe import Job
from sumi.robots import parse_robots, product_token, robots_verdict
from sumi.urls import origin

# A page is a file in its own folder, and so is its stored body; a folder takes a block too.
BLOCK = 4096
SAMPLE_DEPTH = 2  # without a sitemap, the sample is the first linked pages


class SampledPage(msgspec.Struct, frozen=True):
    url: str
    body_bytes: int
    markdown_bytes: int
    stored_bytes: int
    latency_ms: int
    framework: str
    javascript: str  # why the page needs it; "" if it does not
    fidelity: float | None


class RobotsPlan(msgspec.Struct, frozen=True):
    meaning: str  # what the robots.txt, or its absence, means for us
    rules_for: str  # the user agent of the rules that apply; "" for none
    crawl_delay: float | None
    content_signals: tuple[str, ...]
    sitemaps: int


class Plan(msgspec.Struct, frozen=True):
    site: str
    pages: int | None  # None: there is no sitemap
    would_fetch: int | None  # at most --max-pages of them
    sitemaps: list[ReadSitemap]
    left_out: dict[str, int]
    unlisted: int  # pages linked from the sample that no sitemap lists: by default not mirrored
    robots: RobotsPlan
    sampled: list[SampledPage]
    failed: dict[str, int]  # pages of the sample, by outcome
    framework: str
    need_javascript: int
    seconds_between_requests: float
    least_seconds: float | None
    disk_bytes: int | None
    inodes: int | None


async def plan(
    url: str | MirrorSettings,
    *,
    sample: int = 12,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    **settings: object,
) -> Plan:
    """``sumi plan``: estimate a mirror with these settings from the site's sitemaps and ``sample`` of its
    pages."""
    chosen, control = given_settings(url, settings), control or Control()
    listing = await sitemap(chosen, listeners=listeners, control=_linked(control))
    output = SampleOutput()
    job = sampling_job(chosen, listing.pages, sample)
    store = await run_in_memory(job, output, listeners, _linked(control), chosen.processes)
    return await make_plan(chosen, job, listing, output, store)


def _linked(control: Control) -> Control:
    """A control for one of the two crawls of a plan, which follows the caller's: a control serves a single
    crawl."""
    own = Control()

    def pass_on(state: RunState, why: str) -> None:
        if state is RunState.PAUSED:
            own.pause(why)
        elif state is RunState.RUNNING:
            own.resume(why)
        else:
            own.stop(why)

    control.watch(pass_on)
    if control.state is not RunState.RUNNING:
        pass_on(control.state, "")
    return own


class SampleOutput(NoOutput):
    """Measures each page and drops it."""

    def __init__(self) -> None:
        self.pages: list[SampledPage] = []

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        self.pages.append(
            SampledPage(
                url=lease.url,
                body_bytes=len(response.body),
                markdown_bytes=len((digest.markdown or "").encode("utf-8", "replace")),
                stored_bytes=len(digest.raw),
                latency_ms=round(response.timing.latency * 1000),
                framework=framework_of(response.body),
                javascript=needs_javascript(response.body),
                fidelity=digest.fidelity,
            )
        )
        return await super().accept(lease, response, digest)


def sampling_job(settings: MirrorSettings, listed: Sequence[ListedPage], size: int) -> Job:
    """A few pages spread over the list; without a list, the first linked pages."""
    job = mirror_job(settings)
    step = max(1, ceil(len(listed) / size))
    urls = [page.url for page in listed[::step]] or [settings.url]
    recipe = msgspec.structs.replace(
        job.recipe,
        job="plan",
        seeds=tuple(Candidate(url, Hop.SEED) for url in urls),
        follow_links=FollowLinks.NEVER if listed else FollowLinks.ALWAYS,
        scope=msgspec.structs.replace(job.recipe.scope, max_depth=SAMPLE_DEPTH),
        find_sitemaps=False,
        max_pages=size,
        keep_raw=True,
    )
    frontier = msgspec.structs.replace(job.frontier, max_pages=size, sitemaps_first=False)
    return msgspec.structs.replace(job, recipe=recipe, frontier=frontier)


async def make_plan(
    settings: MirrorSettings, job: Job, listing: Listing, sample: SampleOutput, ledger: Ledger
) -> Plan:
    robots = await _robots(ledger, settings.url, job.recipe.robots, job.recipe.user_agent)
    pages = len(listing.pages) or None
    wanted = min(pages, settings.max_pages) if pages and settings.max_pages else pages
    pause = max(job.recipe.pacing.delay, robots.crawl_delay or 0.0)
    per_page = _seconds_per_page(pause, sample, job.recipe.pacing)
    made_by = Counter(page.framework for page in sample.pages if page.framework)
    return Plan(
        site=settings.url,
        pages=pages,
        would_fetch=wanted,
        sitemaps=listing.sitemaps,
        left_out=listing.left_out,
        unlisted=await _unlisted(ledger, listing),
        robots=robots,
        sampled=sample.pages,
        failed=await _failures(ledger),
        framework=made_by.most_common(1)[0][0] if made_by else "",
        need_javascript=sum(bool(page.javascript) for page in sample.pages),
        seconds_between_requests=pause,
        least_seconds=None if wanted is None else wanted * per_page,
        disk_bytes=None if wanted is None or not sample.pages else wanted * _bytes_per_page(settings, sample),
        inodes=None if wanted is None else wanted * 2,  # a folder and a file each
    )


async def _robots(ledger: Ledger, url: str, policy: RobotsPolicy, agent: str) -> RobotsPlan:
    record = await ledger.get_robots(origin(url))
    if record is None:
        return RobotsPlan("robots.txt was not read", "", None, (), 0)
    verdict = robots_verdict(record.status, policy)
    file = parse_robots(record.body if record.status == 200 else b"", policy.max_bytes)
    rules = file.rules_for(product_token(agent))
    return RobotsPlan(
        verdict.meaning, rules.agent, rules.crawl_delay, rules.content_signals, len(file.sitemaps)
    )


async def _unlisted(ledger: Ledger, listing: Listing) -> int:
    listed = {page.url for page in listing.pages}
    linked = [record.url async for record in ledger.records((Outcome.UNLISTED,)) if record.kind is Kind.PAGE]
    return sum(url not in listed for url in linked) if listed else 0


async def _failures(ledger: Ledger) -> dict[str, int]:
    refused = BY_ENDING[Ending.FAILED] | {Outcome.NOT_HTML, Outcome.ROBOTS_DENIED}
    return dict(Counter([record.outcome.value async for record in ledger.records(refused)]))


def _seconds_per_page(pause: float, sample: SampleOutput, pacing: PacingPolicy) -> float:
    if pause:
        return pause
    latency = fmean([page.latency_ms for page in sample.pages]) / 1000 if sample.pages else 0.0
    return latency / max(1, pacing.per_host)


def _bytes_per_page(settings: MirrorSettings, sample: SampleOutput) -> int:
    kept = [_on_disk(page.markdown_bytes) for page in sample.pages]
    if settings.raw:
        kept += [_on_disk(page.stored_bytes) for page in sample.pages]
    return sum(kept) // len(sample.pages)


def _on_disk(size: int) -> int:
    return (ceil(size / BLOCK) + 1) * BLOCK

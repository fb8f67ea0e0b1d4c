"""Capture: the pages under a few base URLs, each text once, kept for later. What that means, as data."""

from sumi.assembly.connection import (
    limits_of,
    network_of,
    notes_of,
    pacing_of,
    parse_limits_of,
    render_of,
    traps_of,
)
from sumi.jobs.capture.settings import CaptureSettings
from sumi.model import Candidate, Hop
from sumi.policy import FrontierPolicy, PacingPolicy, Preset, RetryPolicy, RobotsPolicy, UrlLimits
from sumi.recipe import Job, Recipe
from sumi.scope import Scope


def capture_job(settings: CaptureSettings) -> Job:
    shared = settings.connection
    pacing = _pacing(settings)
    # Each base has its own limit; the sum tells when all of them are reached.
    most = settings.limit * len(settings.urls)
    recipe = Recipe(
        job="capture",
        seeds=tuple(
            Candidate(url, Hop.SEED, address="" if written == url else written)
            for url, written in zip(settings.urls, settings.written, strict=True)
        ),
        preset=Preset.CAPTURE,
        scope=capture_scope(settings),
        user_agent=shared.agent,
        robots=RobotsPolicy(respect=shared.respect_robots, on_error=shared.robots_on_error),
        pacing=pacing,
        retry=RetryPolicy(retries=shared.retries),
        urls=UrlLimits(shared.max_url_length, shared.max_redirects, shared.max_links),
        find_sitemaps=True,
        concurrency=settings.workers,
        max_pages=most,
        pages_per_base=settings.limit,
        markdown=True,
        traps=traps_of(shared),
        parse=parse_limits_of(shared),
        keep_raw=shared.raw,
        keep_duplicates=False,
        titles_count=False,
        trust_dates=False,  # a job asks for each page once
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(pacing=pacing, max_pages=most),
        network=network_of(shared, settings.urls, settings.passwords),
        limits=limits_of(shared),
        notes=notes_of(shared),
        render=render_of(shared),
    )


def capture_scope(settings: CaptureSettings) -> Scope:
    shared = settings.connection
    return Scope(
        bases=settings.urls,
        external_hops=settings.external_hops,
        loose_paths=shared.loose_paths,
        include=shared.include,
        exclude=shared.exclude,
    )


def _pacing(settings: CaptureSettings) -> PacingPolicy:
    """The workers share one pause between requests to a host: more of them make slow pages no hindrance, and
    no host is asked more often."""
    shared = pacing_of(settings.connection)
    return PacingPolicy(
        delay=shared.delay,
        manifest_delay=shared.manifest_delay,
        per_host=settings.workers,
        host_budget=shared.host_budget,
        max_crawl_delay=shared.max_crawl_delay,
        max_hold=shared.max_hold,
    )

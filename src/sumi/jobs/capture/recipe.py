"""Turns the settings of a capture into a job: the pages under the base URLs, each text once."""

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
from sumi.policy import FollowLinks, FrontierPolicy, Preset, RetryPolicy, RobotsPolicy, UrlLimits
from sumi.recipe import Job, Recipe
from sumi.scope import Scope
from sumi.scope.caps import CapPolicy


def capture_job(settings: CaptureSettings) -> Job:
    # The workers share one delay between requests to a host: more of them keep slow pages from blocking the
    # others, but do not send more requests.
    pacing = pacing_of(settings, per_host=settings.workers)
    # Each base URL has its own limit; at their sum all of them are reached.
    most = settings.limit * len(settings.urls)
    recipe = Recipe(
        job="capture",
        seeds=tuple(
            Candidate(url, Hop.SEED, address="" if written == url else written)
            for url, written in zip(settings.urls, settings.written, strict=True)
            if not settings.urls_from
        ),
        preset=Preset.CAPTURE,
        scope=capture_scope(settings),
        user_agent=settings.agent,
        robots=RobotsPolicy(respect=settings.respect_robots, on_error=settings.robots_on_error),
        pacing=pacing,
        retry=RetryPolicy(retries=settings.retries),
        urls=UrlLimits(settings.max_url_length, settings.max_redirects, settings.max_links),
        follow_links=FollowLinks.NEVER if settings.urls_from else FollowLinks.ALWAYS,
        find_sitemaps=not settings.urls_from,
        concurrency=settings.workers,
        max_pages=most,
        pages_per_base=settings.limit,
        markdown=True,
        traps=traps_of(settings),
        caps=CapPolicy(under=settings.path_budgets),
        parse=parse_limits_of(settings),
        keep_raw=settings.raw,
        keep_duplicates=False,
        titles_count=False,
        trust_dates=False,  # a job requests each page once
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(pacing=pacing, max_pages=most),
        network=network_of(settings, settings.urls, settings.passwords),
        limits=limits_of(settings),
        notes=notes_of(settings),
        render=render_of(settings),
    )


def capture_scope(settings: CaptureSettings) -> Scope:
    return Scope(
        bases=settings.urls,
        external_hops=settings.external_hops,
        loose_paths=settings.loose_paths,
        include=settings.include,
        exclude=settings.excluded,
    )

"""Mirror: a site becomes a tree of Markdown. What that means, as data."""

from pathlib import PurePosixPath

import msgspec

from sumi.fetch.guard import open_host_for
from sumi.model import Candidate, Hop
from sumi.policy import (
    FetchLimits,
    FollowLinks,
    FrontierPolicy,
    NetworkPolicy,
    PacingPolicy,
    Preset,
    RetryPolicy,
    RobotsOnError,
    RobotsPolicy,
)
from sumi.recipe import Recipe
from sumi.scope import build_scope, default_hosts_for
from sumi.settings import MirrorSettings
from sumi.urls import split
from sumi.urls.paths import host_folder


class MirrorJob(msgspec.Struct, frozen=True):
    recipe: Recipe
    frontier: FrontierPolicy
    network: NetworkPolicy
    limits: FetchLimits
    home: str  # the host folder that holds the manifest and the state
    notes: tuple[str, ...]  # what the user should know before it starts


def mirror_job(settings: MirrorSettings) -> MirrorJob:
    seed = Candidate(settings.url, Hop.SEED)
    recipe = Recipe(
        job="mirror",
        seeds=(seed,),
        preset=Preset.MIRROR,
        scope=build_scope(
            hosts=(*default_hosts_for(seed.url), *settings.hosts),
            paths=_path_prefixes(seed.url),
            loose_paths=settings.loose_paths,
            include=settings.include,
            exclude=settings.exclude,
            max_depth=settings.max_depth,
        ),
        user_agent=settings.agent,
        robots=RobotsPolicy(respect=settings.respect_robots, on_error=settings.robots_on_error),
        pacing=_pacing(settings),
        retry=RetryPolicy(retries=settings.retries),
        follow_links=FollowLinks.ALWAYS if settings.follow_links else FollowLinks.UNLESS_SITEMAP,
        find_sitemaps=True,
        concurrency=settings.concurrency,
        max_pages=settings.max_pages,
        markdown=True,
    )
    return MirrorJob(
        recipe=recipe,
        frontier=FrontierPolicy(
            pacing=recipe.pacing,
            max_pages=recipe.max_pages,
            sitemaps_first=recipe.follow_links is FollowLinks.UNLESS_SITEMAP,
        ),
        network=_network(settings),
        limits=FetchLimits(total=settings.timeout, body_bytes=settings.max_body),
        home=host_folder(seed.url),
        notes=_notes(settings),
    )


def _path_prefixes(seed_url: str) -> tuple[str, ...]:
    """What lies below the seed: ``/guide`` for ``/guide/intro.html``; the root takes everything."""
    path = PurePosixPath(split(seed_url).path)
    folder = path.parent if path.suffix else path
    return () if str(folder) == "/" else (str(folder),)


def _pacing(settings: MirrorSettings) -> PacingPolicy:
    return PacingPolicy(
        delay=_seconds_between(settings.page_rate),
        manifest_delay=_seconds_between(settings.rate_limit),
        per_host=settings.requests_per_host,
    )


def _seconds_between(requests_per_second: float) -> float:
    return 1.0 / requests_per_second if requests_per_second else 0.0


def _network(settings: MirrorSettings) -> NetworkPolicy:
    private = open_host_for(settings.url)
    return NetworkPolicy(
        user_agent=settings.agent,
        allow_private=settings.allow_private,
        resolve=settings.pinned_addresses,
        open_hosts=frozenset({private} if private else ()),
        ca_file=settings.ca_file,
    )


def _notes(settings: MirrorSettings) -> tuple[str, ...]:
    notes = []
    if not settings.respect_robots:
        notes.append("robots.txt is not respected (--no-respect-robots)")
    if settings.robots_on_error is not RobotsOnError.RFC9309:
        notes.append(f"an unreachable robots.txt means: {settings.robots_on_error}")
    if settings.allow_private:
        notes.append("private addresses may be contacted (--allow-private)")
    return tuple(notes)

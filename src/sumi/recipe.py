"""What a job is: data. If the engine ever needs ``if job == …``, this is what lacks a field."""

import msgspec

from sumi.model import Candidate
from sumi.policy import (
    FetchLimits,
    FollowLinks,
    FrontierPolicy,
    NetworkPolicy,
    PacingPolicy,
    ParseLimits,
    Preset,
    RetryPolicy,
    RobotsPolicy,
    TrapPolicy,
    UrlLimits,
)
from sumi.scope import Scope


class Recipe(msgspec.Struct, frozen=True):
    job: str
    seeds: tuple[Candidate, ...]
    preset: Preset
    scope: Scope
    user_agent: str
    robots: RobotsPolicy = RobotsPolicy()
    pacing: PacingPolicy = PacingPolicy()
    retry: RetryPolicy = RetryPolicy()
    urls: UrlLimits = UrlLimits()
    follow_links: FollowLinks = FollowLinks.ALWAYS
    find_sitemaps: bool = False  # robots.txt's Sitemap lines and the usual places become candidates
    concurrency: int = 16  # pages in flight at once, over all hosts
    max_pages: int = 0  # captured pages; 0 = no limit
    markdown: bool = False  # the digest converts pages to Markdown
    traps: TrapPolicy = TrapPolicy()
    parse: ParseLimits = ParseLimits()
    keep_duplicates: bool = True  # False: of pages with the same title and text only the first is kept


class Job(msgspec.Struct, frozen=True):
    """A recipe with everything around it that a run is assembled from."""

    recipe: Recipe
    frontier: FrontierPolicy
    network: NetworkPolicy
    limits: FetchLimits
    notes: tuple[str, ...] = ()  # what the user should know before it starts

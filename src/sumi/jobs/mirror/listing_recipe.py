"""What a mirror would take, without taking it: the sitemaps of a site are read, its pages are not."""

import msgspec

from sumi.jobs.mirror.recipe import mirror_job
from sumi.model import Candidate, Hop, Kind
from sumi.policy import FollowLinks
from sumi.recipe import Job
from sumi.settings import MirrorSettings
from sumi.urls import origin


def listing_job(settings: MirrorSettings) -> Job:
    job = mirror_job(settings)
    # Asked for first, so that robots.txt is read, whose Sitemap lines and the other usual places follow.
    first = Candidate(f"{origin(settings.url)}/sitemap.xml", Hop.GUESS, Kind.SITEMAP, referrer=settings.url)
    # The page that a mirror would start from is listed if a sitemap lists it, as any other.
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

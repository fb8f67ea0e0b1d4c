"""Everything the commands do, from Python: each job is one awaitable that returns its summary.

``listeners`` are called with every event of ``sumi.events``; a ``Control`` pauses, resumes and stops the run.
What a user would be told as an error is raised as a ``sumi.errors.SumiError``; trouble on the web never is.
"""

from collections.abc import Sequence

from sumi.engine.control import Control
from sumi.events import Listener, Summary
from sumi.jobs.map.config import MapConfig
from sumi.jobs.map.config_file import load_map_config
from sumi.jobs.map.run import MapRequest
from sumi.jobs.map.run import map_domains as _map_terrain
from sumi.jobs.mirror.listing import Listing
from sumi.jobs.mirror.listing import list_site as _list_site
from sumi.jobs.mirror.plan import Plan
from sumi.jobs.mirror.plan import plan_site as _plan_site
from sumi.jobs.mirror.run import mirror as _mirror
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.crawl import CrawlOptions
from sumi.jobs.pipeline.crawl import crawl as _crawl
from sumi.jobs.pipeline.scrape import ScrapeOptions
from sumi.jobs.pipeline.scrape import scrape as _scrape
from sumi.settings import MirrorSettings

__all__ = [
    "Control",
    "CrawlConfig",
    "CrawlOptions",
    "Listing",
    "MapConfig",
    "MapRequest",
    "MirrorSettings",
    "Plan",
    "ScrapeOptions",
    "Summary",
    "crawl",
    "list_site",
    "load_crawl_config",
    "load_map_config",
    "map_terrain",
    "mirror",
    "plan_site",
    "scrape",
]


async def mirror(
    settings: MirrorSettings, *, listeners: Sequence[Listener] = (), control: Control | None = None
) -> Summary:
    """``sumi mirror``: a site as a tree of Markdown."""
    return await _mirror(settings, listeners, control or Control())


async def plan_site(
    settings: MirrorSettings,
    *,
    sample: int = 12,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
) -> Plan:
    """``sumi plan``: what a mirror with these settings would be like."""
    return await _plan_site(settings, sample, listeners, control or Control())


async def list_site(
    settings: MirrorSettings, *, listeners: Sequence[Listener] = (), control: Control | None = None
) -> Listing:
    """``sumi sitemap``: the pages that a mirror with these settings would take from the sitemaps."""
    return await _list_site(settings, listeners, control or Control())


async def crawl(
    config: CrawlConfig,
    options: CrawlOptions | None = None,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
) -> Summary:
    """``sumi crawl run``; with ``CrawlOptions(unified=True)``, ``sumi run --unified``."""
    return await _crawl(config, options or CrawlOptions(), listeners, control or Control())


async def scrape(
    config: CrawlConfig,
    options: ScrapeOptions | None = None,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
) -> Summary:
    """``sumi scrape run``: archive what a crawler found."""
    return await _scrape(config, options or ScrapeOptions(), listeners, control or Control())


async def map_terrain(
    config: MapConfig,
    request: MapRequest | None = None,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
) -> Summary:
    """``sumi map``: the link terrain around chosen domains, into the configuration's database."""
    return await _map_terrain(config, listeners, control or Control(), request or MapRequest())

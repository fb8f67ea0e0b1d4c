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
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.crawl import CrawlOptions
from sumi.jobs.pipeline.crawl import crawl as _crawl
from sumi.jobs.pipeline.scrape import ScrapeOptions
from sumi.jobs.pipeline.scrape import scrape as _scrape

__all__ = [
    "Control",
    "CrawlConfig",
    "CrawlOptions",
    "MapConfig",
    "MapRequest",
    "ScrapeOptions",
    "Summary",
    "crawl",
    "load_crawl_config",
    "load_map_config",
    "map_terrain",
    "scrape",
]


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

"""Crawl4AI on the site, with its HTTP strategy: ``python -m benchmarks.peers.crawl4ai_site ORIGIN OUTPUT``.

No browser, no cache, its own Markdown generator, links as it reports them. It takes lists of URLs: each list
is what the last one led to.
"""

import asyncio
import sys
from pathlib import Path

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.async_dispatcher import MemoryAdaptiveDispatcher

from benchmarks.peers.kept_pages import CONCURRENCY, KeptPages, wanted


async def crawl(origin: str, output: Path) -> None:
    pages = KeptPages(origin, output, ".md")
    strategy = AsyncHTTPCrawlerStrategy(browser_config=HTTPCrawlerConfig(), max_connections=CONCURRENCY)
    config = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, check_robots_txt=False, verbose=False, stream=True)
    dispatcher = MemoryAdaptiveDispatcher(max_session_permit=CONCURRENCY)
    waiting = [f"{origin}/index.html"]
    known = set(waiting)
    async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:
        while waiting:
            found: set[str] = set()
            async for result in await crawler.arun_many(waiting, config=config, dispatcher=dispatcher):
                if not result.success or result.status_code != 200:
                    continue
                links = {wanted(origin, link["href"]) for link in result.links["internal"]} - {""}
                pages.keep(result.url, result.markdown.raw_markdown.encode("utf-8", "replace"))
                pages.keep_links(result.url, links)
                found |= links
            waiting = list(found - known)
            known |= found


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], Path(sys.argv[2])))

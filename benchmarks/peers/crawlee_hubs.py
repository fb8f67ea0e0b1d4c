"""Crawlee for Python on the site of hubs: ``python -m benchmarks.peers.crawlee_hubs ORIGIN OUTPUT``.

Storage in files, not emptied at the start, so that the same command goes on after an interruption.
"""

import asyncio
import logging
import sys
from urllib.parse import urljoin

from crawlee import ConcurrencySettings, service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient

from benchmarks.peers.kept_pages import CONCURRENCY


async def crawl(origin: str, output: str) -> None:
    service_locator.set_configuration(Configuration(storage_dir=output, purge_on_start=False))
    service_locator.set_storage_client(FileSystemStorageClient())
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENCY, desired_concurrency=CONCURRENCY, max_concurrency=CONCURRENCY
        ),
        max_request_retries=0,
        respect_robots_txt_file=False,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        hrefs = context.selector.xpath("//a/@href").getall()
        links = [urljoin(context.request.url, href) for href in hrefs]
        hubs = [link for link in links if "/hub-" in link]
        await context.add_requests(hubs, forefront=True)
        await context.add_requests([link for link in links if "/hub-" not in link])

    await crawler.run([f"{origin}/index.html"])


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run(crawl(sys.argv[1], sys.argv[2]))

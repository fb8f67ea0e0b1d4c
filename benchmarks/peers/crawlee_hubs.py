"""Crawlee for Python on the site of hubs: ``python -m benchmarks.peers.crawlee_hubs ORIGIN OUTPUT``.

Storage in files, not emptied at the start, so that the same command goes on after an interruption.
"""

import asyncio
import logging
import sys
from urllib.parse import urljoin

from crawlee import service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient

from benchmarks.peers.crawlee_alike import parsel_crawler


async def crawl(origin: str, output: str) -> None:
    service_locator.set_configuration(Configuration(storage_dir=output, purge_on_start=False))
    service_locator.set_storage_client(FileSystemStorageClient())
    crawler = parsel_crawler()

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

"""Crawlee for Python on the site: ``python -m benchmarks.peers.crawlee_site raw|turbohtml ORIGIN OUTPUT``.

Parsel, the faster of its two parsers, and storage in memory, which spares it a file for every request.
"""

import asyncio
import logging
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin

from crawlee import service_locator
from crawlee.crawlers import ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from benchmarks.peers.crawlee_alike import parsel_crawler
from benchmarks.peers.kept_pages import KeptPages, wanted


async def crawl(keep: str, origin: str, output: Path) -> None:
    service_locator.set_storage_client(MemoryStorageClient())
    pages = KeptPages(origin, output, ".md" if keep == "turbohtml" else "")
    crawler = parsel_crawler(statistics_log_format="inline", request_handler_timeout=timedelta(minutes=5))

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        body = await context.http_response.read()
        base = context.request.url
        hrefs = context.selector.xpath("//a/@href").getall()
        links = {url for href in hrefs if (url := wanted(origin, urljoin(base, href.strip())))}
        pages.keep(base, converted(body) if keep == "turbohtml" else body)
        pages.keep_links(base, links)
        await context.add_requests(sorted(links))

    await crawler.run([f"{origin}/index.html"])


def converted(body: bytes) -> bytes:
    import turbohtml

    return turbohtml.parse(body, positions=False).to_markdown().encode("utf-8", "replace")


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run(crawl(sys.argv[1], sys.argv[2], Path(sys.argv[3])))

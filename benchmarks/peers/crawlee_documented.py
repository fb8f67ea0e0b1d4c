"""Crawlee for Python as its documentation shows it, with the arguments of benchmarks.peers.crawlee_site.

Parsel, ``extract_links`` with a pattern, ``enqueue_links``, and the default storage: files on disk, emptied
at the start, so that the queue of requests outlives the process. Only what all contenders share is set:
sixteen requests at once, no retries, no robots.txt, no logs.
"""

import asyncio
import logging
import re
import sys
from pathlib import Path

from crawlee import service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawlingContext

from benchmarks.peers.crawlee_alike import parsel_crawler
from benchmarks.peers.crawlee_site import converted
from benchmarks.peers.kept_pages import KeptPages


async def crawl(keep: str, origin: str, output: Path) -> None:
    service_locator.set_configuration(Configuration(storage_dir=str(output / "storage"), purge_on_start=True))
    pages = KeptPages(origin, output, ".md" if keep == "turbohtml" else "")
    of_the_job = re.compile(rf"{re.escape(origin)}/[^?]*\.html(#.*)?$")
    crawler = parsel_crawler()

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        body = await context.http_response.read()
        url = context.request.url.partition("#")[0]
        links = await context.extract_links(include=[of_the_job])
        pages.keep(url, converted(body) if keep == "turbohtml" else body)
        pages.keep_links(url, {link.url.partition("#")[0] for link in links})
        await context.enqueue_links(requests=links)

    await crawler.run([f"{origin}/index.html"])


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run(crawl(sys.argv[1], sys.argv[2], Path(sys.argv[3])))

"""Scrapy as its tutorial shows it: ``python -m benchmarks.peers.scrapy_tutorial ORIGIN OUTPUT``.

Links by a CSS selector and ``response.follow``, Scrapy's own filter of known requests, its default settings
but for those that all contenders share: sixteen requests at once, no delay, no robots.txt, no logs.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.peers.kept_pages import CONCURRENCY, KeptPages, wanted

SETTINGS = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "LOG_LEVEL": "CRITICAL",
}


class TutorialSpider(scrapy.Spider):
    name = "tutorial"

    def __init__(self, origin: str, output: str) -> None:
        super().__init__()
        self._origin = origin
        self._pages = KeptPages(origin, Path(output))
        self.start_urls = [f"{origin}/index.html"]

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        self._pages.keep(response.url, response.body)
        links = set()
        for href in response.css("a::attr(href)").getall():
            request = self._request(response, href)
            if request is not None:
                links.add(request.url)
                yield request
        self._pages.keep_links(response.url, links)

    def _request(self, response: Response, href: str) -> scrapy.Request | None:
        """None if the link leads out of the job, or is none."""
        try:
            url = wanted(self._origin, response.urljoin(href.strip()))
        except ValueError:
            return None
        return response.follow(url, callback=self.parse) if url else None


def main() -> None:
    process = CrawlerProcess(SETTINGS)
    process.crawl(TutorialSpider, *sys.argv[1:3])
    process.start()


if __name__ == "__main__":
    main()

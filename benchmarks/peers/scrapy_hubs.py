"""Scrapy with a JOBDIR on the site of hubs: ``python -m benchmarks.peers.scrapy_hubs ORIGIN OUTPUT``.

The same command goes on after an interruption. Hubs first, so that everything is known early.
"""

import sys
from collections.abc import Iterator
from urllib.parse import urljoin

import lxml.html
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.peers.scrapy_site import SETTINGS


class HubSpider(scrapy.Spider):
    name = "hubs"

    def __init__(self, origin: str) -> None:
        super().__init__()
        self.start_urls = [f"{origin}/index.html"]

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        for href in lxml.html.document_fromstring(response.body).xpath("//a/@href"):
            yield scrapy.Request(urljoin(response.url, str(href)), priority=int("/hub-" in str(href)))


def main() -> None:
    process = CrawlerProcess(SETTINGS | {"JOBDIR": sys.argv[2]})
    process.crawl(HubSpider, sys.argv[1])
    process.start()


if __name__ == "__main__":
    main()

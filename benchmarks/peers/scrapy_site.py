"""Scrapy on the site: ``python -m benchmarks.peers.scrapy_site KEEP ORIGIN OUTPUT``, KEEP as in the table.

Tuned as its pages on broad crawls and settings advise, and beyond: what the job does not need is off, links
come from lxml directly rather than through selectors, and known URLs are kept in a set of the spider's own,
which costs half of what Scrapy's filter of request fingerprints does.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin

import lxml.html
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.peers.kept_pages import CONCURRENCY, KeptPages, wanted

SETTINGS = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "HTTPERROR_ALLOWED_CODES": [404],
    "LOG_LEVEL": "ERROR",
    "EXTENSIONS": {"scrapy.extensions.memusage.MemoryUsage": None},
}


def unchanged(body: bytes) -> bytes:
    return body


def by_markdownify(body: bytes) -> bytes:
    from markdownify import markdownify

    text: str = markdownify(body.decode("utf-8", "replace"))
    return text.encode("utf-8", "replace")


def by_turbohtml(body: bytes) -> bytes:
    import turbohtml

    return turbohtml.parse(body, positions=False).to_markdown().encode("utf-8", "replace")


KEEP: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "raw": (unchanged, ""),
    "markdownify": (by_markdownify, ".md"),
    "turbohtml": (by_turbohtml, ".md"),
}


class SiteSpider(scrapy.Spider):
    name = "site"

    def __init__(self, keep: str, origin: str, output: str) -> None:
        super().__init__()
        self._origin = origin
        self._convert, suffix = KEEP[keep]
        self._pages = KeptPages(origin, Path(output), suffix)
        self.start_urls = [f"{origin}/index.html"]
        self._known = set(self.start_urls)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if response.status != 200:
            return
        base = response.url
        hrefs = (str(href) for href in lxml.html.document_fromstring(response.body).xpath("//a/@href"))
        links = {url for href in hrefs if (url := wanted(self._origin, urljoin(base, href.strip())))}
        self._pages.keep(base, self._convert(response.body))
        self._pages.keep_links(base, links)
        for url in links - self._known:
            self._known.add(url)
            yield scrapy.Request(url, dont_filter=True)


def main() -> None:
    process = CrawlerProcess(SETTINGS)
    process.crawl(SiteSpider, *sys.argv[1:4])
    process.start()


if __name__ == "__main__":
    main()

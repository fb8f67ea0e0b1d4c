"""Scrapy writing a computed web's links to SQLite: ``python -m benchmarks.peers.scrapy_edges PAGES OUTPUT``.

Nothing is fetched or parsed, as in benchmarks.map: a middleware answers, the spider computes the links.
Edges go into SQLite in large transactions; there are no distances, no states and no queue that survives.
"""

import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.computed_web import ComputedWeb
from benchmarks.peers.scrapy_site import SETTINGS

DOMAINS, LINKS, BATCH = 5_000, 10, 200  # of benchmarks.map; pages in one transaction


class Answering:
    """In place of the network."""

    def process_request(self, request: scrapy.Request) -> Response:
        return Response(request.url, body=request.url.rpartition("/")[2].encode())


class EdgeSpider(scrapy.Spider):
    name = "edges"

    def __init__(self, pages: str, output: str) -> None:
        super().__init__()
        self._web = ComputedWeb(int(pages), DOMAINS, LINKS)
        Path(output).mkdir(parents=True)
        self._db = sqlite3.connect(Path(output) / "edges.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("CREATE TABLE pages (url TEXT PRIMARY KEY)")
        self._db.execute("CREATE TABLE links (source TEXT, target TEXT, PRIMARY KEY (source, target))")
        self._waiting: list[tuple[str, list[str]]] = []
        self._known = {self._web.url(0)}

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self._web.url(0), dont_filter=True)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        targets = self._web.targets(int(response.body))
        self._waiting.append((response.url, targets))
        if len(self._waiting) >= BATCH:
            self._write()
        for url in targets:
            if url not in self._known:
                self._known.add(url)
                yield scrapy.Request(url, dont_filter=True)

    def closed(self, reason: str) -> None:
        self._write()
        self._db.close()

    def _write(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO pages VALUES (?)", [(url,) for url, _ in self._waiting])
        edges = [(url, target) for url, targets in self._waiting for target in targets]
        self._db.executemany("INSERT INTO links VALUES (?, ?)", edges)
        self._db.execute("COMMIT")
        self._waiting.clear()


def main() -> None:
    middleware = {"benchmarks.peers.scrapy_edges.Answering": 1}
    process = CrawlerProcess(SETTINGS | {"DOWNLOADER_MIDDLEWARES": middleware})
    process.crawl(EdgeSpider, *sys.argv[1:3])
    process.start()


if __name__ == "__main__":
    main()

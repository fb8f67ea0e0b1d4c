"""``python -m benchmarks.bare_loop ORIGIN OUTPUT``: the least that could be called the job, as a reference.

The same libraries as Sumi uses, in one loop: fetch, unpack, parse, resolve links, hash and pack the page,
keep it with its links in SQLite and, unless ``--raw`` is given, write its Markdown. No redirects, retries,
robots.txt, rate limits or charsets, no bound on what unpacking yields, no queue that survives, no check of
the Markdown. What Sumi takes beyond this is the price of what Sumi promises.

One process finds the pages itself, from /index.html. With ``--list`` they are told beforehand, and only then
can there be several processes: each has its part of the list and never has to talk to another, which is an
advantage that no crawler has.
"""

import argparse
import hashlib
import multiprocessing
import re
from io import BytesIO
from pathlib import Path

import ada_url
import apsw
import pycurl
import turbohtml
import zstandard
from isal import isal_zlib

from benchmarks.bare_fetching import Fetching
from benchmarks.peers.kept_pages import wanted

BATCH = 200  # pages in one transaction
ZSTD_LEVEL = 3  # as in Sumi's archive
TABLE = (
    "CREATE TABLE pages (url TEXT PRIMARY KEY, status INT, hash BLOB, body BLOB, links TEXT) WITHOUT ROWID"
)


class Crawl:
    """``find``: links to pages of the origin are followed; else the first URLs are all there is."""

    def __init__(
        self, origin: str, urls: list[str], database: Path, *, find: bool, markdown: Path | None
    ) -> None:
        self._origin = origin
        self._find = find
        self._markdown = markdown
        self._known = set(urls)  # of all links, each distinct URL once
        self._asked = set(urls)
        self._packer = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._rows: list[tuple[str, int, bytes, bytes, str]] = []
        self._db = apsw.Connection(str(database))
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        self._db.execute(TABLE)
        self._fetching = Fetching(urls, self._digest)

    def run(self) -> None:
        self._fetching.run()
        self._write()
        self._db.close()

    def _digest(self, url: str, status: int, body: bytes) -> None:
        if status != 200:
            self._rows.append((url, status, b"", b"", ""))
            return
        html = unpacked(body)
        document = turbohtml.parse(html, positions=False)
        links = _links(url, document)
        self._known |= links
        if self._find:
            self._follow(links)
        if self._markdown is not None:
            _write_markdown(self._markdown, url, document)
        digest = hashlib.sha256(html).digest()
        self._rows.append((url, status, digest, self._packer.compress(html), "\n".join(links)))
        if len(self._rows) >= BATCH:
            self._write()

    def _follow(self, links: set[str]) -> None:
        fresh = {link for link in links - self._asked if wanted(self._origin, link)}
        self._asked |= fresh
        self._fetching.waiting.extend(fresh)

    def _write(self) -> None:
        with self._db:
            self._db.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", self._rows)
        self._rows.clear()


def unpacked(body: bytes) -> bytes:
    return isal_zlib.decompress(body, wbits=31) if body[:2] == b"\x1f\x8b" else body


def _links(url: str, document: turbohtml.Document) -> set[str]:
    hrefs = {link.attr("href") for link in document.iter_elements("a")}
    return {_joined(url, href) for href in hrefs if href and not href.startswith("#")}


def _joined(url: str, href: str) -> str:
    try:
        return ada_url.join_url(url, href).partition("#")[0]
    except ValueError:  # real pages have hrefs that are no URLs
        return ""


def _write_markdown(folder: Path, url: str, document: turbohtml.Document) -> None:
    content = document.select_one("main") or document
    target = folder / url.partition("://")[2].removesuffix(".html") / "index.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content.to_markdown())


def listed(url: str) -> list[str]:
    curl, body = pycurl.Curl(), BytesIO()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.WRITEDATA, body)
    curl.perform()
    return re.findall(r"<loc>([^<]+)</loc>", unpacked(body.getvalue()).decode())


def crawl(origin: str, urls: list[str], part: int, find: bool, output: Path, raw: bool) -> None:
    database = output / f"part-{part}.db"
    Crawl(origin, urls, database, find=find, markdown=None if raw else output).run()


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.bare_loop", description=__doc__)
    parser.add_argument("origin")
    parser.add_argument("output", type=Path)
    parser.add_argument("--list", help="where all URLs are, as /sitemap.xml (default: pages are found)")
    parser.add_argument("--raw", action="store_true", help="pages as they came, no Markdown")
    parser.add_argument("--processes", type=int, default=1, help="several need a list")
    options = parser.parse_args()
    if options.processes > 1 and not options.list:
        parser.error("several processes need --list")
    options.output.mkdir(parents=True)
    origin = options.origin
    urls = listed(origin + options.list) if options.list else [f"{origin}/index.html"]
    parts = [
        (origin, urls[number :: options.processes], number, not options.list, options.output, options.raw)
        for number in range(options.processes)
    ]
    if options.processes == 1:
        crawl(*parts[0])
        return
    with multiprocessing.Pool(options.processes) as pool:
        pool.starmap(crawl, parts)


if __name__ == "__main__":
    main()

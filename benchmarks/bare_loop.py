"""``python -m benchmarks.bare_loop ORIGIN OUTPUT``: the least that could be called mirroring a site.

The same libraries as Sumi uses, one process, one loop: fetch each page of the sitemap, unpack, parse, resolve
its links, convert to Markdown, write a file. No robots.txt, no queue, no politeness, no retries, no resuming,
nothing kept apart or made durable. What Sumi takes beyond this is the price of what Sumi promises.
"""

import re
import sys
from io import BytesIO
from pathlib import Path

import ada_url
import pycurl
import turbohtml
from isal import isal_zlib

CONCURRENCY = 16


def mirror(origin: str, output: Path) -> int:
    waiting = re.findall(r"<loc>([^<]+)</loc>", _get(f"{origin}/sitemap.xml").decode())
    known = set(waiting)
    multi = pycurl.CurlMulti()
    idle = [_transfer() for _ in range(CONCURRENCY)]
    written = 0
    while waiting or len(idle) < CONCURRENCY:
        while waiting and idle:
            _start(multi, idle.pop(), waiting.pop())
        multi.perform()
        _, finished, failed = multi.info_read()
        if failed:
            raise SystemExit(f"the bare loop met an error: {failed[0][2]}")
        for curl in finished:
            multi.remove_handle(curl)
            _digest(curl.url, curl.body.getvalue(), output, known)
            idle.append(curl)
            written += 1
        if not finished:
            multi.select(1.0)
    return written


def _get(url: str) -> bytes:
    curl = _transfer()
    curl.setopt(pycurl.URL, url)
    curl.body = BytesIO()
    curl.setopt(pycurl.WRITEDATA, curl.body)
    curl.perform()
    return _unpacked(curl.body.getvalue())


def _transfer() -> pycurl.Curl:
    curl = pycurl.Curl()
    curl.setopt(pycurl.HTTPHEADER, ["Accept-Encoding: gzip"])
    return curl


def _start(multi: pycurl.CurlMulti, curl: pycurl.Curl, url: str) -> None:
    curl.url = url
    curl.body = BytesIO()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.WRITEDATA, curl.body)
    multi.add_handle(curl)


def _unpacked(body: bytes) -> bytes:
    return isal_zlib.decompress(body, wbits=31) if body[:2] == b"\x1f\x8b" else body


def _digest(url: str, body: bytes, output: Path, known: set[str]) -> None:
    document = turbohtml.parse(_unpacked(body), positions=False)
    for link in document.iter_elements("a"):
        href = link.attr("href")
        if href and not href.startswith("#"):
            known.add(ada_url.join_url(url, href).partition("#")[0])
    content = document.select_one("main") or document
    target = output / url.partition("://")[2].removesuffix(".html") / "index.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content.to_markdown())


if __name__ == "__main__":
    print(mirror(sys.argv[1], Path(sys.argv[2])))

"""``python -m benchmarks.bare_loop ORIGIN OUTPUT``: the least that could be called mirroring a site.

The same libraries as Sumi uses, one loop: fetch each page of a list, unpack, parse, resolve its links,
convert to Markdown (or, with ``--raw``, pack with zstd), write a file. No robots.txt, no queue, no
politeness, no retries, no resuming, nothing kept apart or made durable. With ``--processes 2`` the list is
cut in two before anything is fetched, so that the processes never have to talk. What Sumi takes beyond this
is the price of what Sumi promises.
"""

import argparse
import hashlib
import multiprocessing
import re
from io import BytesIO
from pathlib import Path

import ada_url
import pycurl
import turbohtml
import zstandard
from isal import isal_zlib

CONCURRENCY = 16
ZSTD_LEVEL = 3  # as in Sumi's archive


def mirror(waiting: list[str], output: Path, raw: bool) -> int:
    """How many pages were written."""
    known = set(waiting)
    keep = _Packed(output) if raw else _Markdown(output)
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
            _digest(curl.url, _unpacked(curl.body.getvalue()), known, keep)
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


def _digest(url: str, body: bytes, known: set[str], keep: "_Markdown | _Packed") -> None:
    document = turbohtml.parse(body, positions=False)
    for link in document.iter_elements("a"):
        href = link.attr("href")
        if href and not href.startswith("#"):
            known.add(_joined(url, href))
    keep(url, body, document)


def _joined(url: str, href: str) -> str:
    try:
        return ada_url.join_url(url, href).partition("#")[0]
    except ValueError:  # real pages have hrefs that are no URLs
        return ""


class _Markdown:
    def __init__(self, output: Path) -> None:
        self._output = output

    def __call__(self, url: str, body: bytes, document: turbohtml.Document) -> None:
        content = document.select_one("main") or document
        target = self._output / url.partition("://")[2].removesuffix(".html") / "index.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content.to_markdown())


class _Packed:
    def __init__(self, output: Path) -> None:
        self._output = output
        self._packer = zstandard.ZstdCompressor(level=ZSTD_LEVEL)

    def __call__(self, url: str, body: bytes, document: turbohtml.Document) -> None:
        digest = hashlib.sha256(body).digest()
        target = self._output / f"{url.partition('://')[2]}.zst"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(digest + self._packer.compress(body))


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.bare_loop", description=__doc__)
    parser.add_argument("origin")
    parser.add_argument("output", type=Path)
    parser.add_argument("--list", default="/sitemap.xml", help="where the URLs are (default: /sitemap.xml)")
    parser.add_argument("--raw", action="store_true", help="pages as they came, not Markdown")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    urls = re.findall(r"<loc>([^<]+)</loc>", _get(options.origin + options.list).decode())
    parts = [(urls[n :: options.processes], options.output, options.raw) for n in range(options.processes)]
    if options.processes == 1:
        print(mirror(*parts[0]))
        return
    with multiprocessing.Pool(options.processes) as pool:
        print(sum(pool.starmap(mirror, parts)))


if __name__ == "__main__":
    main()

"""The site's sitemaps: an index, and parts in each of the usual formats."""

import gzip
from enum import StrEnum
from html import escape

from tests.site.truth import Truth
from tests.site.wire import Reply

XML = "application/xml"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PARTS = ("/sitemap-1.xml", "/sitemap-2.xml.gz", "/sitemap-3.txt")
TORN_PART = "/sitemap-torn.xml"
BAD_PARTS = (("/sitemap-missing.xml", "not_found"), ("/bad/sitemap-xxe.xml", "parse_failed"))


class SitemapPreset(StrEnum):
    INDEX = "index"  # an index of three parts: XML, gzipped XML, text
    SINGLE = "single"  # one file
    BROKEN = "broken"  # the index also names a missing part, a torn one and a hostile one
    NONE = "none"


def urlset(urls: list[str]) -> bytes:
    entries = "".join(f"<url><loc>{escape(url)}</loc><lastmod>2024-05-01</lastmod></url>\n" for url in urls)
    return f"{DECLARATION}\n<urlset {NAMESPACE}>\n{entries}</urlset>\n".encode()


def index(urls: list[str]) -> bytes:
    entries = "".join(f"<sitemap><loc>{escape(url)}</loc></sitemap>\n" for url in urls)
    return f"{DECLARATION}\n<sitemapindex {NAMESPACE}>\n{entries}</sitemapindex>\n".encode()


def sitemap_reply(truth: Truth, preset: SitemapPreset, origin: str, path: str) -> Reply | None:
    """The answer for a sitemap's path, or None if the site has none there."""
    if preset is SitemapPreset.NONE:
        return None
    urls = [origin + listed for listed in truth.listed]
    if path == "/sitemap.xml":
        return Reply(200, _front(preset, origin, urls), XML)
    if preset is SitemapPreset.BROKEN and path == TORN_PART:
        return Reply(200, urlset(urls[:3])[: -len("</loc></url></urlset>") - 40], XML)
    if preset is SitemapPreset.SINGLE or path not in PARTS:
        return None
    return _part(PARTS.index(path), urls)


def _front(preset: SitemapPreset, origin: str, urls: list[str]) -> bytes:
    if preset is SitemapPreset.SINGLE:
        return urlset(urls)
    bad = [TORN_PART, *(path for path, _ in BAD_PARTS)] if preset is SitemapPreset.BROKEN else []
    return index([origin + part for part in (*bad, *PARTS)])


def _part(number: int, urls: list[str]) -> Reply:
    share = urls[number :: len(PARTS)]
    if number == 1:
        return Reply(200, gzip.compress(urlset(share), mtime=0), "application/gzip")
    if number == 2:
        return Reply(200, "".join(f"{url}\n" for url in share).encode(), "text/plain; charset=utf-8")
    return Reply(200, urlset(share), XML)

"""Tells the forms of a sitemap apart by their first bytes and hands the text on to the right reader."""

import codecs
import re

from sumi.parse.sitemap.elements import HTML_PROBLEM
from sumi.parse.sitemap.lines import LineSitemap
from sumi.parse.sitemap.listing import Listing, StopReading
from sumi.parse.sitemap.xml import XmlSitemap
from sumi.parse.sitemap.xml_text import sniff_encoding

_HEAD = 1024  # enough to tell the forms apart
# Only what an XML parser would not find out by itself: a page that is no XML.
_HTML = re.compile(r"\s*(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# Its version and encoding are settled by now, and a wrong one would end the reading.
_DECLARATION = re.compile(r"\s*<\?xml\s[^<>]*>")
# Where the XML begins if a program printed a warning in front of it.
_XML_START = re.compile(r"<\?xml\s|<(?:[\w-]{1,40}:)?(?:urlset|sitemapindex|rss|feed)[\s>]")


class SitemapContent:
    """Unpacked bytes in, addresses into the listing. Raises StopReading where it has to give up."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._reader: XmlSitemap | LineSitemap | None = None
        self._is_html = False

    @property
    def format(self) -> str:
        if self._is_html:
            return "html"
        return self._reader.format if self._reader else ""

    def problems(self) -> list[str]:
        return self._reader.problems() if isinstance(self._reader, LineSitemap) else []

    def feed(self, data: bytes) -> None:
        if self._reader and self._decoder:
            self._reader.feed(self._decoder.decode(data))
            return
        self._head = (self._head + data).lstrip()
        if len(self._head) >= _HEAD:
            self._begin()

    def close(self) -> None:
        if self._reader is None:
            if not self._head:
                raise StopReading("an empty file")
            self._begin()
        if self._reader and self._decoder:
            self._reader.feed(self._decoder.decode(b"", True))
            self._reader.close()

    def _begin(self) -> None:
        head, self._head = self._head, b""
        self._decoder = codecs.getincrementaldecoder(sniff_encoding(head))("replace")
        text = self._decoder.decode(head).lstrip("\ufeff")
        if _HTML.match(text, 0, _HEAD):
            self._is_html = True
            raise StopReading(HTML_PROBLEM)
        start = 0 if text.lstrip().startswith("<") else _xml_start(text)
        if start < 0:
            self._reader = LineSitemap(self._listing)
            self._reader.feed(text)
        else:
            declaration = _DECLARATION.match(text, start)
            self._reader = XmlSitemap(self._listing)
            self._reader.feed(text[declaration.end() if declaration else start :])


def _xml_start(text: str) -> int:
    found = _XML_START.search(text, 0, _HEAD)
    return found.start() if found else -1

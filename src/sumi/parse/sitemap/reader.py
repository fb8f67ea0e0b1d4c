"""Sitemaps in every format that sites publish: XML, index, plain text, RSS and Atom, gzipped or not.

Read as a stream in bounded memory; nothing raises. A broken file yields what could be read of it, and a
sentence about the rest.
"""

import codecs
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from isal import igzip_lib

from sumi.parse.sitemap.listing import LineSitemap, Listing, StopReading
from sumi.parse.sitemap.xml import HTML_PROBLEM, XmlSitemap, sniff_encoding
from sumi.policy import SITEMAP_BYTES
from sumi.urls import LinkNormalizer

MAGIC = b"\x1f\x8b"
# Output that is still in the decompressor when it finds damage is lost, so both steps are small.
_STEP_IN = 4 * 1024
_STEP_OUT = 64 * 1024
_Damage: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # the stub takes it for an instance


class Gunzip:
    """One gzip file. ``problem``: what was lost; "" if nothing was."""

    def __init__(self) -> None:
        self.problem = ""
        self._member = _new_member()
        self._behind = b""  # bytes after a member, too few to recognize another one

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _STEP_IN):
            yield from self._step(data[start : start + _STEP_IN])

    def close(self) -> None:
        if not self.problem and not self._member.eof:
            self.problem = "its gzip data ends early"

    def _step(self, data: bytes) -> Iterator[bytes]:
        while data and not self.problem:
            if self._member.eof:
                data = self._next_member(data)
                if not data:
                    return
            try:
                yield from self._drain(data)
            except _Damage:
                self.problem = "its gzip data is damaged"
                return
            data = self._member.unused_data if self._member.eof else b""

    def _drain(self, data: bytes) -> Iterator[bytes]:
        """The decompressed ``data``, piece by piece."""
        while data or not (self._member.eof or self._member.needs_input):
            piece = self._member.decompress(data, _STEP_OUT)
            data = b""
            if not piece:
                return
            yield piece

    def _next_member(self, data: bytes) -> bytes:
        data = (self._behind + data).lstrip(b"\0")  # archives are padded with zeros
        self._behind = data[: len(MAGIC) - 1]
        if data.startswith(MAGIC):
            self._member, self._behind = _new_member(), b""
            return data
        if len(data) >= len(MAGIC):
            self.problem = "bytes after its gzip data were left out"
        return b""


class Unpacker:
    """Content that may be gzipped, even twice; recognized by its first bytes, never by its name."""

    def __init__(self, layers: int = 2) -> None:
        self._layers = layers
        self._head: bytes | None = b""
        self._packed: tuple[Gunzip, Unpacker] | None = None

    @property
    def problem(self) -> str:
        if self._packed is None:
            return ""
        outer, inner = self._packed
        return outer.problem or inner.problem

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._head is not None:
            data = self._head + data
            self._head = data
            if len(data) < len(MAGIC):
                return
            self._begin(data)
        if self._packed is None:
            yield data
            return
        outer, inner = self._packed
        for piece in outer.feed(data):
            yield from inner.feed(piece)

    def close(self) -> Iterator[bytes]:
        """What was held back until more came."""
        if self._head:
            yield self._head
        if self._packed is not None:
            outer, inner = self._packed
            outer.close()
            yield from inner.close()

    def _begin(self, data: bytes) -> None:
        self._head = None
        if self._layers and data.startswith(MAGIC):
            self._packed = Gunzip(), Unpacker(self._layers - 1)


def _new_member() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
# A day ends at different times around the world: this is the last moment that it is that day anywhere.
_FURTHEST_WEST: Final = timedelta(hours=12)
_DAY_ENDS: Final = timedelta(days=1) + _FURTHEST_WEST
_HEAD = 1024  # enough to recognize the format
# Only what an XML parser would not detect by itself: a page that is not XML.
_HTML = re.compile(r"\s*(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# Version and encoding are known by now, and a wrong declaration would stop the parser.
_DECLARATION = re.compile(r"\s*<\?xml\s[^<>]*>")
# Where the XML begins if a program printed a warning before it.
_XML_START = re.compile(r"<\?xml\s|<(?:[\w-]{1,40}:)?(?:urlset|sitemapindex|rss|feed)[\s>]")


class SitemapContent:
    """Decompressed bytes in, addresses into the listing. Recognizes the format by the first bytes. Raises
    StopReading where it has to give up."""

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


DEFAULT_MAX_ENTRIES = 200_000

_STEP = 64 * 1024
_USUAL_SUFFIXES = (".xml", ".xml.gz", ".txt", ".txt.gz")
_USUAL_PLACES = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap.txt",
)


class SitemapEntry(msgspec.Struct, frozen=True, gc=False):
    url_raw: str  # absolute, otherwise as written: not normalized
    lastmod: str | None = None  # as written


class Sitemap(msgspec.Struct, frozen=True):
    entries: list[SitemapEntry]  # distinct, in the file's order
    children: list[str]  # the files that an index names
    problem: str = ""  # what was lost and why, or violates the format; "" if nothing
    format: str = ""  # urlset, sitemapindex, rss, atom, text, html; "" if it was not recognized
    cut: bool = False  # there was more, or may have been, that could not be read


class SitemapReader:
    """``feed`` the body in pieces, then ``close`` once."""

    def __init__(
        self,
        base_url: str,
        *,
        max_entries: int = DEFAULT_MAX_ENTRIES,
        max_bytes: int = SITEMAP_BYTES,
    ) -> None:
        self._room = max_bytes
        self._max_bytes = max_bytes
        self._listing = Listing(base_url, max_entries)
        self._content = SitemapContent(self._listing)
        self._unpacker = Unpacker()
        self._given_up = ""  # why the content was not read to its end

    @property
    def _full(self) -> bool:
        return self._room < 0

    def feed(self, chunk: bytes) -> None:
        for start in range(0, len(chunk), _STEP):
            for piece in self._unpacker.feed(chunk[start : start + _STEP]):
                if self._given_up or self._full:
                    return
                self._take(piece)

    def close(self) -> Sitemap:
        if not self._given_up:
            self._finish()
        return Sitemap(
            entries=[SitemapEntry(url, date) for url, date in self._listing.pages.items()],
            children=list(self._listing.children),
            problem="; ".join(filter(None, self._problems())),
            cut=bool(self._full or self._given_up or self._unpacker.problem),
            format=self._content.format,
        )

    def _take(self, piece: bytes) -> None:
        try:
            self._content.feed(piece[: self._room])
        except StopReading as stop:
            self._given_up = str(stop)
        self._room -= len(piece)

    def _finish(self) -> None:
        if not self._full:
            for piece in self._unpacker.close():
                self._take(piece)
        try:
            self._content.close()
        except StopReading as stop:
            self._given_up = str(stop)

    def _problems(self) -> Iterator[str]:
        yield self._unpacker.problem
        yield f"it was read up to the limit of {self._max_bytes:,} bytes" if self._full else self._given_up
        yield from self._content.problems()
        yield from self._listing.problems()


def read_sitemap(
    body: bytes,
    base_url: str,
    *,
    max_entries: int = DEFAULT_MAX_ENTRIES,
    max_bytes: int = SITEMAP_BYTES,
) -> Sitemap:
    """Read a whole sitemap. ``base_url``: where it came from. ``max_bytes``: of the decompressed content."""
    reader = SitemapReader(base_url, max_entries=max_entries, max_bytes=max_bytes)
    reader.feed(body)
    return reader.close()


def dated_pages(entries: list[SitemapEntry], pages: LinkNormalizer) -> tuple[list[str], dict[str, float]]:
    """The pages, and the dates of those that have exactly one date in the sitemap."""
    dates: dict[str, float | None] = {}
    for entry in entries:
        when = latest_moment(entry.lastmod) if entry.lastmod else None
        for url in pages.many((entry.url_raw,)):
            dates[url] = when if dates.setdefault(url, when) == when else None
    return list(dates), {url: when for url, when in dates.items() if when is not None}


def latest_moment(lastmod: str) -> float | None:
    """The latest time, in seconds since the epoch, that a W3C date can mean; None if it is not a date.

    A date without a day (``2026-11``) is too vague to use.
    """
    text = lastmod.strip()
    try:
        when = datetime.fromisoformat(text)
        if _DAY.match(text):
            when += _DAY_ENDS
        elif when.tzinfo is None:
            when += _FURTHEST_WEST
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def called_like_a_sitemap(path: str) -> bool:
    """Whether a URL's path looks like a sitemap's, and hardly like a page's."""
    name = path.rpartition("/")[2].lower()
    return "sitemap" in name or name.endswith(_USUAL_SUFFIXES)


def usual_places(origin: str) -> list[str]:
    """Where sites put a sitemap that they do not announce. Short on purpose: each guess is a request."""
    return [origin.rstrip("/") + place for place in _USUAL_PLACES]

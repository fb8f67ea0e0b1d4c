"""Sitemaps in every form that sites publish: XML, index, plain text, RSS and Atom, packed or not.

Read as a stream in bounded memory; nothing raises. A broken file gives what could be read of it and a
sentence about the rest.
"""

from collections.abc import Iterator

import msgspec

from sumi.parse.sitemap.content import SitemapContent
from sumi.parse.sitemap.gunzip import Unpacker
from sumi.parse.sitemap.listing import Listing, StopReading
from sumi.policy import SITEMAP_BYTES

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
    problem: str = ""  # what was lost and why, or is against the format; "" if all is well
    format: str = ""  # urlset, sitemapindex, rss, atom, text, html; "" if it could not be told
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
    """Read a whole sitemap; ``base_url`` is where it came from. ``max_bytes`` counts what is unpacked."""
    reader = SitemapReader(base_url, max_entries=max_entries, max_bytes=max_bytes)
    reader.feed(body)
    return reader.close()


def called_like_a_sitemap(path: str) -> bool:
    """Whether a URL's path is one that sitemaps have, and pages hardly ever."""
    name = path.rpartition("/")[2].lower()
    return "sitemap" in name or name.endswith(_USUAL_SUFFIXES)


def usual_places(origin: str) -> list[str]:
    """Where sites keep a sitemap that they do not announce. Short on purpose: each guess is a request."""
    return [origin.rstrip("/") + place for place in _USUAL_PLACES]

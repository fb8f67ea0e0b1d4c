"""What the elements of sitemaps, sitemap indexes, RSS and Atom mean.

Elements are known by the local part of their names, whatever the namespace: it is often missing or wrong. An
address counts if it is a child of its entry and has its entry's prefix, which leaves ``image:loc`` out. An
entry without one is taken at its word: the text that stands there instead, or a name that is an address.
"""

from functools import lru_cache
from typing import NamedTuple

from sumi.parse.sitemap.listing import MAX_ADDRESS, Listing, StopReading, clean_date, is_web_address

HTML_PROBLEM = "an HTML page, not a sitemap"
# Generous to extensions and to XHTML in feeds; each open element costs the parser memory.
_MAX_DEPTH = 256


class _Vocabulary(NamedTuple):
    format: str
    page: str
    address: str
    dates: tuple[str, ...]
    child: str = ""
    links: tuple[str, ...] = ()  # relations of <link> that count
    name: str = ""  # what an entry is called, which may be its address


_SITEMAP = _Vocabulary("urlset", "url", "loc", ("lastmod",), "sitemap", ("alternate",))
_VOCABULARIES = {
    "urlset": _SITEMAP,
    "sitemapindex": _SITEMAP._replace(format="sitemapindex"),
    "rss": _Vocabulary("rss", "item", "link", ("pubdate",), name="guid"),
    "rdf": _Vocabulary("rss", "item", "link", ("date",)),
    "feed": _Vocabulary("atom", "entry", "", ("updated", "modified"), links=("", "alternate"), name="id"),
}
_NOTHING = _Vocabulary("", "", "", ())


class SitemapElements:
    """The handlers of an XML parser; what they find goes to the listing."""

    def __init__(self, listing: Listing) -> None:
        self.format = ""
        self._listing = listing
        self._words = _NOTHING
        self._depth = 0
        self._entry_depth = 0  # of the open entry; 0 if none is open
        self._entry_parts = ("", "")
        self._has_address = False  # the open entry
        self._name = ""  # of the open entry, which may be its address
        self._bare = ""  # what stands in the open entry itself
        self._pages: list[str] = []  # of the open entry, as long as they have no date
        self._date: str | None = None
        self._field = ""  # the child of the entry whose text is being collected
        self._text: list[str] = []
        self._text_length = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise StopReading(f"it is nested deeper than {_MAX_DEPTH} elements")
        if self._depth == 1:
            self._open_root(name)
        elif not self._entry_depth:
            self._open_entry(name)
        elif self._depth == self._entry_depth + 1:
            self._open_field(name, attributes)

    def characters(self, text: str) -> None:
        if self._field:
            if self._text_length <= MAX_ADDRESS:
                self._text.append(text)
                self._text_length += len(text)
        elif self._depth == self._entry_depth and len(self._bare) <= MAX_ADDRESS:
            self._bare += text

    def end(self, _name: str) -> None:
        if self._depth == self._entry_depth:
            self._close_entry(self._bare.strip())
            self._entry_depth = 0
        elif self._field and self._depth == self._entry_depth + 1:
            self._close_field("".join(self._text))
        self._depth -= 1

    def _open_root(self, name: str) -> None:
        _, local = _parts(name)
        if local == "html":
            self.give_up_on_html()
        words = _VOCABULARIES.get(local)
        if words is None:
            raise StopReading(f"not a sitemap: its root element is {local[:40]!r}")
        self._words, self.format = words, words.format

    def give_up_on_html(self) -> None:
        self.format = "html"
        raise StopReading(HTML_PROBLEM)

    def _open_entry(self, name: str) -> None:
        parts = _parts(name)
        if parts[1] in (self._words.page, self._words.child):
            self._entry_depth, self._entry_parts = self._depth, parts
            self._pages, self._date = [], None
            self._has_address, self._name, self._bare = False, "", ""

    def _open_field(self, name: str, attributes: dict[str, str]) -> None:
        prefix, local = _parts(name)
        is_address = local == self._words.address and prefix == self._entry_parts[0]
        is_name = local == self._words.name and attributes.get("isPermaLink", "true").lower() != "false"
        if is_address or is_name or local in self._words.dates:
            self._field, self._text, self._text_length = local, [], 0
        elif local == "link" and attributes.get("rel", "").lower() in self._words.links:
            self._take_link(attributes.get("href", ""))

    def _close_field(self, text: str) -> None:
        if self._field == self._words.address:
            self._take_address(text)
        elif self._field == self._words.name:
            self._name = text.strip()
        else:
            self._take_date(clean_date(text))
        self._field = ""

    def _close_entry(self, text: str) -> None:
        if self._has_address:
            return
        if is_web_address(text) or (text and not self._words.name):
            self._take_address(text)
        else:
            self._take_address(self._name if is_web_address(self._name) else "")

    def _take_link(self, address: str) -> None:
        if self._words.address:
            # The page for another language or device, whose own date stands elsewhere.
            self._listing.add_page(address, None)
        else:
            self._take_address(address)

    def _take_address(self, address: str) -> None:
        self._has_address = True
        if self._entry_parts[1] == self._words.child:
            self._listing.add_child(address)
            return
        url = self._listing.add_page(address, self._date)
        if url is not None:
            self._pages.append(url)

    def _take_date(self, date: str | None) -> None:
        """It may stand before or behind the address. A page is dated once, however many dates follow."""
        if date is None:
            return
        self._date = date
        for url in self._pages:
            self._listing.pages[url] = date
        self._pages.clear()


@lru_cache(maxsize=1024)
def _parts(name: str) -> tuple[str, str]:
    """Prefix and local name, the latter in lower case: some write ``<urlSet>``."""
    prefix, _, local = name.rpartition(":")
    return prefix, local.lower()

"""The XML of sitemaps, sitemap indexes, RSS and Atom, through a streaming parser that expands no entities and
opens no files.

Such files are often broken. The declared encoding may be wrong, there may be control characters, and very
often a URL's ``&`` is not escaped. None of this is worth losing pages for.

Elements are recognized by the local part of their names, whatever the namespace: it is often missing or
wrong. An address counts if it is a child of its entry and has its entry's prefix, which excludes
``image:loc``. For an entry without one, its own text counts, or a name that is an address.
"""

import codecs
import re
from functools import lru_cache
from typing import NamedTuple
from xml.parsers import expat

from sumi.parse.sitemap.listing import MAX_ADDRESS, Listing, StopReading, clean_date, is_web_address

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']")
# Charsets that contain ASCII, since the declaration itself could be read. A closed list, because Python's
# codecs include transformations that are not charsets.
_CHARSETS = re.compile(
    r"(?:us-)?ascii|latin-?1|iso-?8859-\d{1,2}|(?:windows|cp)-?125\d|koi8-[ru]|shift_?jis|euc-(?:jp|kr)"
    r"|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# What the next piece may complete: a reference, the start of a CDATA section, or its end.
_UNFINISHED = re.compile(r"(?:[<&][^<&>;\s]{0,10}|\]{1,2})\Z")
_STRAY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)")
_NUMBERED = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")


def sniff_encoding(head: bytes) -> str:
    """A byte order mark decides, then the declaration if it is plausible, then UTF-8."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _DECLARED.match(head)
    name = declared[1].decode("ascii") if declared else ""
    if not _CHARSETS.fullmatch(name):
        return "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


class XmlRepair:
    """Text in, text out, piece by piece, without illegal characters and with stray ampersands escaped.

    An unknown ``&name;`` becomes plain text, too: no entity is ever expanded.
    """

    def __init__(self) -> None:
        self._waiting = ""
        self._in_cdata = False

    def feed(self, text: str) -> str:
        text = self._waiting + _ILLEGAL.sub("\ufffd", text)
        unfinished = _UNFINISHED.search(text, max(len(text) - 11, 0))
        end = unfinished.start() if unfinished else len(text)
        self._waiting = text[end:]
        return self._repaired(text[:end])

    def close(self) -> str:
        rest, self._waiting = self._waiting, ""
        return self._repaired(rest)

    def _repaired(self, text: str) -> str:
        if not self._in_cdata and _CDATA not in text:
            return _escaped(text)
        parts, at = [], 0
        while at < len(text):
            border = _CDATA_END if self._in_cdata else _CDATA
            found = text.find(border, at)
            end = len(text) if found < 0 else found + len(border)
            parts.append(text[at:end] if self._in_cdata else _escaped(text[at:end]))
            self._in_cdata ^= found >= 0
            at = end
        return "".join(parts)


def _escaped(text: str) -> str:
    if "&" not in text:
        return text
    return _NUMBERED.sub(_legal_reference, _STRAY.sub("&amp;", text))


def _legal_reference(reference: re.Match[str]) -> str:
    hexadecimal, decimal = reference.groups()
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    legal = code <= 0x10FFFF and not _ILLEGAL.match(chr(code))
    return reference[0] if legal else "\ufffd"


HTML_PROBLEM = "an HTML page, not a sitemap"
# Leaves room for extensions and XHTML in feeds; each open element costs the parser memory.
_MAX_DEPTH = 256


class _Vocabulary(NamedTuple):
    format: str
    page: str
    address: str
    dates: tuple[str, ...]
    child: str = ""
    links: tuple[str, ...] = ()  # relations of <link> that count
    name: str = ""  # the name of an entry, which may be its address


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
        self._bare = ""  # the text of the open entry itself
        self._pages: list[str] = []  # of the open entry, while they have no date
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
            # The page for another language or device, whose date is in its own entry.
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
        """It may come before or after the address. Only the first date of a page counts."""
        if date is None:
            return
        self._date = date
        for url in self._pages:
            self._listing.pages[url] = date
        self._pages.clear()


@lru_cache(maxsize=1024)
def _parts(name: str) -> tuple[str, str]:
    """Prefix and local name, the latter in lower case: some sites write ``<urlSet>``."""
    prefix, _, local = name.rpartition(":")
    return prefix, local.lower()


# A tag or comment is kept, and scanned again with each piece, until it is complete.
_MAX_TOKEN = 256 * 1024
# The parser never frees names. All known extensions together have some hundreds.
_MAX_NAMES = 10_000


class XmlSitemap:
    """Text in, addresses into the listing. Raises StopReading where it has to give up."""

    def __init__(self, listing: Listing) -> None:
        self._elements = SitemapElements(listing)
        self._repair = XmlRepair()
        self._fed = 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._elements.start
        self._parser.EndElementHandler = self._elements.end
        self._parser.CharacterDataHandler = self._elements.characters

    @property
    def format(self) -> str:
        return self._elements.format

    def feed(self, text: str) -> None:
        self._parse(self._repair.feed(text).encode())

    def close(self) -> None:
        self._parse(self._repair.close().encode())
        self._parse(b"", final=True)

    def _parse(self, data: bytes, *, final: bool = False) -> None:
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            where = f"line {error.lineno} ({expat.ErrorString(error.code)})"
            fate = "ends early, in" if final else "is broken and was read up to"
            raise StopReading(f"its XML {fate} {where}") from None
        self._fed += len(data)
        if self._fed - self._parser.CurrentByteIndex > _MAX_TOKEN:
            raise StopReading(f"it has a tag or comment of more than {_MAX_TOKEN:,} bytes")
        if len(self._parser.intern) > _MAX_NAMES:
            raise StopReading(f"it uses more than {_MAX_NAMES:,} different names")

    def _refuse_doctype(self, name: str, *_identifiers: object) -> None:
        """No sitemap needs one, and everything dangerous in XML begins with one."""
        if name.lower() == "html":
            self._elements.give_up_on_html()
        raise StopReading("it has a DOCTYPE, which is refused; nothing was read")

"""The XML of a sitemap, through a streaming parser that expands, opens and keeps nothing."""

from xml.parsers import expat

from sumi.parse.sitemap.elements import SitemapElements
from sumi.parse.sitemap.listing import Listing, StopReading
from sumi.parse.sitemap.xml_text import XmlMender

# A tag or comment is kept, and scanned anew with each piece, until it is complete.
_MAX_TOKEN = 256 * 1024
# Names are kept for good by the parser. All known extensions together have some hundreds.
_MAX_NAMES = 10_000


class XmlSitemap:
    """Text in, addresses into the listing. Raises StopReading where it has to give up."""

    def __init__(self, listing: Listing) -> None:
        self._elements = SitemapElements(listing)
        self._mender = XmlMender()
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
        self._parse(self._mender.feed(text).encode())

    def close(self) -> None:
        self._parse(self._mender.close().encode())
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
        """No sitemap needs one, and all that is dangerous in XML begins with one."""
        if name.lower() == "html":
            self._elements.give_up_on_html()
        raise StopReading("it has a DOCTYPE, which is refused; nothing was read")

"""Which kind of document a body is, by its bytes, and how that is read."""

from collections.abc import Callable
from typing import Final

from sumi.parse.documents.book import read_epub
from sumi.parse.documents.document import Document, Unreadable
from sumi.parse.documents.office import read_docx, read_odt
from sumi.parse.documents.pdf import read_pdf

_ZIP: Final = b"PK\x03\x04"
_LOOKED_AT: Final = 4096
_READERS: Final[dict[str, Callable[[bytes], Document]]] = {
    "PDF": read_pdf,
    "DOCX": read_docx,
    "ODT": read_odt,
    "EPUB": read_epub,
}


def kind_of_document(body: bytes) -> str:
    """``PDF``, ``DOCX``, ``ODT``, ``EPUB``; "" for anything else."""
    if b"%PDF-" in body[:1024]:
        return "PDF"
    if not body.startswith(_ZIP):
        return ""
    start = body[:_LOOKED_AT]
    if b"mimetypeapplication/epub+zip" in start:
        return "EPUB"
    if b"mimetypeapplication/vnd.oasis.opendocument.text" in start:
        return "ODT"
    # The directory of a ZIP archive is at its end.
    return "DOCX" if b"word/document.xml" in start or b"word/document.xml" in body[-65_536:] else ""


def read_document(body: bytes, kind: str) -> Document:
    """Raises Unreadable, whatever is wrong with the document."""
    try:
        return _READERS[kind](body)
    except RecursionError as error:
        raise Unreadable("its parts are nested too deeply") from error

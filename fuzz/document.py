"""PDF, DOCX, ODT and EPUB: a document is read, or cannot be, and says why; nothing else happens."""

import zipfile
from io import BytesIO

from fuzz.inputs import as_choice
from sumi.parse.documents.document import MOST_CHARACTERS, Document, Unreadable
from sumi.parse.documents.reading import kind_of_document, read_document

_ODT = "application/vnd.oasis.opendocument.text"
_CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    b'<rootfile full-path="a.opf"/></rootfiles></container>'
)
_CHAPTER = (
    b'<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
    b'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
)


def check(data: bytes) -> None:
    """The first byte chooses what the rest is: a file as it is, or a part of a package that is whole."""
    choice, rest = as_choice(data)
    kind, body = (
        ("PDF", rest),
        (kind_of_document(rest), rest),
        ("DOCX", _zipped({"word/document.xml": rest})),
        (
            "DOCX",
            _zipped({"word/document.xml": b"<a/>", "word/styles.xml": rest, "word/footnotes.xml": rest}),
        ),
        ("ODT", _zipped({"mimetype": _ODT.encode(), "content.xml": rest})),
        ("EPUB", _zipped({"META-INF/container.xml": _CONTAINER, "a.opf": rest, "a.xhtml": b"<p>Text"})),
        ("EPUB", _zipped({"META-INF/container.xml": _CONTAINER, "a.opf": _CHAPTER, "a.xhtml": rest})),
    )[choice % 7]
    if not kind:
        return
    document = _read(body, kind)
    if isinstance(document, str):
        assert document.isprintable()
        return
    assert len(document.html) <= MOST_CHARACTERS
    assert 0.0 <= document.share <= 1.0
    for text in (document.html, document.title, document.language, document.problem, *document.shortfalls):
        text.encode()


def _read(body: bytes, kind: str) -> Document | str:
    try:
        return read_document(body, kind)
    except Unreadable as why:
        return str(why)


def _zipped(parts: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return file.getvalue()

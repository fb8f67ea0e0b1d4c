"""EPUB as HTML: its chapters in their order, as one page."""

import posixpath
import re
from typing import Final
from urllib.parse import unquote

from sumi.parse.documents.document import MOST_CHARACTERS, Document, Unreadable
from sumi.parse.documents.package import Package

_CONTAINER: Final = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF: Final = "{http://www.idpf.org/2007/opf}"
_DC: Final = "{http://purl.org/dc/elements/1.1/}"
_CHAPTER: Final = "application/xhtml+xml"
_BODY: Final = re.compile(r"<body\b[^>]{0,1000}>(.*?)(?:</body\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# In a book, what is linked or shown is another of its parts, which has no address.
_LINK: Final = re.compile(r"""(\shref\s{0,9}=\s{0,9})(?:"([^"]*)"|'([^']*)')""")
_PICTURE: Final = re.compile(r"<(?:img|image)\b[^>]{0,4000}>", re.IGNORECASE)
_WORDS: Final = re.compile(r"""\salt\s{0,9}=\s{0,9}(?:"([^"]+)"|'([^']+)')""")


def read_epub(body: bytes) -> Document:
    package = Package(body)
    rootfile = package.xml("META-INF/container.xml").find(f".//{_CONTAINER}rootfile")
    if rootfile is None:
        raise Unreadable("it names no list of its parts")
    opf = rootfile.get("full-path", "")
    root = package.xml(opf)
    if any(
        name == "META-INF/encryption.xml" and b"EncryptedData" in package.read(name) for name in package.names
    ):
        raise Unreadable("it is encrypted")
    items = {item.get("id"): item for item in root.iter(f"{_OPF}item")}
    chapters: list[str] = []
    missing = length = 0
    for reference in root.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") != _CHAPTER:
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(opf), unquote(item.get("href", ""))))
        try:
            html = _chapter(package.read(name))
        except Unreadable:
            missing += 1
            continue
        length += len(html)
        if length > MOST_CHARACTERS:
            raise Unreadable("it is too large when unpacked")
        chapters.append(html)
    if not chapters:
        raise Unreadable("it has no chapters")
    return Document(
        html="\n".join(chapters),
        title=(root.findtext(f".//{_DC}title") or "").strip(),
        language=(root.findtext(f".//{_DC}language") or "").strip(),
        share=len(chapters) / (len(chapters) + missing),
        shortfalls=[f"chapters: {missing:,} of {len(chapters) + missing:,} cannot be read"]
        if missing
        else [],
    )


def _chapter(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    found = _BODY.search(text)
    inside = found[1] if found else text
    return _LINK.sub(_within, _PICTURE.sub(_described, inside))


def _within(link: re.Match[str]) -> str:
    address = link[2] if link[2] is not None else link[3]
    if re.match(r"(?:https?:|mailto:|#)", address):
        return f'{link[1]}"{address}"'
    fragment = address.partition("#")[2]
    return f'{link[1]}"#{fragment}"' if fragment else ""


def _described(picture: re.Match[str]) -> str:
    words = _WORDS.search(picture[0])
    return f"<em>{words[1] or words[2]}</em>" if words else ""

"""EPUB 3: the pages as chapters of a book, in the order in which they were found, with the images
that were kept."""

import re
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.exchange.result import new_file
from sumi.exchange.xhtml import Addresses, as_xhtml, xml_text, xml_value
from sumi.files.plain_text import iso_utc, one_line
from sumi.urls.parts import serialized

# What every reader of the format has to show. SVG is among them, but has to be valid, which it often is not.
_IMAGES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_BEGINNINGS: Final = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_LONE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_CONTAINER: Final = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
_STYLE: Final = """body { line-height: 1.4; } pre { white-space: pre-wrap; font-size: 0.85em; }
table { border-collapse: collapse; } td, th { border: 1px solid; padding: 0.2em 0.4em; vertical-align: top; }
img { max-width: 100%; } .source { font-size: 0.8em; }
"""
_PAGE: Final = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"{language}>
<head><title>{title}</title><link rel="stylesheet" type="text/css" href="style.css"/></head>
<body>{body}</body></html>
"""


def write_epub(material: Material, target: Path) -> int:
    with new_file(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        return _Book(bundle, material).write()


class _Book:
    def __init__(self, bundle: zipfile.ZipFile, material: Material) -> None:
        self._bundle = bundle
        self._material = material
        self._when = datetime.fromtimestamp(material.moment, UTC).timetuple()[:6]
        self._written: list[int] = []  # numbers of pages
        self._images: dict[int, Listed] = {}
        self._languages: Counter[str] = Counter()

    def write(self) -> int:
        kind = zipfile.ZipInfo(
            "mimetype", self._when
        )  # first and not compressed, so that it is at a fixed place
        self._bundle.writestr(kind, "application/epub+zip")
        self._put("META-INF/container.xml", _CONTAINER)
        self._put("book/style.css", _STYLE)
        for listed, text in self._material.texts(self._material.listing.pages()):
            self._put(f"book/{_chapter(listed)}", self._page(listed, text))
            self._written.append(listed.number)
            self._languages[listed.page.language] += 1
        for listed in self._images.values():
            data = self._material.body(listed) or b""
            self._bundle.writestr(zipfile.ZipInfo(f"book/{_image(listed)}", self._when), data)
        self._put("book/nav.xhtml", self._contents())
        self._put("book/book.opf", self._package())
        return len(self._written)

    def _put(self, path: str, text: str) -> None:
        info = zipfile.ZipInfo(path, self._when)
        info.compress_type = zipfile.ZIP_DEFLATED
        self._bundle.writestr(info, text.encode("utf-8", "replace"))

    def _page(self, listed: Listed, text: str) -> str:
        page = listed.page
        body = as_xhtml(text, Addresses(self._link, self._image))
        source = _web(page.url)
        shown = xml_text(page.url)
        said = shown if source is None else f"<a href={xml_value(source)}>{shown}</a>"
        language = f' xml:lang="{page.language}"' if _LANGUAGE.fullmatch(page.language) else ""
        return _PAGE.format(
            language=language, title=_title(listed), body=f'{body}<p class="source">{said}</p>'
        )

    def _link(self, target: str) -> str | None:
        found, _ = self._material.listing.find_target(target) if target.startswith("http") else (None, "")
        if found is not None and found.page.form != "file":
            return _chapter(found)
        return _web(target)

    def _image(self, target: str) -> str | None:
        found, _ = self._material.listing.find_target(target) if target.startswith("http") else (None, "")
        if found is None or _media(found) not in _IMAGES:
            return None
        if found.number not in self._images:
            data = self._material.body(found)
            if data is None or not data.startswith(_BEGINNINGS[_media(found)]):
                return None
            self._images[found.number] = found
        return _image(found)

    def _contents(self) -> str:
        entries = (
            f"<li><a href={xml_value(_chapter(listed))}>{_title(listed)}</a></li>\n"
            for listed in self._pages()
        )
        body = f'<nav epub:type="toc"><h1>Contents</h1><ol>\n{"".join(entries)}</ol></nav>'
        return _PAGE.format(language="", title="Contents", body=body)

    def _package(self) -> str:
        title = self._material.title()
        language = next(
            (name for name, _ in self._languages.most_common() if _LANGUAGE.fullmatch(name)), "und"
        )
        items = [
            f'<item id="p{n}" href="page-{n}.xhtml" media-type="application/xhtml+xml"/>\n'
            for n in self._written
        ]
        items += [
            f'<item id="i{n}" href={xml_value(_image(one))} media-type="{_media(one)}"/>\n'
            for n, one in self._images.items()
        ]
        spine = "".join(f'<itemref idref="p{number}"/>\n' for number in self._written)
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">\n'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
            f'<dc:identifier id="id">urn:uuid:{uuid5(NAMESPACE_URL, title)}</dc:identifier>\n'
            f"<dc:title>{xml_text(one_line(title, 200)) or 'Pages'}</dc:title>\n"
            f"<dc:language>{language}</dc:language>\n"
            f'<meta property="dcterms:modified">{iso_utc(self._material.moment)}</meta>\n'
            "</metadata>\n<manifest>\n"
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
            '<item id="style" href="style.css" media-type="text/css"/>\n'
            f"{''.join(items)}</manifest>\n<spine>\n{spine}</spine>\n</package>\n"
        )

    def _pages(self) -> list[Listed]:
        written = set(self._written)
        return [listed for listed in self._material.listing.pages() if listed.number in written]


def _chapter(listed: Listed) -> str:
    return f"page-{listed.number}.xhtml"


def _image(listed: Listed) -> str:
    return f"image-{listed.number}.{_IMAGES[_media(listed)]}"


def _media(listed: Listed) -> str:
    return listed.page.content_type.partition(";")[0].strip().lower()


def _title(listed: Listed) -> str:
    return xml_text(one_line(listed.page.title, 300) or listed.page.url)


def _web(target: str) -> str | None:
    """A link to the web as readers accept it; None for anything else."""
    url = serialized(target) if target.startswith(("http:", "https:")) else None
    return None if url is None else _LONE_PERCENT.sub("%25", url)

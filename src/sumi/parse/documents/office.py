"""DOCX and ODT as HTML: headings, paragraphs, lists, tables, links, notes, emphasis."""

from collections.abc import Callable, Iterator
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from sumi.parse.documents.document import Document
from sumi.parse.documents.package import Package

_DEEPEST: Final = 6
_TABLES: Final = 8  # one in another; deeper ones are text
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
_LANGUAGE: Final = "{http://purl.org/dc/elements/1.1/}language"
_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE: Final = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DRAW: Final = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_SVG: Final = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}href"


def read_docx(body: bytes) -> Document:
    return _Docx(Package(body)).document()


def read_odt(body: bytes) -> Document:
    return _Odt(Package(body)).document()


def _link(address: str | None, html: str) -> str:
    return f'<a href="{escape(address)}">{html}</a>' if address and html.strip() else html


def _heading(level: int, html: str) -> str:
    level = max(1, min(level, _DEEPEST))
    return f"<h{level}>{html}</h{level}>"


def _properties(package: Package, part: str, name: str) -> str:
    """What the document says of itself."""
    root = package.optional_xml(part)
    found = None if root is None else root.find(f".//{name}")
    return "" if found is None else (found.text or "").strip()


def _table(rows: list[list[str]]) -> str:
    def row(cells: list[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"

    if not rows:
        return ""
    body = "".join(row(cells, "td") for cells in rows[1:])
    return f"<table><thead>{row(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    items = "".join(f'<li id="note-{number}">{note}</li>' for number, note in enumerate(notes, 1))
    return f"<ol>{items}</ol>"


def _reference(number: int) -> str:
    return f'<sup><a href="#note-{number}">{number}</a></sup>'


class _Docx:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._levels = self._heading_levels()
        self._ordered = self._ordered_lists()
        self._targets = self._link_targets()
        self._notes: list[str] = []
        self._footnotes = self._texts_of_notes()
        self._pictures = 0
        self._depth = 0

    def document(self) -> Document:
        body = self._package.xml("word/document.xml").find(f"{_W}body")
        html = "\n".join(self._blocks(body)) if body is not None else ""
        return Document(
            html=html + _notes(self._notes),
            title=_properties(self._package, "docProps/core.xml", _TITLE),
            language=_properties(self._package, "docProps/core.xml", _LANGUAGE),
            shortfalls=_without_pictures(self._pictures),
        )

    def _heading_levels(self) -> dict[str, int]:
        """By the id of a style: its level in an outline, or the number at the end of its name."""
        root = self._package.optional_xml("word/styles.xml")
        levels: dict[str, int] = {}
        for style in () if root is None else root.iter(f"{_W}style"):
            name = _value(style.find(f"{_W}name")).lower()
            outline = _value(style.find(f"{_W}pPr/{_W}outlineLvl"))
            if name == "title":
                levels[style.get(f"{_W}styleId", "")] = 1
            elif outline.isdigit() and int(outline) < _DEEPEST:
                levels[style.get(f"{_W}styleId", "")] = int(outline) + 1
            elif name.startswith("heading ") and name[8:].isdigit():
                levels[style.get(f"{_W}styleId", "")] = int(name[8:])
        return levels

    def _ordered_lists(self) -> frozenset[str]:
        root = self._package.optional_xml("word/numbering.xml")
        if root is None:
            return frozenset()
        abstract = {
            kind.get(f"{_W}abstractNumId", ""): _value(kind.find(f"{_W}lvl/{_W}numFmt"))
            for kind in root.iter(f"{_W}abstractNum")
        }
        return frozenset(
            number.get(f"{_W}numId", "")
            for number in root.iter(f"{_W}num")
            if abstract.get(_value(number.find(f"{_W}abstractNumId")), "bullet") not in ("bullet", "none", "")
        )

    def _link_targets(self) -> dict[str, str]:
        root = self._package.optional_xml("word/_rels/document.xml.rels")
        return (
            {}
            if root is None
            else {
                relation.get("Id", ""): relation.get("Target", "")
                for relation in root
                if relation.get("TargetMode") == "External"
            }
        )

    def _texts_of_notes(self) -> dict[str, Element]:
        root = self._package.optional_xml("word/footnotes.xml")
        return {} if root is None else {note.get(f"{_W}id", ""): note for note in root}

    def _blocks(self, parent: Element) -> Iterator[str]:
        items: list[str] = []
        list_tag = ""
        for child in parent:
            tag = self._list_tag(child)
            if items and tag != list_tag:
                yield f"<{list_tag}>{''.join(items)}</{list_tag}>"
                items = []
            list_tag = tag
            if tag:
                items.append(f"<li>{self._inline(child)}</li>")
            elif child.tag == f"{_W}p":
                yield self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                yield self._table(child)
            elif child.tag == f"{_W}sdt":
                for content in child.findall(f"{_W}sdtContent"):
                    yield from self._blocks(content)
        if items:
            yield f"<{list_tag}>{''.join(items)}</{list_tag}>"

    def _list_tag(self, element: Element) -> str:
        number = element.find(f"{_W}pPr/{_W}numPr/{_W}numId") if element.tag == f"{_W}p" else None
        if number is None or _value(number) == "0" or self._level(element):
            return ""
        return "ol" if _value(number) in self._ordered else "ul"

    def _level(self, paragraph: Element) -> int:
        return self._levels.get(_value(paragraph.find(f"{_W}pPr/{_W}pStyle")), 0)

    def _paragraph(self, element: Element) -> str:
        html = self._inline(element)
        if not html.strip():
            return ""
        level = self._level(element)
        return _heading(level, html) if level else f"<p>{html}</p>"

    def _table(self, element: Element) -> str:
        if self._depth >= _TABLES:
            return f"<p>{escape(''.join(element.itertext()))}</p>"
        self._depth += 1
        rows = [
            ["".join(self._blocks(cell)) for cell in row.findall(f"{_W}tc")]
            for row in element.findall(f"{_W}tr")
        ]
        self._depth -= 1
        return _table(rows)

    def _inline(self, element: Element) -> str:
        return "".join(map(self._piece, element))

    def _piece(self, element: Element) -> str:
        match element.tag.removeprefix(_W):
            case "r":
                return self._run(element)
            case "hyperlink":
                return _link(self._targets.get(element.get(_RELATION, "")), self._inline(element))
            case "ins" | "smartTag" | "sdt" | "sdtContent" | "fldSimple":
                return self._inline(element)
        return ""

    def _run(self, run: Element) -> str:
        html = "".join(map(self._run_piece, run))
        if not html.strip():
            return html
        for name, tag in (("b", "strong"), ("i", "em"), ("strike", "del")):
            mark = run.find(f"{_W}rPr/{_W}{name}")
            if mark is not None and mark.get(f"{_W}val") not in ("0", "false"):
                html = f"<{tag}>{html}</{tag}>"
        return html

    def _run_piece(self, element: Element) -> str:
        match element.tag.removeprefix(_W):
            case "t":
                return escape(element.text or "")
            case "tab":
                return " "
            case "br" | "cr":
                return "<br>"
            case "noBreakHyphen":
                return "-"
            case "footnoteReference":
                return self._note(element.get(f"{_W}id", ""))
            case "drawing":
                return self._picture(element)
        return ""

    def _note(self, name: str) -> str:
        note = self._footnotes.pop(name, None)  # each once
        if note is None:
            return ""
        self._notes.append("")
        number = len(self._notes)
        self._notes[number - 1] = " ".join(self._inline(each) for each in note.findall(f"{_W}p")).strip()
        return _reference(number)

    def _picture(self, element: Element) -> str:
        described = element.find(f".//{_DRAWING}")
        words = "" if described is None else (described.get("descr") or "").strip()
        self._pictures += not words
        return f"<em>{escape(words)}</em>" if words else ""


def _value(element: Element | None) -> str:
    return "" if element is None else element.get(f"{_W}val", "")


def _without_pictures(number: int) -> list[str]:
    return [f"images: {number:,} pictures have no words for them"] if number else []


class _Odt:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._notes: list[str] = []
        self._pictures = 0
        self._readers: dict[str, Callable[[Element], str]] = {
            f"{_TEXT}p": self._paragraph,
            f"{_TEXT}h": self._heading,
            f"{_TEXT}list": self._list,
            f"{_TABLE}table": self._table,
        }

    def document(self) -> Document:
        text = self._package.xml("content.xml").find(f"{_OFFICE}body/{_OFFICE}text")
        html = "" if text is None else self._blocks(text)
        return Document(
            html=html + _notes(self._notes),
            title=_properties(self._package, "meta.xml", _TITLE),
            language=_properties(self._package, "meta.xml", _LANGUAGE),
            shortfalls=_without_pictures(self._pictures),
        )

    def _blocks(self, parent: Element) -> str:
        return "\n".join(filter(None, map(self._block, parent)))

    def _block(self, element: Element) -> str:
        reader = self._readers.get(element.tag)
        if reader is not None:
            return reader(element)
        is_group = element.tag in (f"{_TEXT}section", f"{_TEXT}index-body", f"{_TEXT}list-header")
        return self._blocks(element) if is_group else ""

    def _paragraph(self, element: Element) -> str:
        html = self._inline(element)
        if "preformatted" in element.get(f"{_TEXT}style-name", "").lower():
            return f"<pre><code>{html}</code></pre>"
        return f"<p>{html}</p>" if html.strip() else ""

    def _heading(self, element: Element) -> str:
        level = element.get(f"{_TEXT}outline-level", "1")
        return _heading(int(level) if level.isdigit() else 1, self._inline(element))

    def _list(self, element: Element) -> str:
        items = (f"<li>{self._blocks(item)}</li>" for item in element.findall(f"{_TEXT}list-item"))
        return f"<ul>{''.join(items)}</ul>"

    def _table(self, element: Element) -> str:
        rows = [
            [self._blocks(cell) for cell in row.findall(f"{_TABLE}table-cell")]
            for row in element.iter(f"{_TABLE}table-row")
        ]
        return _table(rows)

    def _inline(self, element: Element) -> str:
        html = escape(element.text or "")
        for child in element:
            html += self._piece(child) + escape(child.tail or "")
        return html

    def _piece(self, element: Element) -> str:
        match element.tag.removeprefix(_TEXT):
            case "s" | "tab":
                return " "
            case "line-break":
                return "<br>"
            case "a":
                return _link(element.get(_XLINK), self._inline(element))
            case "note":
                return self._note(element)
            case "span" | "ruby" | "ruby-base" | "bookmark-ref":
                return self._inline(element)
        if element.tag == f"{_DRAW}frame":
            return self._picture(element)
        return ""

    def _note(self, element: Element) -> str:
        body = element.find(f"{_TEXT}note-body")
        if body is None:
            return ""
        self._notes.append("")
        number = len(self._notes)
        self._notes[number - 1] = self._blocks(body)
        return _reference(number)

    def _picture(self, element: Element) -> str:
        found = (element.find(f"{_SVG}{name}") for name in ("desc", "title"))
        words = next((each.text.strip() for each in found if each is not None and each.text), "")
        self._pictures += not words
        return f"<em>{escape(words)}</em>" if words else ""

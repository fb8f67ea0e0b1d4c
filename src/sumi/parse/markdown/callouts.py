"""Boxes that warn, hint or remark: quotes under a line in bold that says of what kind they are."""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from sumi.parse.html import Document, Element, Text, collapse, element_children, new_element, select_each

# What the boxes of generators are called, and the word that readers know; a class has it alone or as a part.
_KINDS: Final = {
    "note": "Note",
    "info": "Info",
    "information": "Info",
    "tip": "Tip",
    "hint": "Hint",
    "important": "Important",
    "warning": "Warning",
    "warn": "Warning",
    "caution": "Caution",
    "danger": "Danger",
    "error": "Error",
    "failure": "Failure",
    "success": "Success",
    "attention": "Attention",
    "example": "Example",
    "question": "Question",
    "bug": "Bug",
    "todo": "To do",
    "abstract": "Abstract",
    "deprecated": "Deprecated",
    "critical": "Critical",
    "seealso": "See also",
}
_BOX_WORDS: Final = frozenset({"callout", "admonition", "alert", "notecard", "hint", "aside"})
_BOX_ENDS: Final = frozenset({"root", "box", "container", "wrapper", "block"})
# Of boxes that have their kind in a class of its own: ``notices warning``, ``message is-warning``.
_FRAME_WORDS: Final = frozenset({"notice", "notices", "message", "bubble", "hint", "infobox", "panel"})
# What a class alone may say; the others are said of much else.
_LONE_KINDS: Final = ("note", "tip", "warning", "caution", "important", "danger")
_MODIFIERS: Final = frozenset({*_LONE_KINDS, "information"})
_PARAGRAPHS: Final = tuple(f"p.{kind}" for kind in _LONE_KINDS)
_TITLED: Final = "-title"  # in the class of a quote of which the first line is a title
_LONGEST_BOX: Final = 3_000
_NO_BOXES: Final = ("h1", "h2", "article", "main", "nav", "form", "input", "select", "textarea")
_PARTS: Final = re.compile(r"[^a-z]+")
# Attributes that say the kind, where no class does.
_SAID_BY: Final = ("data-callout", "data-type", "data-variant", "data-kind", "data-admonition", "type")
_TITLES: Final = re.compile(r"title|heading|header|label|font-medium|font-bold|font-semibold|summary")
_LONGEST_TITLE: Final = 120
_ROLES: Final = tuple(f"{tag}[role=note]" for tag in ("div", "aside", "section", "p"))
_STYLED: Final = "div[style*=callout]"
_DEEPEST: Final = 3
_OTHER_NOTES: Final = re.compile("footnote|citation|hatnote")
# The usual titles in other languages say the kind, too.
_TITLES_ELSEWHERE: Final = """
    hinweis tipp warnung achtung vorsicht gefahr wichtig fehler beispiel remarque astuce conseil avertissement
    attention danger exemple nota sugerencia consejo advertencia aviso precaución cuidado peligro importante
    ejemplo suggerimento attenzione avviso pericolo esempio dica atenção perigo exemplo opmerking waarschuwing
    wskazówka uwaga ostrzeżenie примечание внимание предупреждение совет
    注意 警告 提示 备注 注解 重要 危险 ヒント 注釈 참고 경고 주의 팁
"""
_TRANSLATED: Final = frozenset(_TITLES_ELSEWHERE.split())
_DOCBOOK: Final = frozenset({"note", "tip", "warning", "caution", "important"})


@lru_cache(maxsize=4096)
def is_box(classes: str) -> bool:
    """Whether classes are of a box by a part of one: ``x-callout``, ``callout-warning``, ``alert-info``."""
    return _is_sure(classes) or _is_framed(classes)


@lru_cache(maxsize=4096)
def _is_sure(classes: str) -> bool:
    lowered = classes.lower()
    if not any(word in lowered for word in _BOX_WORDS):
        return False
    return any(_is_box_name(_PARTS.split(name)) for name in lowered.split())


def _is_box_name(parts: list[str]) -> bool:
    parts = [part for part in parts if part]
    if _BOX_WORDS.isdisjoint(parts):
        return False
    return parts[-1] in ("callout", "admonition") or (
        len(parts) > 1 and parts[-2] in _BOX_WORDS and (parts[-1] in _KINDS or parts[-1] in _BOX_ENDS)
    )


def _is_framed(classes: str) -> bool:
    names = classes.lower().split()
    if len(names) == 1:
        return names[0].removesuffix(_TITLED) in _LONE_KINDS
    if any(_is_modified(name, names) for name in names):
        return True
    kinds = {name for name in names if name.removeprefix("is-") in _KINDS}
    return bool(kinds) and any(
        name not in kinds and not _FRAME_WORDS.isdisjoint(_PARTS.split(name)) for name in names
    )


def _is_modified(name: str, names: list[str]) -> bool:
    """``panel panel-warning``, and not buttons and labels, which are no divisions."""
    block, _, kind = name.rpartition("-")
    return kind in _MODIFIERS and block.rstrip("-_") in names


def is_kind(word: str) -> bool:
    return word in _KINDS


def boxes_by_role(document: Document) -> list[Element]:
    """Those that no class tells of."""
    folds = [fold for fold in document.select("details[class]") if fold.attr("class") in _KINDS]
    noted = [
        note for note in select_each(document, _ROLES) if not _OTHER_NOTES.search(note.attr("class") or "")
    ]
    paragraphs = select_each(document, _PARAGRAPHS)
    found = [*noted, *document.select(_STYLED), *folds, *paragraphs, *_tabled(document)]
    return [box for box in dict.fromkeys(found) if box.text.strip()]


def _tabled(document: Document) -> list[Element]:
    """DocBook's boxes as a table of an icon, a title and a text."""
    tables = document.select("table[summary]")
    boxes = [table.parent for table in tables if isinstance(table.parent, Element)]
    return [box for box in boxes if box.attr("class") in _DOCBOOK]


def quote_callout(box: Element) -> None:
    if box.parent is None or (box.tag == "details" and box.has_class("alert")):  # a fold in such a frame
        return
    if _is_more_than_box(box):
        return
    if box.tag == "p":
        box.wrap_children(new_element("p"))
    _lay_out(box)
    kind = _kind_of(box)
    box.tag = "blockquote"
    title = _title_of(box)
    if title is not None:
        _write_title(title, kind)
    elif kind and not _says(box.text[:_LONGEST_TITLE], kind) and not _begins_with_kind(box.text):
        box.insert(0, _bold(kind))


def _is_more_than_box(box: Element) -> bool:
    """Of what only a common word calls one."""
    classes = box.attr("class") or ""
    if _is_sure(classes) or not _is_framed(classes):
        return False
    if box.tag in ("ul", "ol", "table", "header") or len(box.text) > _LONGEST_BOX:
        return True
    return next(box.iter_elements(_NO_BOXES), None) is not None


def _begins_with_kind(text: str) -> bool:
    """Of its own, which may be another: ``Note: …`` in a box that is called a tip."""
    return text[:_LONGEST_TITLE].strip().partition(":")[0].lower() in _KINDS


def _bold(words: str) -> Element:
    line = new_element("p")
    line.append(new_element("strong", words))
    return line


def _write_title(title: Element, kind: str) -> None:
    words = title.text
    for line in list(title.iter_elements("p")):
        line.unwrap()
    title.tag = "p"
    if kind and not _says(words, kind):
        title.insert(0, Text(f"{kind}: "))
    title.wrap_children(new_element("strong"))


def _says(words: str, kind: str) -> bool:
    """The kind itself, or a title that is nothing but one, in whatever language."""
    if words.strip().rstrip(":!").lower() in _TRANSLATED:
        return True
    said = {part for part in _PARTS.split(words.lower()[:_LONGEST_TITLE]) if part}
    return kind.lower().replace(" ", "") in words.lower().replace(" ", "") or any(
        _KINDS.get(word) == kind or word.rstrip("s") in _KINDS for word in said if len(said) <= 2
    )


def _kind_of(box: Element) -> str:
    classes = (box.attr("class") or "").lower()
    for name in classes.split():
        parts = [part for part in _PARTS.split(name.removesuffix(_TITLED)) if part]
        is_telling = len(parts) < 3 or _is_modified(name, classes.split())
        said = parts if not _BOX_WORDS.isdisjoint(parts) else parts[-1:] if is_telling else []
        kind = next((_KINDS[part] for part in said if part in _KINDS and part != "hint"), "")
        if kind or said == ["hint"]:
            return kind or "Hint"
    for name in _SAID_BY:
        said_so = _KINDS.get((box.attr(name) or "").lower())
        if said_so:
            return said_so
    label = (box.attr("aria-label") or "").strip()
    return _KINDS.get(label.lower(), "") or _kind_in_style(box.attr("style") or "")


def _kind_in_style(style: str) -> str:
    """``--callout-color: var(--color-warning)``."""
    if "callout" not in style:
        return ""
    return next((_KINDS[part] for part in _PARTS.split(style.lower()) if part in _KINDS), "")


def _title_of(box: Element) -> Element | None:
    """The first that is seen in the box, however often that is wrapped, if it is called so or a heading."""
    part = box
    if (box.attr("class") or "").endswith(_TITLED):
        return next(element_children(box), None)
    for _ in range(_DEEPEST):
        first = next((each for each in element_children(part) if each.text.strip()), None)
        if first is None or _has_text_before(first):
            return None
        if _is_title(first):
            return first
        part = first
    return None


def _has_text_before(element: Element) -> bool:
    return any(isinstance(node, Text) and node.data.strip() for node in islice(element.previous_siblings, 4))


def _is_title(element: Element) -> bool:
    classes = (element.attr("class") or "").lower()
    is_called_so = _TITLES.search(classes) is not None or element.tag in ("summary", "h3", "h4", "h5", "h6")
    if not is_called_so or len(element.text) > _LONGEST_TITLE:
        return False
    blocks = list(islice(element.iter_elements(("p", "ul", "ol", "pre", "table", "blockquote")), 2))
    if not blocks or len(blocks) > 1 or blocks[0].tag != "p":
        return not blocks
    return not any(map(str.isalnum, element.text.strip().removesuffix(blocks[0].text.strip())))


def _lay_out(box: Element) -> None:
    """AsciiDoc and DocBook write a box as a table of its title and its text; the title may be an icon."""
    table = next(element_children(box), None)
    if table is None or table.tag != "table":
        return
    cells = list(islice(table.iter_elements(("td", "th")), 4))
    shown = [cell for cell in cells if cell.text.strip()]
    icon = next((cell for cell in cells if _is_icon(cell)), None)
    if icon is None or len(cells) > 3 or not 1 <= len(shown) <= 2:
        return
    text = shown[-1]
    named = icon.select_one("[title], img[alt]")
    by_icon = "" if named is None else (named.attr("title") or named.attr("alt") or "").strip("[]")
    title = new_element("p", (collapse(shown[0].text) if len(shown) > 1 else "") or by_icon)
    title.attrs["class"] = "title"
    own = next(element_children(text), None)
    parts = list(text.children)
    box.clear()
    if own is None or not _is_title(own) or not _kind_of(box):
        box.append(title)
    box.extend(parts)


def _is_icon(cell: Element) -> bool:
    if cell.attr("class") == "icon":
        return True
    return not cell.text.strip() and next(cell.iter_elements("img"), None) is not None

"""What pages draw though it is text: boxes of tasks, data unfolded as lists, formulas in prose, diagrams."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sumi.parse.html import (
    Document,
    Element,
    Node,
    Text,
    collapse,
    element_children,
    new_element,
    select_each,
)
from sumi.parse.markdown import formulas

_TASK_LISTS: Final = tuple(
    f"{tag}[class*={name}]" for tag in ("ul", "ol") for name in ("check", "task", "todo")
)
_DONE: Final = re.compile(
    r"check(?:ed|box)?[-_](?:square|circle|checked|marked)|square[-_]check|is-?checked|\bchecked\b"
)
_OPEN: Final = re.compile(
    r"(?:fa|icon|bi|mdi|ti)[-_](?:regular-|o-)?(?:square|circle|unchecked)|square-o|unchecked"
)
_DONE_SIGNS: Final = ("☑", "✓", "✔", "✅", "🗹", "☒")
_OPEN_SIGNS: Final = ("☐", "❏", "❑", "□", "⬜", "🗆")
_FIRST: Final = 8  # nodes of an item, of which the sign is one


def find_task_lists(document: Document) -> list[Element]:
    return select_each(document, _TASK_LISTS)


def write_boxes(items: Element) -> None:
    """Of tasks whose boxes are icons or signs; where they are fields they are known already."""
    for item in element_children(items):
        if item.tag == "li" and next(item.iter_elements("input"), None) is None:
            if item.attr("data-inline-task-id") is not None:
                _begin_with_box(item, done=item.has_class("checked"))
            else:
                _write_box(item)


def _write_box(item: Element) -> None:
    for node in islice(item.descendants, _FIRST):
        done = _is_done(node)
        if done is not None:
            _put_box(node, done=done)
            return
        if isinstance(node, Text) and node.data.strip():
            return


def _is_done(node: Node) -> bool | None:
    """None for what is no box."""
    if isinstance(node, Text):
        sign = node.data.lstrip()[:1]
        return True if sign in _DONE_SIGNS and sign else False if sign in _OPEN_SIGNS and sign else None
    if not isinstance(node, Element) or node.tag not in ("i", "span") or node.text.strip():
        return None
    classes = (node.attr("class") or "").lower()
    return True if _DONE.search(classes) else False if _OPEN.search(classes) else None


def _begin_with_box(item: Element, *, done: bool) -> None:
    mark = Text("☑" if done else "☐")
    item.insert(0, mark)
    _put_box(mark, done=done)


def _put_box(node: Node, *, done: bool) -> None:
    box = new_element("input")
    box.attrs["type"] = "checkbox"
    if done:
        box.attrs["checked"] = ""
    if isinstance(node, Text):
        node.insert_before(box)
        node.replace_with(Text(f" {node.data.lstrip()[1:].lstrip()}"))
    else:
        node.replace_with(box)


# Data that can be unfolded: a list per object, within what calls itself code.
_LISTS: Final = ("ul", "ol")
_INDENT: Final = "  "
_DEEPEST: Final = 40


def find_unfolded(document: Document) -> list[Element]:
    around = (item.closest("code") for item in document.select("code li"))
    return [code for code in dict.fromkeys(around) if code is not None]


def write_unfolded(code: Element) -> None:
    """A block, in which each item has its line and as many blanks before it as lists around it."""
    if code.closest("pre") is not None or code.parent is None:
        return
    for part in list(code.iter_elements(("button", "svg"))):
        part.decompose()
    text = "".join(_unfolded(code, 0)).strip("\n")
    code.tag = "pre"
    code.set_text(text)
    if _is_json(text):
        code.attrs["class"] = "language-json"
    elif code.attr("class") is not None:
        del code.attrs["class"]


def _unfolded(element: Element, depth: int) -> Iterator[str]:
    for node in element.children:
        if isinstance(node, Text):
            yield (
                re.sub(r"\s+", " ", node.data) if node.data.strip() or not node.data.startswith("\n") else ""
            )
        elif isinstance(node, Element) and depth < _DEEPEST:
            if node.tag in _LISTS:
                yield from _unfolded(node, depth + 1)
                yield f"\n{_INDENT * depth}"
            elif node.tag == "li":
                yield f"\n{_INDENT * depth}"
                yield from _unfolded(node, depth)
            else:
                yield from _unfolded(node, depth)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# Diagrams: the words in them are all that can be read without the picture.
_LEAST_WORDS: Final = 3
_MOST_WORDS: Final = 2_000  # characters
_UNREAD: Final = "a, button, nav, [aria-hidden=true], header, footer"


def write_diagram(svg: Element) -> None:
    """A line of what is written in it, or of what it is called. Icons say nothing."""
    words = _words_of(svg)
    if not words or svg.parent is None or svg.closest(_UNREAD) is not None:
        svg.decompose()
        return
    line = new_element("p")
    line.append(new_element("em", f"Diagram: {words}"))
    svg.replace_with(line)


def _words_of(svg: Element) -> str:
    written = [collapse(text.text) for text in svg.iter_elements(("text", "foreignobject"))]
    written = [words for words in written if words]
    name = svg.attr("aria-label") or ""
    if len(written) >= _LEAST_WORDS:
        name = f"{name}: {' '.join(written)}" if name else " ".join(written)
    elif svg.attr("role") != "img" or len(name.split()) < _LEAST_WORDS:
        return ""
    return name[:_MOST_WORDS]


_RAW: Final = re.compile(
    r"\\\((?P<inline>.{1,2000}?)\\\)|\\\[(?P<display>.{1,4000}?)\\\]|\$\$(?P<dollars>[^$]{1,4000}?)\$\$"
    r"|\\\$(?P<ascii>[^$]{1,2000}?)\\\$",
    re.DOTALL,
)
_ENGINES: Final = ("mathjax", "katex")


def sets_formulas(scripts: list[Element]) -> bool:
    """Whether a script of the page looks for formulas in its prose."""
    for script in scripts:
        if script.tag == "script":
            said = (script.attr("src") or script.text[:_MOST_WORDS]).lower()
            if any(map(said.__contains__, _ENGINES)):
                return True
    return False


def write_raw_formulas(texts: list[Text]) -> None:
    for text in texts:
        if _RAW.search(text.data) is not None:
            _part_at_formulas(text)


def _part_at_formulas(text: Text) -> None:
    done = 0
    for found in _RAW.finditer(text.data):
        text.insert_before(Text(text.data[done : found.start()]))
        done = found.end()
        tex = found["inline"] or found["display"] or found["dollars"]
        holder = new_element("span", found["ascii"] or "")
        text.insert_before(holder)
        if tex is None:
            holder.tag = "code"  # AsciiMath, which is not TeX
        else:
            formulas.set_tex(holder, tex, display=found["inline"] is None)
    text.replace_with(Text(text.data[done:]))

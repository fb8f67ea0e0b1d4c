"""Blocks that Markdown has no sign for, made into the nearest that it has."""

from itertools import islice
from typing import Final

from sumi.parse.html import Element, Node, Text, collapse, element_children, new_element

_LARGEST_NUMBER: Final = 999_999_999  # of a list item, by CommonMark
_DEFINITIONS: Final = "sumi-definitions"
_LONE_MEANING: Final = "sumi-meaning"


def list_definitions(definitions: Element) -> None:
    """A definition list becomes a list whose items are a term and, indented under it, what it means.

    Of the ways to write one in Markdown this is the only one that every renderer understands, and the only
    one that shows which text belongs to which of several nested terms.
    """
    term: Element | None = None
    for part in _terms_and_meanings(definitions):
        if part.tag == "dt":
            term = part
            term.tag = "li"
        elif part.tag == "dd" and term is not None:
            part.tag = "div"
            term.append(part)
        else:
            part.tag = "li"
            part.attrs["class"] = _LONE_MEANING
    definitions.tag = "ul"
    definitions.attrs["class"] = _DEFINITIONS
    _join_to_previous(definitions)


def is_lone_meaning(item: Element) -> bool:
    """Made an item for want of a term to stand under; on the page it was none."""
    return item.attr("class") == _LONE_MEANING


def gather_stray_terms(term: Element) -> None:
    """Terms without a list around them, as some generators write glossaries, are a list all the same. Those
    in a list are none any more when their turn comes."""
    if not isinstance(term.parent, Element):
        return
    definitions = new_element("dl")
    term.insert_before(definitions)
    node: Node | None = term
    while node is not None and (_is_blank(node) or (isinstance(node, Element) and node.tag in ("dt", "dd"))):
        following = node.next_sibling
        definitions.append(node)
        node = following
    list_definitions(definitions)


def _join_to_previous(definitions: Element) -> None:
    """API pages have a list per function; Markdown would change the bullet with each."""
    previous = definitions.previous_sibling
    while previous is not None and _is_blank(previous):
        # Gone rather than skipped, or a page of many lists would be searched ever further back.
        previous.decompose()
        previous = definitions.previous_sibling
    if isinstance(previous, Element) and previous.tag == "ul" and previous.attr("class") == _DEFINITIONS:
        previous.extend(list(definitions.children))
        definitions.decompose()


def _is_blank(node: Node) -> bool:
    return isinstance(node, Text) and not node.data.strip()


def _terms_and_meanings(definitions: Element) -> list[Element]:
    parts: list[Element] = []
    for child in list(element_children(definitions)):
        if child.tag == "div":
            parts.extend(part for part in element_children(child) if part.tag in ("dt", "dd"))
            child.unwrap()
        elif child.tag in ("dt", "dd"):
            parts.append(child)
    return parts


def join_label(footnote: Element) -> None:
    """The number of a footnote as docutils writes it, into the paragraph that it stands beside."""
    parts = list(islice(element_children(footnote), 2))
    if len(parts) < 2 or not parts[0].has_class("label") or parts[1].tag != "p":
        return
    label, text = parts
    text.insert(0, Text(f"[{collapse(label.text).strip('[]')}] "))
    label.decompose()


def release_checkbox(label: Element) -> None:
    """The converter knows boxes of tasks only as the first thing in their item."""
    box = label.select_one("input[type=checkbox]")
    if box is not None and isinstance(label.parent, Element) and label.parent.tag in ("li", "p"):
        for painted in label.select("span"):
            if not painted.text:
                painted.decompose()
        label.unwrap()


def embolden_summary(summary: Element) -> None:
    if summary.select_one("h1, h2, h3, h4, h5, h6") is None:
        summary.wrap_children(new_element("strong"))


def plain_numbering(items: Element) -> None:
    """Numbers that Markdown cannot write are given up; the converter would fall back to raw HTML."""
    if "reversed" in items.attrs:
        del items.attrs["reversed"]
    _drop_bad_number(items, "start")


def plain_number(item: Element) -> None:
    _drop_bad_number(item, "value")


def _drop_bad_number(element: Element, name: str) -> None:
    value = element.attr(name)
    if value is None:
        return
    value = value.strip()
    if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= _LARGEST_NUMBER):
        del element.attrs[name]


def as_block(element: Element) -> None:
    element.tag = "div"


def as_code(element: Element) -> None:
    element.tag = "code" if element.text.strip() else "span"

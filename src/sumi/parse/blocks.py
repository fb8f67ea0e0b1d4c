"""Blocks that Markdown has no sign for, made into the nearest that it has."""

from typing import Final

from sumi.parse.chrome import Part, part_of
from sumi.parse.html import Element, Node, Text, collapse, element_children, new_element

_LARGEST_NUMBER: Final = 999_999_999  # of a list item, by CommonMark
_DEFINITIONS: Final = "sumi-definitions"


def list_definitions(definitions: Element) -> None:
    """A definition list becomes a list whose items are a term and, indented under it, what it means.

    Of the ways to write one in Markdown this is the only one that every renderer understands, and the only
    one that shows which text belongs to which of several nested terms.
    """
    term: Element | None = None
    for part in _terms_and_meanings(definitions):
        if part.tag == "dt":
            term = part
            _prepare_term(term)
        elif part.tag == "dd" and term is not None:
            part.tag = "div"
            term.append(part)
        else:
            part.tag = "li"
    definitions.tag = "ul"
    definitions.attrs["class"] = _DEFINITIONS
    _join_to_previous(definitions)


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


def _prepare_term(term: Element) -> None:
    term.tag = "li"
    # A signature is code in a dozen spans; as prose every underscore of it would be escaped.
    if term.has_class("sig") or term.has_class("sig-object"):
        for link in term.select("a"):
            if part_of(link.attr("class") or "") is Part.CHROME or link.text == "[source]":
                link.decompose()
        signature = collapse(term.text)
        term.clear()
        term.append(new_element("code", signature))


def quote_admonition(box: Element) -> None:
    box.tag = "blockquote"
    title = next(element_children(box), None)
    if title is not None and _is_title(title):
        title.tag = "p"
        title.wrap_children(new_element("strong"))


def _is_title(element: Element) -> bool:
    classes = (element.attr("class") or "").lower()
    return "title" in classes or "heading" in classes or element.tag == "summary"


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
    element.tag = "code"

"""The fence around the HTML parser: no other module imports it, so that it can be replaced here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

import turbohtml.detect  # noqa: F401 - registers the whatwg-* codecs
from turbohtml import Document, Element, Markdown, Namespace, Node, ShadowRoot, Text, XPath, parse

__all__ = [
    "Document",
    "Element",
    "Node",
    "RenderTag",
    "Text",
    "body_of",
    "collapse",
    "count_nodes",
    "decode_bytes",
    "element_children",
    "elements_with_text",
    "find_each",
    "is_deeper_than",
    "is_html_element",
    "is_on_page",
    "new_element",
    "parse_html",
    "parse_text",
    "select_each",
    "texts_with_backslash",
    "texts_with_fixed_blanks",
    "to_markdown",
    "to_plain_text",
]

RenderTag: TypeAlias = Callable[[Element, str], str]

_SHADOW: Final = b"shadowrootmode"
_SHADOWS: Final = 8  # within each other
# Compiled once: as text, the expression for the levels of a page would be read again for every page.
_ALL_NODES: Final = XPath("count(//node())")
_ALL_ELEMENTS: Final = XPath("count(//*)")
_USUAL_DEPTH: Final = 40  # hardly a page is nested deeper
_NODES_PER_ELEMENT: Final = 3  # hardly a page has more
_WITH_TEXT: Final = XPath(
    ".//*[text()[string-length(normalize-space(.)) > $shortest]][not(ancestor-or-self::a)]"
)
_BLANKS: Final = (" ", "\t", "\n", "\r", "\f")
_SHOWN: Final = ("img", "input")
_OUTSIDE_CODE: Final = "[not(ancestor-or-self::pre)][not(ancestor-or-self::code)]"
_WITH_FIXED_BLANKS: Final = XPath(f'descendant-or-self::*[text()[contains(., "\xa0")]]{_OUTSIDE_CODE}')
_WITH_BACKSLASH: Final = XPath(
    f'descendant-or-self::*[text()[contains(., "\\") or contains(., "$$")]]{_OUTSIDE_CODE}'
)


def parse_html(body: bytes, label: str | None) -> Document:
    """Parse with the encoding named by ``label`` (a byte-order mark still wins), or else a detected one."""
    if label is not None:
        try:
            return _as_shown(parse(body, encoding=label, positions=False), body)
        except LookupError:
            pass  # a label nobody knows counts as none
    return _as_shown(parse(body, detect_encoding=True, positions=False), body)


def _as_shown(document: Document, body: bytes) -> Document:
    """With what declarative shadow roots show in the place of what their hosts hold: level by level, as far
    as pages nest them."""
    for _ in range(_SHADOWS if _SHADOW in body else 0):
        roots = [(each, root) for each in document.iter_elements() if (root := each.shadow_root) is not None]
        shown = [(host, root) for host, root in roots if root.text.strip()]
        if not shown:
            break
        for host, root in shown:
            _show_shadow(host, root)
    return document


def _show_shadow(host: Element, root: ShadowRoot) -> None:
    """What is put into no slot is not shown."""
    for slot in list(root.iter_elements("slot")):
        nodes = slot.assigned_nodes() or list(slot.children)
        for node in nodes:
            slot.insert_before(node)
        slot.decompose()
    host.clear()
    host.extend(list(root.children))


def parse_text(html: str) -> Document:
    return parse(html, positions=False)


def decode_bytes(body: bytes, label: str) -> str | None:
    """By the standard's labels, which do not mean what Python's names do. None for a label nobody knows."""
    try:
        return body.decode(f"whatwg-{label}", "replace")
    except (LookupError, ValueError):
        return None


def count_nodes(document: Document) -> int:
    return _counted(_ALL_NODES, document)


def _counted(what: XPath, document: Document) -> int:
    counted = what(document)
    return int(counted) if isinstance(counted, float) else 0


def is_deeper_than(document: Document, depth: int, nodes: int) -> bool:
    """Level by level, so that the cost is that of the levels asked for and not of a bomb's depth. Counting
    elements takes half of that, and of the pages with few ``nodes`` most have too few to be so deep."""
    if nodes <= _NODES_PER_ELEMENT * depth and _counted(_ALL_ELEMENTS, document) <= depth:
        return False
    if depth > _USUAL_DEPTH and _levels(_USUAL_DEPTH)(document) is False:
        return False
    return _levels(depth)(document) is True


@lru_cache(maxsize=16)
def _levels(depth: int) -> XPath:
    return XPath(f"boolean({'/*' * (depth + 1)})")


def is_on_page(element: Element) -> bool:
    """Whether it was left there, and all that it is in."""
    return element.closest("html") is not None


def is_html_element(element: Element) -> bool:
    """False within svg and math, whose title, a and script mean other things."""
    return element.namespace is Namespace.HTML


def select_each(document: Document, selectors: Iterable[str]) -> list[Element]:
    """What each selector finds, one selector after the other.

    The parser keeps an index by tag, rebuilt after a change, that answers ``tag[attribute]`` and
    ``tag.class`` asked of the document in well under a microsecond, and lists of such selectors that are all
    of one tag. A list of several tags, a selector without one or one asked of an element is a walk over the
    page. So: ask first, change after.
    """
    return list(chain.from_iterable(map(document.select, selectors)))


def find_each(document: Document, tags: Iterable[str]) -> list[Element]:
    """All of each tag, one tag after the other: what ``select_each`` does at half the price, as no selector
    has to be read. The parser remembers sixteen selectors, and a page is asked for some forty."""
    return list(chain.from_iterable(map(document.find_all, tags)))


def body_of(document: Document) -> Element | None:
    root = document.root
    if root is None:
        return None
    for child in root.children:
        if isinstance(child, Element) and child.tag in ("body", "frameset"):
            return child
    return root


def element_children(element: Element) -> Iterator[Element]:
    for child in element.children:
        if isinstance(child, Element):
            yield child


def elements_with_text(root: Element, shortest: int) -> list[Element]:
    """Those that hold a longer run of text than this themselves, outside links."""
    found = _WITH_TEXT(root, shortest=shortest)
    return [each for each in found if isinstance(each, Element)] if isinstance(found, list) else []


def texts_with_fixed_blanks(root: Element) -> list[Text]:
    """Outside code, where a blank that does not break may be meant."""
    return _texts(_WITH_FIXED_BLANKS(root))


def texts_with_backslash(root: Element) -> list[Text]:
    """Or with two dollars, outside code: what may be a formula."""
    return _texts(_WITH_BACKSLASH(root))


def _texts(found: object) -> list[Text]:
    elements = [each for each in found if isinstance(each, Element)] if isinstance(found, list) else []
    return [text for element in elements for text in element.children if isinstance(text, Text)]


def new_element(tag: str, text: str = "") -> Element:
    element = Element(tag)
    if text:
        element.append(Text(text))
    return element


def to_markdown(root: Element, render_tags: Mapping[str, RenderTag] | None = None) -> str:
    """In the converter's own dialect: GitHub's. Options would be unpacked for every page, even empty ones."""
    if not render_tags:
        return root.to_markdown()
    # Together with renderers of others the converter leaves out the boxes of tasks.
    boxes = list(root.iter_elements("input"))
    for box in boxes:
        _move_into_paragraph(box)
    return root.to_markdown(
        Markdown(converters={**render_tags, "input": _write_box} if boxes else render_tags)
    )


def _move_into_paragraph(box: Element) -> None:
    """Move a check box into the paragraph of the item that follows it."""
    following = box.next_sibling
    if isinstance(following, Text) and not following.data.strip():
        following = following.next_sibling
    if isinstance(following, Element) and following.tag == "p":
        following.insert(0, box)


def _write_box(box: Element, _: str) -> str:
    """Where and how the converter alone does."""
    if (box.attr("type") or "").lower() != "checkbox" or not _begins_item(box):
        return ""
    mark = "[ ]" if box.attr("checked") is None else "[x]"
    following = box.next_sibling
    return mark if isinstance(following, Text) and following.data.startswith(_BLANKS) else f"{mark} "


def _begins_item(box: Element) -> bool:
    parent = box.parent
    if not isinstance(parent, Element) or not _is_first_shown(box):
        return False
    if parent.tag in ("p", "div"):
        return _is_in(parent, "li") and _is_first_shown(parent)
    return parent.tag == "li"


def _is_in(element: Element, tag: str) -> bool:
    return isinstance(element.parent, Element) and element.parent.tag == tag


def _is_first_shown(element: Element) -> bool:
    before = element.previous_sibling
    while before is not None and not _is_shown(before):
        before = before.previous_sibling
    return before is None


def _is_shown(node: Node) -> bool:
    if isinstance(node, Element):
        return (
            node.tag in _SHOWN
            or bool(node.text.strip())
            or next(node.iter_elements(_SHOWN), None) is not None
        )
    return isinstance(node, Text) and bool(node.data.strip())


def to_plain_text(document: Document) -> str:
    """All text, a line per run of it: linear in the page however it is nested."""
    body = body_of(document)
    if body is None:
        return ""
    return "\n".join(" ".join(text.split()) for text in body.stripped_strings)


def collapse(text: str) -> str:
    """White space as a browser shows it: runs are one blank, none at the ends."""
    return " ".join(text.split())

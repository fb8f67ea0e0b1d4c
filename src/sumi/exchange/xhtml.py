"""Markdown as XHTML for e-books: a few elements and attributes, everything else is unwrapped or left out."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from sumi.parse.commonmark import render
from sumi.parse.html import Element, Node, Text, body_of, parse_text

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INLINE: Final = frozenset(
    (
        "a",
        "b",
        "code",
        "del",
        "em",
        "i",
        "img",
        "kbd",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
    )
)
_BLOCK: Final = frozenset(
    ("blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "table", "ul")
)
_OF_TABLE: Final = frozenset(("caption", "tbody", "td", "tfoot", "th", "thead", "tr"))
_DROPPED: Final = frozenset(
    ("script", "style", "template", "title", "iframe", "object", "svg", "math", "form", "select", "button")
)
_MUST_HOLD: Final = {
    "ul": frozenset({"li"}),
    "ol": frozenset({"li"}),
    "table": frozenset({"caption", "thead", "tbody", "tfoot", "tr"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tfoot": frozenset({"tr"}),
    "tr": frozenset({"td", "th"}),
}
_ONLY_IN: Final = {"li": ("ul", "ol"), **dict.fromkeys(_OF_TABLE, ("table", "thead", "tbody", "tfoot", "tr"))}
_PHRASING: Final = frozenset({"p", "pre", "h1", "h2", "h3", "h4", "h5", "h6", *_INLINE})
_SPAN: Final = re.compile(r"[1-9]\d{0,2}")
_DEEPEST: Final = 60
_SPACES: Final = " \t\n\r"


class Addresses(NamedTuple):
    """What links and images become; None to leave them out."""

    link: Callable[[str], str | None]
    image: Callable[[str], str | None]


def as_xhtml(markdown: str, addresses: Addresses) -> str:
    """The content of a body."""
    body = body_of(parse_text(render(markdown)))
    return "" if body is None else _Writer(addresses).children(body, "body", 0)


def xml_text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


def xml_value(text: str) -> str:
    """Quoted, as the value of an attribute."""
    return quoteattr(_NOT_XML.sub("\ufffd", text))


class _Writer:
    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    def children(self, element: Element, inside: str, depth: int) -> str:
        return "".join(self._node(child, inside, depth + 1) for child in element.children)

    def _node(self, node: Node, inside: str, depth: int) -> str:
        if isinstance(node, Text):
            if inside in _MUST_HOLD:
                return "" if not node.data.strip(_SPACES) else self._wrapped(xml_text(node.data), inside)
            return xml_text(node.data)
        if not isinstance(node, Element) or node.tag in _DROPPED:
            return ""
        if depth > _DEEPEST:
            return xml_text(node.text)
        return self._element(node, inside, depth)

    def _element(self, element: Element, inside: str, depth: int) -> str:
        tag = element.tag
        if tag == "br":
            return "" if inside in _MUST_HOLD else "<br/>"
        if tag == "input":
            return "☑ " if element.attr("checked") is not None else "☐ "
        if not self._may_be(tag, inside):
            return self.children(element, inside, depth)
        if inside in _MUST_HOLD and tag not in _MUST_HOLD[inside]:
            return self._wrapped(
                self._element(element, "li" if inside in ("ul", "ol") else "td", depth), inside
            )
        if tag == "hr":
            return "<hr/>"
        if tag == "img":
            return self._image(element)
        inner = self.children(element, tag, depth)
        if tag in _MUST_HOLD and not inner:
            return ""
        return f"<{tag}{self._attributes(element)}>{inner}</{tag}>"

    @staticmethod
    def _may_be(tag: str, inside: str) -> bool:
        if tag in _ONLY_IN:
            return inside in _ONLY_IN[tag] and (inside not in _MUST_HOLD or tag in _MUST_HOLD[inside])
        if tag == "a" and inside == "a":
            return False
        return tag in _INLINE or (tag in _BLOCK and inside not in _PHRASING)

    @staticmethod
    def _wrapped(content: str, inside: str) -> str:
        """Wraps content in the elements that are allowed in ``inside``, where it is not itself."""
        if inside in ("ul", "ol"):
            return f"<li>{content}</li>"
        cell = f"<td>{content}</td>"
        return cell if inside == "tr" else f"<tr>{cell}</tr>"

    def _image(self, element: Element) -> str:
        text = str(element.attr("alt") or "")
        source = self._addresses.image(str(element.attr("src") or ""))
        if source is None:
            return xml_text(f"[{text}]" if text else "")
        return f"<img src={xml_value(source)} alt={xml_value(text)}/>"

    def _attributes(self, element: Element) -> str:
        if element.tag == "a":
            target = self._addresses.link(str(element.attr("href") or ""))
            return "" if target is None else f" href={xml_value(target)}"
        if element.tag in ("td", "th"):
            spans = ((name, str(element.attr(name) or "")) for name in ("colspan", "rowspan"))
            return "".join(f' {name}="{value}"' for name, value in spans if _SPAN.fullmatch(value))
        return ""

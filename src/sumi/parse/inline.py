"""Headings, links and images: what leads nowhere goes, what leads somewhere is absolute."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from sumi.parse.html import Element, Node, Text, collapse, new_element

# What permalinks show; a link of a heading that says more is part of the heading.
_ANCHOR_GLYPHS: Final = frozenset(
    {"", "#", "¶", "§", "🔗", "⚓", "∞", "link", "anchor", "permalink", "copy link"}
)
_LONGEST_GLYPH: Final = 20
_INVISIBLE: Final = " \t\n\r\xa0\u200b\ufe0e\ufe0f"
_LINK_SCHEMES: Final = ("http://", "https://", "mailto:")
_ODD_LINKS_AND_IMAGES: Final = 'a[href]:not([href^="http://"]):not([href^="https://"]), img'
_IMAGE_SCHEMES: Final = ("http://", "https://")
# Where scripts look for the real address of an image that is loaded when scrolled to.
_LAZY_ATTRS: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy")
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset", "srcset")


def tidy_heading(heading: Element) -> None:
    """A heading without its own permalink; one inside a link takes the link into itself."""
    for link in heading.find_all("a"):
        _tidy_heading_link(link)
    parent = heading.parent
    if isinstance(parent, Element) and parent.tag == "a":
        _take_link_in(heading, parent)
    if not heading.text.strip() and heading.find("img") is None:
        heading.decompose()


def _tidy_heading_link(link: Element) -> None:
    href = link.attr("href") or "#"
    if "#" not in href:
        return
    text = link.text
    if len(text) < _LONGEST_GLYPH and text.strip(_INVISIBLE).lower() in _ANCHOR_GLYPHS:
        link.decompose()
    elif href.startswith("#") and link.parent is not None:
        link.unwrap()


def _take_link_in(heading: Element, link: Element) -> None:
    href = link.attr("href")
    if href is not None and heading.select_one("a") is None:
        inner = new_element("a")
        inner.attrs["href"] = href
        heading.wrap_children(inner)
    if link.parent is not None:
        link.unwrap()


def link_from_code(root: Element) -> None:
    """Links inside code, which no Markdown can be, become code inside links: ``List<[String](…)>``."""
    for code in dict.fromkeys(map(_outermost_code, root.select("code a[href]"))):
        if code.closest("pre") is None and next(code.iter_elements("img"), None) is None:
            _part_at_links(code)


def _outermost_code(link: Element) -> Element:
    code = link
    while (around := _code_around(code)) is not None:
        code = around
    return code


def _code_around(element: Element) -> Element | None:
    return element.parent.closest("code") if isinstance(element.parent, Element) else None


def _part_at_links(code: Element) -> None:
    for link, run in groupby(_texts(code), key=_link_around):
        code.insert_before(_code_run("".join(text.data for text in run), link))
    code.decompose()


def _texts(code: Element) -> list[Text]:
    return [node for node in code.descendants if isinstance(node, Text)]


def _link_around(text: Text) -> Element | None:
    return text.parent.closest("a") if isinstance(text.parent, Element) else None


def _code_run(text: str, link: Element | None) -> Node:
    code: Node = new_element("code", text) if text.strip() else Text(text)
    if link is None or link.attr("href") is None or not text.strip():
        return code
    around = new_element("a")
    for name in ("href", "title"):
        if value := link.attr(name):
            around.attrs[name] = value
    around.append(code)
    return around


def choose_image_source(image: Element) -> None:
    """The address a browser would show in the end. Pixels that only count visitors are dropped."""
    if image.attr("width") in ("0", "1") and image.attr("height") in ("0", "1"):
        image.decompose()
        return
    source = next(_sources(image), None)
    if source is None:
        image.decompose()
        return
    image.attrs["src"] = source
    image.attrs["alt"] = collapse(image.attr("alt") or "")


def _sources(image: Element) -> Iterator[str]:
    for name in _LAZY_ATTRS:
        if _is_address(image.attr(name)):
            yield (image.attr(name) or "").strip()
    if _is_address(image.attr("src")):
        yield (image.attr("src") or "").strip()
    for name in _LAZY_SETS:
        yield from _largest(image.attr(name) or "")


def _is_address(value: str | None) -> bool:
    return value is not None and bool(value.strip()) and not value.lstrip().lower().startswith("data:")


def _largest(candidates: str) -> Iterator[str]:
    """The address of a ``srcset`` with the greatest width or density."""
    best, best_size = "", -1.0
    for candidate in candidates[:20_000].split(", "):
        address, _, size = candidate.strip().strip(",").partition(" ")
        if _is_address(address) and _size(size) > best_size:
            best, best_size = address, _size(size)
    if best:
        yield best


def _size(descriptor: str) -> float:
    number = descriptor.strip().rstrip("wx")
    return float(number) if number.replace(".", "", 1).isdecimal() and number.isascii() else 0.0


def drop_unusable_addresses(root: Element) -> None:
    """Of absolute ones. Links to pages and people stay; any other scheme leaves only its text."""
    for element in root.select(_ODD_LINKS_AND_IMAGES):
        if element.tag == "img":
            if not (element.attr("src") or "").lower().startswith(_IMAGE_SCHEMES):
                element.decompose()
        elif not (element.attr("href") or "").lower().startswith(_LINK_SCHEMES):
            del element.attrs["href"]

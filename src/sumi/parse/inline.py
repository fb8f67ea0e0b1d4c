"""Headings, links and images: what leads nowhere goes, what leads somewhere is absolute."""

from collections.abc import Iterator
from typing import Final

from sumi.parse.html import Element, collapse, new_element

# What permalinks show; a link of a heading that says more is part of the heading.
_ANCHOR_GLYPHS: Final = frozenset(
    {"", "#", "¶", "§", "🔗", "⚓", "∞", "link", "anchor", "permalink", "copy link"}
)
_LONGEST_GLYPH: Final = 20
_INVISIBLE: Final = " \t\n\r\xa0\u200b\ufe0e\ufe0f"
_LINK_SCHEMES: Final = ("http://", "https://", "mailto:")
_ODD_LINKS: Final = 'a[href]:not([href^="http://"]):not([href^="https://"])'
_IMAGE_SCHEMES: Final = ("http://", "https://")
# Where scripts look for the real address of an image that is loaded when scrolled to.
_LAZY_ATTRS: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy")
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset", "srcset")


def tidy_heading(heading: Element) -> None:
    """A heading without its own permalink; one inside a link takes the link into itself."""
    for link in heading.select("a"):
        _tidy_heading_link(link)
    parent = heading.parent
    if isinstance(parent, Element) and parent.tag == "a":
        _take_link_in(heading, parent)
    if not heading.text.strip() and heading.select_one("img") is None:
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
    for link in root.select(_ODD_LINKS):
        if not (link.attr("href") or "").lower().startswith(_LINK_SCHEMES):
            del link.attrs["href"]
    for image in list(root.iter_elements("img")):
        if not (image.attr("src") or "").lower().startswith(_IMAGE_SCHEMES):
            image.decompose()

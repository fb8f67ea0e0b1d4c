"""Headings, links, images and emphasis, and blocks that stand within them.

Links and images that lead nowhere go, and the others are absolute. Emphasis has asterisks wherever CommonMark
reads them as such, and tags elsewhere. Browsers show blocks within inline elements; in Markdown a mark in
front of a fence or a list ends it before it has begun, and code that was safe in its fence becomes tags.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby, islice, pairwise
from typing import Final

from sumi.parse.html import Element, Node, RenderTag, Text, collapse, new_element, texts_with_fixed_blanks
from sumi.parse.markdown.chrome import drop_link, is_permalink_sign, place_of

BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "div", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "li", "main", "ol", "p", "pre", "section", "table", "ul"),
)
# To the converter these are letters, to many readers of Markdown white space: a tag before them would be
# alone on its line and begin a block of HTML.
_ALONE: Final = re.compile("(<[a-z]{1,6}>)[\x85\u2028\u2029]+(?=[ \t]*$)", re.MULTILINE)
_SEPARATORS: Final = ("\x85", "\u2028", "\u2029")
_NOTHING_TO_SEE: Final = "\u200b"


def keep_tags_in_line(markdown: str) -> str:
    if "<" not in markdown or not any(separator in markdown for separator in _SEPARATORS):
        return markdown  # to look for four characters is a tenth of what the expression costs
    return _ALONE.sub(rf"\g<1>{_NOTHING_TO_SEE}", markdown)


def plain_blanks(root: Element) -> None:
    """Blanks that do not break are blanks: to the converter they are letters, and to many a search, too."""
    for text in texts_with_fixed_blanks(root):
        if "\xa0" in text.data:
            text.replace_with(Text(text.data.replace("\xa0", " ")))


def release_blocks(root: Element, tags: tuple[str, ...]) -> None:
    """Takes the elements of these names away from around blocks; their contents stay."""
    if next(root.iter_elements(tags), None) is None:
        return
    for element in _around_blocks(root, tags):
        if element.parent is not None:
            element.unwrap()


def _around_blocks(root: Element, tags: tuple[str, ...]) -> list[Element]:
    """Each ancestor is met once, however deep the blocks are nested in one another."""
    found: list[Element] = []
    met: set[object] = {root}
    for block in root.iter_elements(BLOCKS):
        for ancestor in block.ancestors:
            if ancestor in met:
                break
            met.add(ancestor)
            if isinstance(ancestor, Element) and ancestor.tag in tags:
                found.append(ancestor)
    return found


# Of a link with the first of these in it, the others are beside it.
_BLOCKS_IN_LINKS: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "pre")
LINKED_BLOCKS: Final = tuple(f"a {tag}" for tag in _BLOCKS_IN_LINKS)
_HEADINGS: Final = frozenset(_BLOCKS_IN_LINKS[:6])
_ON_LINES_OF_THEIR_OWN: Final = frozenset({*BLOCKS, "center", "dd", "dt", "figcaption", "header", "td", "th"})
_LINK_SCHEMES: Final = ("http://", "https://", "mailto:")
_ODD_LINKS_AND_IMAGES: Final = 'a[href]:not([href^="http://"]):not([href^="https://"]), img'
_IMAGE_SCHEMES: Final = ("http://", "https://")
# Where scripts look for the real address of an image that is loaded when scrolled to.
_LAZY_ATTRS: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy")
_MOST_PARTS: Final = 12
_BADGE: Final = re.compile(r"(?:^|[-_\s])(?:badge|tag|flag|pill|chip)(?=$|[-_\s])", re.IGNORECASE)
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
    else:
        _part_words(heading)


def _part_words(heading: Element) -> None:
    """What stands in lines or boxes of its own there, kept apart by a style sheet and no blank."""
    parts = list(islice(heading.children, _MOST_PARTS))
    for before, after in pairwise(parts):
        if isinstance(before, Element) and _are_apart(before, after):
            after.insert_before(Text(" "))


def _are_apart(before: Element, after: Node) -> bool:
    first, second = before.text, _text_of(after)
    if not first and before.tag == "span" and before.attr("class"):  # drawn, as an arrow or a line
        return _text_of(before.previous_sibling)[-1:].isalnum() and second[:1].isalnum()
    if not (first[-1:].isalnum() and second[:1].isalnum()):
        return False
    parts = [part for part in (before, after) if isinstance(part, Element)]
    if any(_BADGE.search(part.attr("class") or "") for part in parts):
        return True
    if (
        not isinstance(after, Element)
        or before.tag != "span"
        or after.tag != "span"
        or not (before.attr("class") and after.attr("class"))
    ):
        return False
    return " " in f"{first}{second}".strip() and first[-1].islower() and second[0].isupper()


def release_linked_block(block: Element, root: Element) -> None:
    """A card that is all one link: in Markdown a link is part of a line, and this one of the card's heading,
    or else of its first line."""
    link = _link_within(root, block) if block.text.strip() else None
    if link is None:
        return
    if block.tag in _HEADINGS:
        _take_link_in(block, link)
    elif block.tag == "pre" and "\n" not in block.text.strip():
        block.tag = "code"  # which can be in a link
    else:
        _link_first_line(link)
        link.unwrap()


def _link_within(root: Element, block: Element) -> Element | None:
    link = block.closest("a")
    return link if link is not None and root in link.ancestors else None


def _link_first_line(link: Element) -> None:
    href = link.attr("href")
    line = _first_line(link)
    if href is None or not line:
        return
    inner = new_element("a")
    inner.attrs["href"] = href
    line[0].insert_before(inner)
    inner.extend(line)


def _first_line(link: Element) -> list[Node]:
    """The nodes that are on it."""
    for node in link.descendants:
        start = _top_of_line(node, link) if _is_seen(node) else None
        if start is not None:
            return list(_rest_of_line(start))
    return []


def _is_seen(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and node.tag == "img"


def _top_of_line(node: Node, link: Element) -> Node | None:
    """All that is around it and still in its line; None in code, where no link can be."""
    while isinstance(node.parent, Element) and node.parent != link:
        if node.parent.tag == "pre":
            return None
        if node.parent.tag in _ON_LINES_OF_THEIR_OWN:
            break
        node = node.parent
    return node


def _rest_of_line(start: Node) -> Iterator[Node]:
    node: Node | None = start
    while node is not None and not (isinstance(node, Element) and node.tag in _ON_LINES_OF_THEIR_OWN):
        yield node
        node = node.next_sibling


def _tidy_heading_link(link: Element) -> None:
    href = link.attr("href") or "#"
    if "#" not in href:
        return
    if is_permalink_sign(link, link.text):
        drop_link(link)
    elif href.startswith("#") and link.parent is not None:
        if link.attr("id") or link.attr("name"):
            link.insert_before(place_of(link))
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
        _leave_words(image)
        return
    image.attrs["src"] = source
    image.attrs["alt"] = collapse(image.attr("alt") or "")


def _leave_words(image: Element) -> None:
    """Of a picture without an address of its own, as those that are written into the page."""
    words = collapse(image.attr("alt") or "")
    if any(map(str.isalnum, words)):
        image.replace_with(Text(f" {words} "))
    else:
        image.decompose()


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
                _leave_words(element)
        elif not (element.attr("href") or "").lower().startswith(_LINK_SCHEMES):
            del element.attrs["href"]


# The converter falls back to ``<em>`` and ``<strong>`` for a whole paragraph as soon as one emphasis in it
# holds a typographic apostrophe, which is every other page of English prose. So a page that came out with
# such tags is converted once more with these renderers, which judge each emphasis by its own neighbours.

_MARKS: Final = {"em": "*", "i": "*", "strong": "**", "b": "**"}
_TAGS: Final = {"em": "em", "i": "em", "strong": "strong", "b": "strong"}


def came_out_as_tags(markdown: str) -> bool:
    # One character is looked for ten times as fast as four, and more than half of all pages have none of it.
    return "<" in markdown and ("<em>" in markdown or "<strong>" in markdown)


def emphasis_renderers() -> Mapping[str, RenderTag]:
    return dict.fromkeys(_MARKS, _render)


def _render(element: Element, content: str) -> str:
    core = content.strip()
    if not core:
        return content
    lead = content[: len(content) - len(content.lstrip())]
    trail = content[len(content.rstrip()) :]
    if _opens(element, core, lead) and _closes(element, core, trail):
        mark = _MARKS[element.tag]
        return f"{lead}{mark}{core}{mark}{trail}"
    tag = _TAGS[element.tag]
    return f"{lead}<{tag}>{core}</{tag}>{trail}"


def _opens(element: Element, core: str, lead: str) -> bool:
    """Left-flanking: before a letter always; before punctuation only after a blank or punctuation."""
    before = lead[-1:] or _last_character(element.previous_sibling)
    return before != "*" and (_is_word(core[0]) or not _is_word(before))


def _closes(element: Element, core: str, trail: str) -> bool:
    after = trail[:1] or _first_character(element.next_sibling)
    return after != "*" and (_is_word(core[-1]) or not _is_word(after))


def _is_word(character: str) -> bool:
    return character.isalnum()


def _last_character(node: object) -> str:
    if isinstance(node, Element) and node.tag in _MARKS and node.text:
        return "*"  # two emphases in touch: their marks would run together
    return _text_of(node)[-1:]


def _first_character(node: object) -> str:
    if isinstance(node, Element) and node.tag in _MARKS and node.text:
        return "*"
    return _text_of(node)[:1]


def _text_of(node: object) -> str:
    if isinstance(node, Text):
        return node.data
    return node.text if isinstance(node, Element) else ""


def link_to_media(media: Element) -> None:
    """Markdown shows no films: what is left is the picture in front of one, or a word, with its address."""
    source = media if media.attr("src") else media.select_one("source[src]")
    address = None if source is None else source.attr("src")
    if not address or (isinstance(media.parent, Element) and media.closest("a") is not None):
        media.decompose()
        return
    link = new_element("a")
    link.attrs["href"] = address
    name = media.attr("title") or media.attr("aria-label") or media.tag.capitalize()
    poster = media.attr("poster")
    if poster:
        picture = new_element("img")
        picture.attrs["src"] = poster
        picture.attrs["alt"] = name
        link.append(picture)
    else:
        link.append(Text(name))
    media.replace_with(link)

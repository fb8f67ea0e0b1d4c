"""Places on a page that links lead to: ``#x`` stays ``#x``, and what it names is there in the Markdown.

A heading is found by its own words, as readers of Markdown make ids of them. Any other place gets ``<a id>``.
The converter has no such thing, so each is carried through it by marks that are no characters of Unicode.
"""

import re
from html import escape
from itertools import islice
from typing import Final
from urllib.parse import unquote

from sumi.parse.html import Element, Node, Text, new_element
from sumi.parse.markdown.chrome import IDS_INSIDE, PLACE
from sumi.parse.markdown.slugs import Slugs

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BEGIN, _END = "\ufdd0", "\ufdd5"
_DIGITS: Final = dict(zip(map(ord, "0123456789abcdef"), range(0xFDE0, 0xFDF0), strict=True))
_NUMBERS: Final = {digit: number for number, digit in _DIGITS.items()}
_MARK: Final = re.compile(f"{_BEGIN}([\ufde0-\ufdef]+){_END}")
# Marks on lines of their own, one after the other.
_APART: Final = re.compile(f"({_END})\n[ >]*\n[ >]*(?={_BEGIN}[\ufde0-\ufdef]+{_END}(?:{_BEGIN}|\n|$))")
_INLINE_TAGS: Final = (
    "a abbr b cite code del em font i ins kbd mark q s samp small span strong sub sup tt u var"
)
_IN_LINE: Final = frozenset({PLACE, *_INLINE_TAGS.split()})
_OF_LINES: Final = frozenset(
    {"p", "li", "dt", "dd", "td", "th", "figcaption", "caption", "summary", "address"}
)
_AROUND: Final = frozenset({"article", "aside", "div", "figure", "section"})
_ROWS: Final = frozenset({"tr", "tbody", "thead", "tfoot", "colgroup", "table"})
_UNREACHED: Final = frozenset(
    {"button", "form", "input", "label", "option", "select", "body", "html", "main"}
)
# Of what scripts and style sheets alone ask for, and numbers of lines: hundreds on some pages.
_LINE_NUMBER: Final = re.compile(
    r"(?:L|LC|line|l|n|cb\d+|_*code-?line-?no|rest_code_[0-9a-f]+)?[-_.]?\d+(?:[-_]\d+)*"
)
_PLAIN_ID: Final = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")
_MOST: Final = 5_000  # places on one page
_DEEPEST: Final = 6


class Anchors:
    """Of one page, whose links are absolute by now."""

    __slots__ = ("_ids", "_links", "_marks", "_places", "_root")

    def __init__(self, root: Element, base: str, *, every: bool) -> None:
        self._root = root
        self._ids: list[str] = []
        self._marks: list[Text] = []
        self._links: dict[str, list[Element]] = {}
        self._places: dict[str, Element] = {}
        own = base.partition("#")[0] + "#"
        for link in root.iter_elements("a"):
            href = link.attr("href")
            if href is not None and href.startswith(own) and len(href) > len(own):
                self._links.setdefault(unquote(href[len(own) :]), []).append(link)
        if self._links or every:
            self._find_places(every=every)

    def _find_places(self, *, every: bool) -> None:
        for element in (self._root, *self._root.select(f"[id], a[name], [{IDS_INSIDE}]")):
            for name in _names_of(element):
                if (every and _is_worth_it(element, name)) or name in self._links:
                    self._places.setdefault(name, element)
        for name, links in self._links.items():
            if name in self._places:
                for link in links:
                    link.attrs["href"] = "#" + (link.attr("href") or "").partition("#")[2]

    def put_marks(self) -> None:
        """Into the tree, where no heading serves."""
        if self._places:
            self._put_marks()
        for left in list(self._root.iter_elements(PLACE)):
            left.decompose()

    def _put_marks(self) -> None:
        slugs = Slugs()
        served = {heading: slugs.next(heading.text) for heading in self._root.iter_elements(_HEADINGS)}
        for name, place in islice(self._places.items(), _MOST):
            heading = _heading_of(place)
            if heading is None or served.get(heading) != name or _PLAIN_ID.fullmatch(name) is None:
                self._put(name, place if heading is None else heading)

    def _put(self, name: str, place: Element) -> None:
        mark = Text(f"{_BEGIN}{f'{len(self._ids):x}'.translate(_DIGITS)}{_END}")
        if _put_mark(mark, place, self._root):
            self._ids.append(name)
            self._marks.append(mark)

    def write(self, markdown: str) -> str:
        """The Markdown with the places; the tree is without their marks again."""
        if not self._marks:
            return markdown
        for mark in self._marks:
            mark.decompose()
        return _MARK.sub(self._written, _APART.sub(r"\1", markdown))

    def _written(self, found: re.Match[str]) -> str:
        number = int(found[1].translate(_NUMBERS), 16)
        if number >= len(self._ids):
            return ""
        return f'<a id="{escape(self._ids[number]).replace("|", "&#124;")}"></a>'


def _names_of(element: Element) -> list[str]:
    names = [element.attr("id"), element.attr("name") if element.tag == "a" else None]
    names += (element.attr(IDS_INSIDE) or "").split()
    return [name for name in names if name and not any(map(str.isspace, name)) and name.isprintable()]


def _is_worth_it(element: Element, name: str) -> bool:
    """Whether another page may lead here."""
    if element.tag in _UNREACHED or (element.tag == "tr" and not element.text.strip()):
        return False
    return _LINE_NUMBER.fullmatch(name) is None


def _heading_of(place: Element) -> Element | None:
    """The heading that is the place: itself, what it is in, what it begins with or what follows at once."""
    around = place.closest("h1, h2, h3, h4, h5, h6")
    if around is not None:
        return around
    if not place.text.strip() and place.tag in _IN_LINE:
        following = place.next_sibling
        while isinstance(following, Text) and not following.data.strip():
            following = following.next_sibling
        return following if isinstance(following, Element) and following.tag in _HEADINGS else None
    part: Node | None = place
    for _ in range(_DEEPEST):
        part = (
            next((each for each in part.children if _is_seen(each)), None)
            if isinstance(part, Element)
            else None
        )
        if isinstance(part, Element) and part.tag in _HEADINGS:
            return part
    return None


def _is_seen(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and bool(node.text.strip())


def _put_mark(mark: Text, place: Element, root: Element) -> bool:
    """In front of the first character of the place, but never into code, a link or emphasis."""
    if place is root:
        root.insert(0, _line_of(mark))
        return True
    pre = place.closest("pre")
    place = place if pre is None else pre
    while isinstance(place.parent, Element) and place.tag in _ROWS and place.tag != "table":
        cell = next(place.iter_elements(("td", "th")), None)
        if cell is None:
            return False
        place = cell
    line = _line_in(place) if place.tag in _OF_LINES or place.tag in _AROUND else None
    if line is not None:
        first = next(iter(line.children), None)
        while isinstance(first, Text) and not first.data.strip():
            first.decompose()
            first = next(iter(line.children), None)
        line.insert(0, mark)
        return True
    while place.tag in _IN_LINE and isinstance(place.parent, Element) and place.parent.tag in _IN_LINE:
        place = place.parent
    if place.parent is None or place is root:
        return False
    place.insert_before(mark if place.tag in _IN_LINE and _is_in_line(place) else _line_of(mark))
    return True


def _line_in(block: Element) -> Element | None:
    """Where its first line is: in the block, or in a paragraph that it begins with. None if that is a block
    of another kind, or a line that begins with the box of a task."""
    for _ in range(_DEEPEST):
        first = next((each for each in block.children if not _is_blank(each)), None)
        if not isinstance(first, Element) or first.tag in _IN_LINE:
            return block
        if first.tag not in ("p", "div"):
            return block if first.tag == "img" else None
        block = first
    return None


def _is_blank(node: Node) -> bool:
    return (isinstance(node, Text) and not node.data.strip()) or (
        isinstance(node, Element) and node.tag == PLACE
    )


def _is_in_line(place: Element) -> bool:
    parent = place.parent
    return isinstance(parent, Element) and (parent.tag in _OF_LINES or parent.tag in _IN_LINE)


def _line_of(mark: Text) -> Element:
    line = new_element("p")
    line.append(mark)
    return line

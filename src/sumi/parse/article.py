"""Articles: on a page of prose, the smallest part that holds nearly all of it, without the boxes within.

Manuals must never be cut short by this. So nothing is done to a page unless it calls itself an article and
has nothing of what reference pages are made of; and what is left out has little prose.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from sumi.parse.chrome import MAX_CLASSES, link_share
from sumi.parse.html import Document, Element, Node, Text, element_children, elements_with_text

# Calibrated on thirty labelled news and blog pages in twelve languages: teasers, captions and buttons are
# shorter than this, and of any paragraph at least one stretch between links and emphasis is longer.
_RUN: Final = 60
_ENOUGH_PROSE: Final = 350  # Chinese says in a third of the letters what English does
_MOST_RUNS: Final = 500  # of prose; a page with more is a book
_DEEPEST: Final = 100  # ancestors looked at
_NEARLY_ALL: Final = 0.85  # the rest is teasers, comments and terms of use
_MOSTLY: Final = 0.5
_REFERENCE: Final = "pre, dl, code, kbd, samp, tt, var, math"
# Manuals may have some of these, an <article> above all: so it takes this and the lack of any reference.
_MARKS: Final = (
    "meta[property='og:type'][content='article']",
    "meta[property^='article:']",
    "meta[name='publishdate']",
    "meta[name='pubdate']",
    "meta[name='dcterms.created']",
    "meta[itemprop='datePublished']",
    "time[itemprop='datePublished']",
    "time[pubdate]",
    "article",
)

_BOX_TAGS: Final = frozenset({"div", "section", "aside", "form", "table", "ul", "ol"})
_TEXT_TAGS: Final = frozenset({"p", "li", "td", "blockquote"})
_LISTS: Final = frozenset({"ul", "ol"})
_BOX_NAMES: Final = re.compile(
    r"(?:^|[-_\s])(?:comments?|disqus|respond|share|sharing|social|related|newsletter|subscribe|subscription|"
    r"signup|sign-up|promo|sponsored|recommend(?:ed|ations?)?|outbrain|taboola|advert(?:isement)?|ad|ads|"
    r"paywall|teasers?)(?=$|[-_\s])"
)


class Prose:
    """How much prose each element of a page holds."""

    __slots__ = ("_held", "total")

    def __init__(self, root: Element, holders: list[Element]) -> None:
        self.total = 0
        self._held: dict[Node, int] = {}
        for holder in holders:
            self._add(holder, root)

    def _add(self, holder: Element, root: Element) -> None:
        texts = (len(child.data) for child in holder.children if isinstance(child, Text))
        length = sum(length for length in texts if length > _RUN)
        self.total += length
        for element in chain((holder,), islice(holder.ancestors, _DEEPEST)):
            self._held[element] = self._held.get(element, 0) + length
            if element is root:
                return

    def held_by(self, element: Element) -> int:
        return self._held.get(element, 0)

    def holders(self) -> list[Element]:
        return [element for element in self._held if isinstance(element, Element)]


class Article(NamedTuple):
    part: Element
    prose: Prose


def is_declared(document: Document) -> bool:
    """Whether a page calls itself an article."""
    return any(document.select_one(mark) is not None for mark in _MARKS)


def find_article(root: Element) -> Article | None:
    """None for a page that is no article, or may be something else as well."""
    if root.select_one(_REFERENCE) is not None:
        return None
    holders = elements_with_text(root, _RUN)
    if len(holders) > _MOST_RUNS:
        return None
    prose = Prose(root, holders)
    return Article(_part(root, prose), prose) if prose.total >= _ENOUGH_PROSE else None


def _part(root: Element, prose: Prose) -> Element:
    part = root
    while (inner := _heir(part, prose, _NEARLY_ALL * prose.total)) is not None:
        part = inner
    return part


def _heir(part: Element, prose: Prose, least: float) -> Element | None:
    """The child that holds nearly all. None if other prose leads up to it, or looks like more of the same."""
    holders = [child for child in element_children(part) if prose.held_by(child)]
    if not holders:
        return None
    heir, *rest = holders
    if prose.held_by(heir) < least or heir.tag in _TEXT_TAGS:
        return None
    return None if any(_kind(each) == _kind(heir) for each in rest) else heir


def _kind(element: Element) -> tuple[str, str | None]:
    return element.tag, element.attr("class")


def boxes_of(article: Article) -> list[Element]:
    """What stands in the midst of an article without being of it: what to share, read, join or buy."""
    part, prose = article
    mine = set(_within(part, prose))
    named = [each for each in mine if each is not part and _is_named_box(each, prose)]
    plain = [
        child
        for holder in mine
        for child in element_children(holder)
        if not prose.held_by(child) and _is_plain_box(child)
    ]
    return [*named, *plain]


def _within(part: Element, prose: Prose) -> Iterator[Element]:
    for holder in prose.holders():
        if holder is part or part in islice(holder.ancestors, _DEEPEST):
            yield holder


def _is_named_box(element: Element, prose: Prose) -> bool:
    few = prose.held_by(element) < _MOSTLY * prose.total
    return few and element.tag in _BOX_TAGS and _has_name(element)


def _is_plain_box(element: Element) -> bool:
    """Lists of links beside paragraphs are of the text, unless they are called otherwise."""
    if element.tag not in _BOX_TAGS or not element.text.strip():
        return False
    if element.tag == "form" or _has_name(element):
        return True
    return element.tag not in _LISTS and link_share(element) > _MOSTLY


def _has_name(element: Element) -> bool:
    names = f"{element.attr('class') or ''} {element.attr('id') or ''}"
    return len(names) < MAX_CLASSES and _BOX_NAMES.search(names.lower()) is not None

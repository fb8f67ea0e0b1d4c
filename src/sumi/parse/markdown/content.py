"""Where on the page the document is: the landmark that its generator gives it, if it holds the text.

A wrong root cuts a document short, which is worse than a link bar too many. So a landmark is only a
candidate: it must hold at least half of the page's text, or the next wider one is taken, at last the body.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, new_element, select_each
from sumi.parse.markdown.article import Claim, Signs, boxes_of, claim_of, find_article, frame_of
from sumi.parse.markdown.chrome import is_chrome_aside, link_share
from sumi.parse.markdown.named import Names, is_of_generator, named_bars

_ENOUGH: Final = 0.5
# Beside a document there may be a bar, a notice of copyright or a slogan: less text than this is not looked
# at, and paragraphs of fewer words are not prose.
_FRAME: Final = 400
_PROSE: Final = 25
_FRAMES: Final = "footer, header, aside, form, nav, [role=contentinfo], [role=banner], [role=navigation]"


class Bulk:
    """How much text an element holds: measured when it is first asked about, which on most pages is never."""

    __slots__ = ("_root", "_weight", "_words_beside")

    def __init__(self, root: Element, weight: int | None = None, words_beside: int = 0) -> None:
        self._root = root
        self._weight = weight
        self._words_beside = words_beside

    @property
    def root(self) -> Element:
        return self._root

    @property
    def words_beside(self) -> int:
        """Of prose on the page that is in neither the root nor a bar."""
        return self._words_beside

    def weigh(self) -> int:
        if self._weight is None:
            self._weight = _weight(self._root)
        return self._weight

    def is_mostly_in(self, element: Element) -> bool:
        """Whether, for all its name, most of the text is in the element, and is not just links."""
        return _weight(element) > _ENOUGH * self.weigh() and link_share(element) < _ENOUGH


class SoftChrome(NamedTuple):
    """What may be a bar, if the page has no landmark."""

    named: list[Element]
    footers: list[Element]
    asides: list[Element]
    headers: list[Element]
    header_lists: list[Element]


def content_root(body: Element, names: Names, soft: SoftChrome, signs: Signs) -> Bulk:
    """The element to convert. Removes bars from the page where they make it hard to tell."""
    claim = claim_of(signs)
    bulk = _widest(body, names, soft)
    article = find_article(bulk.root, claim) if _may_be_article(bulk.root, claim) else None
    if article is None:
        return bulk
    for box in (*frame_of(article), *boxes_of(article)):
        box.decompose()
    words_beside = bulk.words_beside if article.part is bulk.root else _beside(article.part, body)[1]
    return Bulk(article.part, words_beside=words_beside)


def _widest(body: Element, names: Names, soft: SoftChrome) -> Bulk:
    """All that may be content."""
    landmarks = _only_ones(body, names)
    if not landmarks:
        remove_soft_chrome(body, names, soft)
        return Bulk(body)
    for landmark in landmarks:
        weight = _weight(landmark)
        weight_beside, words_beside = _beside(landmark, body)
        if weight >= weight_beside:
            return Bulk(landmark, weight, words_beside)
    remove_soft_chrome(body, names, soft)
    total = _unlinked_weight(body)
    for landmark in landmarks:
        if _unlinked_weight(landmark) >= _ENOUGH * total:
            return Bulk(landmark, words_beside=_beside(landmark, body)[1])
    return Bulk(body)


def _may_be_article(root: Element, claim: Claim) -> bool:
    """What a generator calls the document is just that; only what any page may have is looked into."""
    if root.tag in ("body", "main", "article") or root.attr("role") == "main":
        return not is_of_generator(root)
    if claim is not Claim.META:
        return False
    return root.attr("id") == "main-content" or root.has_class("contents") or root.has_class("body")


def _only_ones(body: Element, names: Names) -> list[Element]:
    """Two articles are a list of teasers, not a document. What was taken off the page does not count."""
    on_page = ([each for each in kind if each.closest(body.tag) is not None] for kind in names.landmarks)
    return [kind[0] for kind in on_page if len(kind) == 1]


def _beside(landmark: Element, body: Element) -> tuple[int, int]:
    """Of all the rest, its weight and its words of prose. Cheaper than to weigh the landmark again as a part
    of the whole."""
    gap = new_element("div")
    landmark.replace_with(gap)
    weight = _weight(body)
    words = _words_of_prose(body) if weight > _FRAME else 0
    gap.replace_with(landmark)
    return weight, words


def _words_of_prose(body: Element) -> int:
    return sum(
        words
        for paragraph in body.iter_elements(("p", "pre"))
        if (words := _unlinked_words(paragraph)) >= _PROSE and paragraph.closest(_FRAMES) is None
    )


def _unlinked_words(paragraph: Element) -> int:
    words = len(paragraph.text.split())
    return words - sum(len(link.text.split()) for link in paragraph.iter_elements("a")) if words else 0


def is_hard_chrome(element: Element) -> bool:
    """Of the tags of chrome, scripts may be formulas."""
    return element.tag != "script" or not (element.attr("type") or "").startswith("math/tex")


def find_soft_chrome(document: Document) -> SoftChrome:
    headers = document.find_all("header")
    return SoftChrome(
        named=named_bars(document),
        footers=document.find_all("footer"),
        asides=document.find_all("aside"),
        headers=headers,
        header_lists=select_each(document, ("header ul", "header ol")) if headers else [],
    )


def remove_soft_chrome(body: Element, names: Names, soft: SoftChrome) -> None:
    """Bars around a document whose own root is not marked."""
    bulk = Bulk(body)
    for bar in [bar for bar in _bars(names, soft) if not bulk.is_mostly_in(bar)]:
        bar.decompose()


def _bars(names: Names, soft: SoftChrome) -> Iterator[Element]:
    yield from names.chrome
    yield from soft.named
    yield from soft.footers
    yield from filter(is_chrome_aside, soft.asides)
    yield from (header for header in soft.headers if header.select_one("h1") is None)
    yield from filter(_is_mostly_links, soft.header_lists)


def _is_mostly_links(element: Element) -> bool:
    return link_share(element) > _ENOUGH


def _weight(element: Element) -> int:
    return len(element.text)


def _unlinked_weight(element: Element) -> int:
    linked = sum(len(link.text) for link in element.iter_elements("a"))
    return max(0, len(element.text) - linked)

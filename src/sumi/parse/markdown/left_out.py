"""What of a page is not in its Markdown: its words, counted by what they were in.

A name alone is a weak reason. So prose, code, tables and lists that were left out for nothing but a name are
counted once more, in ``by_name``, and the fidelity of the page falls.
"""

import re
from collections.abc import Collection, Iterable
from itertools import chain, islice
from typing import Final

from sumi.parse.html import Element, Node, Text, element_children, is_on_page, parse_text
from sumi.parse.markdown.chrome import CHROME_ROLES, link_share
from sumi.parse.markdown.words import words_in

LANDMARK: Final = "landmark"  # header, footer, aside, form, nav, and what has such a role or name
NAVIGATION: Final = "navigation"  # bars, lists of links, tools
NOTICE: Final = "notice"  # about cookies, newsletters, what to share, buy or read next
COMMENT: Final = "comment"
HIDDEN: Final = "hidden"
SCRIPT: Final = "script"  # for browsers without scripts
REPEATED: Final = "repeated"  # on nearly all pages of the site, as is known once they are all there
OTHER: Final = "other"

_BY_NAME: Final = frozenset({NAVIGATION, NOTICE, COMMENT})
_LANDMARK_TAGS: Final = frozenset({"aside", "footer", "form", "header", "nav"})
_READ_LANDMARKS: Final = frozenset({"aside", "footer", "header"})
# The first kind that a name is of counts.
_WORDS: Final = {
    LANDMARK: "footer colophon copyright masthead",
    COMMENT: "comment comments commentlist disqus kommentar kommentare replies respond",
    NOTICE: """
        cookie cookies cookieconsent consent gdpr privacy newsletter subscribe subscription signup sign-up
        paywall popup modal ad ads advert advertisement promo sponsored outbrain taboola share sharing
        sharedaddy social related
        jp-relatedposts recommend recommended recommendation recommendations teaser teasers feedback
    """,
}
_WORDS_OF_KINDS: Final = {kind: frozenset(words.split()) for kind, words in _WORDS.items()}
_ALL_WORDS: Final = frozenset(chain.from_iterable(_WORDS_OF_KINDS.values()))
_NAMES_OF_KINDS: Final = {
    kind: re.compile(rf"(?:^|[-_\s])(?:{'|'.join(sorted(words))})(?=$|[-_\s])")
    for kind, words in _WORDS_OF_KINDS.items()
}
_LONGEST_NAMES: Final = 500
_MOSTLY: Final = 0.5
_FEW_LINKS: Final = 0.3
_PROSE: Final = 25  # words; shorter paragraphs are notices of copyright and slogans
_LEGAL: Final = 80  # words; what is called a footer and has fewer is a notice of rights
_SENTENCE: Final = 8
_ENTRIES: Final = frozenset({"article", "blockquote", "div", "li", "section", "table", "tr"})
_STRUCTURES: Final = ("table", "ul", "ol")
_LEAST_STRUCTURE: Final = 2  # rows or items
_FRAMES: Final = (
    "footer, header, aside, form, nav, [role=contentinfo], [role=banner], [role=navigation], [role=dialog], "
    "[role=menu], [hidden], #nav-path"
)


class LeftOut:
    """Counted on the way of one page."""

    __slots__ = ("_part", "by_name", "in_landmarks", "words")

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.by_name = 0  # words of what looks like content
        self.in_landmarks = 0  # words of prose in asides, footers and headers
        self._part: Element | None = None  # what is around it on the page was counted

    def add(self, kind: str, words: int, *what: Node) -> None:
        """``what`` they are in is of interest to those only who want to see it."""
        if words:
            self.words[kind] = self.words.get(kind, 0) + words

    def take_off(self, element: Element, kind: str = "") -> None:
        """Counts what is in the element, and removes it from the page. Some is removed with what it is in."""
        words = number_of_words(element) if self._is_uncounted(element) else 0
        if words:
            kind = kind or kind_of(element)
            self.add(kind, words, element)
            if words >= _PROSE and _is_by_name(element, kind):
                content = _words_of_text(element)
                self.by_name += content if content >= (_LEGAL if kind == LANDMARK else _PROSE) else 0
            self._note_landmark(element, words)
        element.decompose()

    def take_off_frame(self, frame: Element) -> None:
        """A page within the page, which is written into its attribute and not read."""
        inner = parse_text(frame.attr("srcdoc") or "").root
        words = 0 if inner is None else _words_of_text(inner)
        if words >= _PROSE:
            self.add(OTHER, words, frame)
            self.by_name += words
        self.take_off(frame, NAVIGATION)

    def note_beside(self, part: Element, body: Element) -> None:
        """Of all that is around the part on the page."""
        self._part = part
        inner = part
        while inner is not body and isinstance(inner.parent, Element):
            outer = inner.parent
            for each in outer.children:
                if isinstance(each, Text):
                    self.add(OTHER, words_in(each.data), each)
                elif isinstance(each, Element) and each is not inner:
                    words = number_of_words(each)
                    self.add(_kind_beside(each), words, each)
                    self._note_landmark(each, words)
            inner = outer

    def words_beside(self, root: Element) -> int:
        """Of what looks like content. If landmarks tell more than the root does, they may be it."""
        in_landmarks = self.in_landmarks
        return self.by_name + (in_landmarks if in_landmarks and in_landmarks > number_of_words(root) else 0)

    def _note_landmark(self, element: Element, words: int) -> None:
        if words >= _PROSE and element.tag in _READ_LANDMARKS:
            self.in_landmarks += _words_of_sentences(element)

    def _is_uncounted(self, element: Element) -> bool:
        if self._part is None:
            return is_on_page(element)
        return self._part in element.ancestors


def _is_by_name(element: Element, kind: str) -> bool:
    """And not by its tag or its role; several comments are comments."""
    if kind == LANDMARK:
        return not _is_landmark(element)
    return kind in _BY_NAME and not (kind == COMMENT and _is_thread(element))


def _is_landmark(element: Element) -> bool:
    return element.tag in _LANDMARK_TAGS or element.attr("role") in CHROME_ROLES


def kind_of(element: Element) -> str:
    """What is left out without any of these signs is so as a bar."""
    if _is_landmark(element):
        return LANDMARK
    return kind_of_names(f"{element.attr('class') or ''} {element.attr('id') or ''}") or NAVIGATION


def kind_of_names(names: str) -> str:
    names = names[:_LONGEST_NAMES].lower()
    return next((kind for kind, pattern in _NAMES_OF_KINDS.items() if pattern.search(names)), "")


def kind_of_words(words: tuple[str, ...]) -> str:
    """Of names that were taken apart; most say nothing."""
    if _ALL_WORDS.isdisjoint(words):
        return ""
    return next(kind for kind, known in _WORDS_OF_KINDS.items() if not known.isdisjoint(words))


def _kind_beside(element: Element) -> str:
    kind = kind_of(element)
    return OTHER if kind == NAVIGATION and link_share(element) < _MOSTLY else kind


def _is_thread(element: Element) -> bool:
    """Of several comments that are all of one kind, each in an element of its own: paragraphs are a text."""
    inner = list(islice(element_children(element), _LEAST_STRUCTURE + 1))
    while len(inner) == 1:
        inner = list(islice(element_children(inner[0]), _LEAST_STRUCTURE + 1))
    kinds = [(each.tag, each.attr("class")) for each in inner if each.tag in _ENTRIES]
    return len(kinds) > len(set(kinds))


def number_of_words(element: Element) -> int:
    """Cells and items that stand beside each other have no blank between them."""
    return sum([words_in(text) for text in element.stripped_strings])


def words_of_content(root: Element, beside: Element | None = None) -> int:
    """Of prose, code, tables and lists that nothing sets apart from a document: what holds the place that
    they are ``beside`` of as well does not."""
    around: Collection[Node] = () if beside is None else set(beside.ancestors)
    words = 0
    outermost: Element | None = None
    for element in root.iter_elements(("p", "pre", *_STRUCTURES)):
        if outermost is not None and outermost in element.ancestors:
            continue
        if not (found := _words_of(element)):
            continue
        frame = element.closest(_FRAMES)
        if frame is None or frame in around:
            words += found
            outermost = element
    return words


def _words_of_text(element: Element) -> int:
    return max(words_of_content(element), _words_of_sentences(element))


def _words_of_sentences(element: Element) -> int:
    """Of several short paragraphs, which together are a text: a notice has one or two."""
    lengths = [_unlinked_words(paragraph) for paragraph in element.iter_elements("p")]
    words = sum(length for length in lengths if length >= _SENTENCE)
    return words if words >= 2 * _PROSE else 0


def _words_of(element: Element) -> int:
    words = _unlinked_words(element)
    if element.tag == "p":
        return words if words >= _PROSE else 0
    if element.tag == "pre" or not words:
        return words
    return words if _is_structure(element) and link_share(element) < _FEW_LINKS else 0


def _is_structure(element: Element) -> bool:
    """And no layout of fields to fill in, or of blocks that are looked at one by one."""
    parts: Iterable[Element] = element.iter_elements("tr" if element.tag == "table" else "li")
    if sum(1 for _ in islice(parts, _LEAST_STRUCTURE)) < _LEAST_STRUCTURE:
        return False
    return next(element.iter_elements(("button", "div", "form", "input", "p", "pre", "table")), None) is None


def _unlinked_words(element: Element) -> int:
    words = number_of_words(element)
    return words - sum(map(number_of_words, element.iter_elements("a"))) if words else 0

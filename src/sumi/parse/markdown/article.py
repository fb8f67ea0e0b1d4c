"""Articles: on a page of prose, the smallest part that holds nearly all of it, without the boxes within.

Manuals must never be cut short by this. So nothing is done to a page that has anything of what reference
pages are made of, unless it plainly calls itself an article and keeps all of that; and what is left out has
little prose, or is called comments or an advertisement by the page itself. Since generators of manuals call
every page an article, a chapter is not left out either: what begins with a heading of its own and goes on
with more than links, however short it is and whatever its id.
"""

import re
from collections.abc import Iterable, Iterator, Set
from itertools import chain, islice, takewhile
from typing import Final, NamedTuple

from sumi.parse.html import (
    Element,
    Node,
    Text,
    element_children,
    elements_with_text,
)
from sumi.parse.markdown.article_signs import CODE_TAGS, Claim, Signs
from sumi.parse.markdown.chrome import MAX_CLASSES, link_share

# Calibrated on some eighty labelled news and blog pages in twelve languages: teasers, captions and buttons
# are shorter than this, and of any paragraph at least one stretch between links and emphasis is longer.
_RUN: Final = 60
_ENOUGH_PROSE: Final = 350
_MOST_RUNS: Final = 500  # of prose; a page with more is a book
_DEEPEST: Final = 100  # ancestors looked at
_NEARLY_ALL: Final = 0.7  # the rest is teasers, notices and terms of use
_MOSTLY: Final = 0.5
_STRAY: Final = 0.2  # of the prose: more links in definition lists than this are a table of contents
_BELIEVED: Final = 0.15  # of all prose must be left without boxes, or they are not what they are called
_FRAME_LINKS: Final = 20  # around an article that is not called one; beside a manual's text there are fewer
_MANY_LINKS: Final = 30
_FEWEST_PICTURES: Final = 3
_MANY_PICTURES: Final = 10  # then teasers are around the story, whatever that is told in
_NEARLY_EACH: Final = 0.8
_SOME_CODE: Final = 20  # elements, on a page whose links are nearly all written with a host
_OWN_LINKS: Final = 5  # to its comments, its end and its notes
_FEWEST_PARAGRAPHS: Final = 3  # of such a one
_LONG_STORY: Final = 800  # which it has to be, or have more paragraphs than that
_FEW_LINKS: Final = 0.3  # of the letters of a paragraph; signatures in the manual of a library have more
_MOST_TEASERS: Final = 50  # as definition lists; more are a manual, and would take long to look at
_REFERENCE: Final = ", ".join(("dl", *CODE_TAGS))
_LITTLE_CODE: Final = 2
_BOX_TAGS: Final = frozenset({"div", "section", "aside", "form", "table", "ul", "ol"})
_TEXT_TAGS: Final = frozenset({"p", "blockquote"})
# Of tables and lists that pages are laid out in; elsewhere they hold a part of the text and not all of it.
_CELL_TAGS: Final = frozenset({"li", "td"})
_ASIDE_TAGS: Final = frozenset({"aside", "footer", "form", "noscript"})
_PARTS_OF_WHOLES: Final = frozenset({"tbody", "thead", "tr", "table", "ul", "ol", "dl"})
_LISTS: Final = frozenset({"ul", "ol"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_FEWEST_ROWS: Final = 3
_LAID_OUT: Final = ("div", "form", "h2", "h3", "h4", "img", "input", "p", "table", "ul")
_STRUCTURES: Final = frozenset({"table", "ol", "dl", "pre", "figure"})  # of which a chapter may consist
_FIGURES: Final = ("img", "picture", "video", "audio", "table")
# What comments and offers consist of. Not <span>: highlighted code has comments of another kind.
_BOX_PARTS: Final = ("div", "article", "ul", "ol", "li", "p", "a")
_WORD: Final = re.compile(r"[^\W_]+")
_BOX_NAMES: Final = re.compile(
    r"(?:^|[-_\s])(?:comments?|commentlist|kommentare?|disqus|respond|share|sharing|social|related|newsletter|subscribe|subscription|"
    r"signup|sign-up|promo|sponsored|recommend(?:ed|ations?)?|outbrain|taboola|advert(?:isement)?|ad|ads|"
    r"paywall|teasers?)(?=$|[-_\s])"
)


# Of those, what a story or its lead is called as well: it is a box only without a text of its own.
_MILD_NAMES: Final = re.compile(r"(?:^|[-_\s])(?:share|sharing|social|paywall|teasers?)(?=$|[-_\s])")


class Prose:
    """How much prose each element of a page holds, what stands apart from the text not counted."""

    __slots__ = ("_held", "apart", "total")

    def __init__(self, root: Element, holders: list[Element]) -> None:
        self.total = 0
        self._held: dict[Node, int] = {}
        ways = list(zip(_ways_up(holders, root), map(_length, holders), strict=True))
        around = dict.fromkeys(element for way, _ in ways for element in way[:-1])
        apart = dict.fromkeys(filter(_stands_apart, around))  # in the order of the page
        free = [(way, length) for way, length in ways if apart.keys().isdisjoint(way)] if apart else ways
        if _total(free) < _BELIEVED * _total(ways):
            apart, free = {}, ways
        self.apart = apart
        for way, length in free:
            self._add(way, length)

    def _add(self, way: list[Element], length: int) -> None:
        self.total += length
        for element in way:
            self._held[element] = self._held.get(element, 0) + length

    def held_by(self, element: Element) -> int:
        return self._held.get(element, 0)

    def holders(self) -> list[Element]:
        return [element for element in self._held if isinstance(element, Element)]


def _ways_up(holders: list[Element], root: Element) -> Iterator[list[Element]]:
    """Of each holder, itself and those around it, the root last. Paragraphs stand beside each other, so the
    way from their common parent is gone once."""
    ways: dict[Node | None, list[Element]] = {}
    for holder in holders:
        parent = holder.parent
        way = ways.get(parent)
        if way is None:
            way = ways[parent] = _way_from(holder, root)
        yield [holder, *way]


def _way_from(holder: Element, root: Element) -> list[Element]:
    way = []
    for element in islice(holder.ancestors, _DEEPEST):
        if isinstance(element, Element):
            way.append(element)
        if element is root:
            break
    return way


def _length(holder: Element) -> int:
    """Of the prose that it holds itself, in bytes: Chinese says in a third of the letters what English does,
    and takes three bytes for each."""
    runs = (child.data for child in holder.children if isinstance(child, Text))
    return sum(len(run.encode("utf-8", "replace")) for run in runs if len(run) > _RUN)


def _total(ways: list[tuple[list[Element], int]]) -> int:
    return sum(length for _, length in ways)


class Article(NamedTuple):
    part: Element
    prose: Prose


def may_hold_story(body: Element, signs: Signs, claim: Claim) -> bool:
    """Whether a page is so plainly an article that its story is looked for run by run. Generators of manuals
    mark their pages as articles, too: such pages have code, an outline that can be linked to, or few links
    that are written with a host. News of a program are a list of links to its manual, without pictures."""
    if signs.links < _FRAME_LINKS:
        return False
    is_linked_out = signs.links_out >= _FRAME_LINKS
    if claim is Claim.NONE and 2 * signs.links_out < signs.links and signs.pictures < _FEWEST_PICTURES:
        return False
    if claim is Claim.META and is_linked_out:
        return signs.code <= _LITTLE_CODE or not _has_outline(body)
    if signs.code > (_SOME_CODE if _is_all_linked_out(signs) else _LITTLE_CODE):
        return False
    if claim is Claim.META or is_linked_out or _is_plainly_told(signs):
        return not _has_outline(body)
    return False


def _is_all_linked_out(signs: Signs) -> bool:
    """As the pages of blogs and shops are, which are made of addresses and not of files."""
    return signs.links_out >= max(_FRAME_LINKS, _NEARLY_EACH * signs.links)


def _is_plainly_told(signs: Signs) -> bool:
    """In paragraphs, among pictures and links to other pages: beside a manual's text there are hardly any."""
    if signs.code or signs.links < _MANY_LINKS:
        return False
    if signs.pictures >= _MANY_PICTURES:
        return signs.links_within <= 2 * _OWN_LINKS
    return (
        signs.links_within <= _OWN_LINKS
        and signs.paragraphs >= _FEWEST_PARAGRAPHS
        and signs.pictures >= _FEWEST_PICTURES
    )


def may_be_framed_story(signs: Signs, claim: Claim) -> bool:
    """Whether a page that rules call an article has so many links that some must be around the story."""
    return claim is not Claim.META and signs.links >= _FRAME_LINKS


def find_article(root: Element, claim: Claim) -> Article | None:
    """None for a page that is no article, or may be something else as well."""
    if claim is not Claim.META and _has_reference(root):
        return None
    holders = elements_with_text(root, _RUN)
    if not 0 < len(holders) <= _MOST_RUNS:
        return None
    prose = Prose(root, holders)
    if prose.total < _ENOUGH_PROSE:
        return None
    part = _part(root, prose)
    if claim is Claim.META and _leaves_out_reference(root, part, prose):
        return None
    if claim is Claim.NONE and not (_is_framed(root, part) and _is_told(part, prose, holders)):
        return None
    if claim is not Claim.META and _has_outline(part):
        return None
    return Article(part, prose)


def _has_reference(root: Element) -> bool:
    """Teasers come as definition lists, too: of a picture's name and a headline, which are links."""
    if next(root.iter_elements(CODE_TAGS), None) is not None:
        return True
    lists = list(islice(root.iter_elements("dl"), _MOST_TEASERS + 1))
    return len(lists) > _MOST_TEASERS or any(link_share(definitions) < _MOSTLY for definitions in lists)


def _has_outline(part: Element) -> bool:
    """Parts that can be linked to by the name of their heading, as generators of manuals make them."""
    return any(_is_named_by(heading) for heading in part.iter_elements(_HEADINGS))


def _is_named_by(heading: Element) -> bool:
    section = heading.parent
    names = [heading.attr("id")]
    if isinstance(section, Element) and _is_section(section):
        names.append(section.attr("id"))
    return any(_is_made_of(heading, name) and not _BOX_NAMES.search(name.lower()) for name in names if name)


def _is_made_of(heading: Element, name: str) -> bool:
    """Whether it is an id of the words of the heading, some of which generators leave out."""
    if len(name) >= MAX_CLASSES:
        return False
    words = {word for word in _WORD.findall(name.lower()) if not word.isdigit()}
    return bool(words) and words.issubset(_WORD.findall(heading.text.lower()))


def _leaves_out_reference(root: Element, part: Element, prose: Prose) -> bool:
    kept, around = set(part.select(_REFERENCE)), set(part.ancestors)
    teasers = 0
    for each in root.select(_REFERENCE):
        if each in kept or _is_of_frame(each, around, prose):
            continue
        if each.tag != "dl" or link_share(each) < _MOSTLY:
            return True
        teasers += len(each.text)
    return teasers > _STRAY * prose.total


def _is_of_frame(reference: Element, around: Set[Node], prose: Prose) -> bool:
    """Code that a comment quotes or a headline has. What is around the article as well, and were it called a
    form, tells nothing."""
    way = takewhile(lambda each: each not in around, islice(reference.ancestors, _DEEPEST))
    return any(
        each in prose.apart or each.tag == "a" or _stands_apart(each)
        for each in chain((reference,), way)
        if isinstance(each, Element)
    )


def _is_framed(root: Element, part: Element) -> bool:
    """By links to other pages; one that has many into itself is a manual."""
    own = sum(len(link.attr("href") or "") > 1 for link in root.select("a[href^='#']"))
    return own <= _OWN_LINKS and len(root.select("a[href]")) - len(part.select("a[href]")) >= _FRAME_LINKS


def _is_told(part: Element, prose: Prose, holders: list[Element]) -> bool:
    """In paragraphs, as stories are; long lines of lists, tables and links are the index of a manual."""
    mine = [holder for holder in holders if _is_within(holder, part)]
    told = sum(map(_paragraphs, mine))
    fewest = _FEWEST_PARAGRAPHS if prose.total >= _LONG_STORY else _FEWEST_PARAGRAPHS + 1
    return told >= fewest and 2 * told > len(mine)


def _paragraphs(holder: Element) -> int:
    if link_share(holder) > _FEW_LINKS:
        return 0
    return 1 if holder.tag == "p" else sum(child.tag == "br" for child in element_children(holder)) // 2


def _part(root: Element, prose: Prose) -> Element:
    part = root
    while (inner := _heir(part, prose, _NEARLY_ALL * prose.total)) is not None:
        part = inner
    while part.tag in _PARTS_OF_WHOLES and part is not root and isinstance(part.parent, Element):
        part = part.parent
    return part


def _heir(part: Element, prose: Prose, least: float) -> Element | None:
    """The child that holds nearly all. None if other prose leads up to it, or looks like more of the same."""
    holders = [child for child in element_children(part) if prose.held_by(child)]
    if not holders:
        return None
    if part.tag == "body":
        holders.sort(key=prose.held_by, reverse=True)  # what leads up to a story stands nearer to it
    heir, *rest = holders
    if prose.held_by(heir) < least or _is_text(heir, prose):
        return None
    if any(_kind(each) == _kind(heir) for each in rest):
        return None
    return None if any(goes_on(each, heir) for each in element_children(part)) else heir


def goes_on(element: Element, heir: Element) -> bool:
    """The document, beside its heir and without prose to count: with a table, some steps or a drawing."""
    if element is heir:
        return False
    if element.tag in _HEADINGS:
        return _is_named_by(element)
    if element.tag in _STRUCTURES:
        return _is_headed(element) and link_share(element) <= _MOSTLY
    return _is_next_chapter(element, heir)


def _is_headed(element: Element) -> bool:
    before = next((each for each in element.previous_siblings if isinstance(each, Element)), None)
    return before is not None and before.tag in _HEADINGS


def _is_next_chapter(element: Element, heir: Element) -> bool:
    """The headings of chapters that stand beside each other are of one rank."""
    mine = _heading_of(element)
    if mine is None or _is_called_box(element):
        return False
    first = _heading_of(heir)
    return first is not None and first.tag == mine.tag and _is_chapter(element)


def _is_text(element: Element, prose: Prose) -> bool:
    if element.tag in _CELL_TAGS:
        return not any(prose.held_by(child) for child in element_children(element))
    return element.tag in _TEXT_TAGS


def _kind(element: Element) -> tuple[str, str | None]:
    return element.tag, element.attr("class")


def frame_of(article: Article) -> list[Element]:
    """What around an article is called something else: comments, an aside, a form. Of those within each other
    the outermost: a thread, and not its comments."""
    apart = article.prose.apart
    outermost = [element for element in apart if apart.keys().isdisjoint(element.ancestors)]
    return [element for element in outermost if not _is_within(element, article.part)]


def boxes_of(article: Article) -> list[Element]:
    """What stands in the midst of an article without being of it: what to share, read, join or buy."""
    part, prose = article
    mine = [holder for holder in prose.holders() if _is_within(holder, part)]
    boxes = chain(_believable(list(_called_boxes(part, prose)), prose), _plain_boxes(mine, prose))
    kept = _holders_of_reference(part)
    return [box for box in dict.fromkeys(boxes) if box not in kept]


def _holders_of_reference(part: Element) -> set[Node]:
    """Each once, however many there are within each other: what asks every box instead takes the square."""
    holders: set[Node] = set()
    for each in part.select(_REFERENCE):
        for element in chain((each,), islice(each.ancestors, _DEEPEST)):
            if element in holders:
                break
            holders.add(element)
    return holders


def _called_boxes(part: Element, prose: Prose) -> Iterator[Element]:
    for element in part.iter_elements(tuple(_BOX_TAGS)):
        if prose.held_by(element) < _MOSTLY * prose.total and _is_called_box(element):
            yield element


def _believable(boxes: list[Element], prose: Prose) -> list[Element]:
    """None if they hold all that is told: then they are no comments on it, but what the page is about."""
    inner = set(boxes)
    outermost = [box for box in boxes if inner.isdisjoint(box.ancestors)]
    held = sum(map(prose.held_by, outermost))
    return boxes if prose.total - held >= _BELIEVED * prose.total else []


def _plain_boxes(holders: Iterable[Element], prose: Prose) -> Iterator[Element]:
    for holder in holders:
        heading = None
        for child in element_children(holder):
            if child.tag in _HEADINGS:
                heading = child
            elif not prose.held_by(child) and _is_plain_box(child) and not _is_index(child, heading):
                yield child


def _is_index(box: Element, heading: Element | None) -> bool:
    """Links as a list or table in a chapter that can itself be linked to: to the chapters below it, or to
    what can be downloaded."""
    if heading is None or box.tag == "form" or not _is_named_by(heading):
        return False
    return box.tag == "table" or next(box.iter_elements((*_LISTS, "table")), None) is not None


def _is_within(element: Element, part: Element) -> bool:
    return element is part or part in islice(element.ancestors, _DEEPEST)


def _is_plain_box(element: Element) -> bool:
    """Lists of links beside paragraphs are of the text, unless they are called otherwise. And so are tables
    whose columns have names: those of downloads consist of links."""
    if element.tag not in _BOX_TAGS or not element.text.strip():
        return False
    if element.tag == "form":
        return True
    if element.tag in _LISTS:
        return False
    if element.tag == "table" and (element.find("th") is not None or is_data_table(element)):
        return False
    return link_share(element) > _MOSTLY and not _is_chapter_of_manual(element)


def is_data_table(table: Element) -> bool:
    """Its columns have names, or its rows have cells of plain text and are all of one length."""
    if next(table.iter_elements(_LAID_OUT), None) is not None:
        return False
    if table.find("th") is not None:
        return True
    lengths = [sum(1 for _ in element_children(row)) for row in table.iter_elements("tr")]
    return len(lengths) >= _FEWEST_ROWS and len(set(lengths)) == 1 and lengths[0] > 1


def _stands_apart(element: Element) -> bool:
    return element.tag in _ASIDE_TAGS or _is_called_box(element)


def _is_called_box(element: Element) -> bool:
    if element.tag not in _BOX_TAGS:
        return False
    classes = element.attr("class")
    if _says_box(classes):
        return not (_says_mildly(classes or "") and _has_text(element))
    return _says_box(element.attr("id")) and not _is_chapter_of_manual(element)


def _says_box(names: str | None) -> bool:
    return names is not None and len(names) < MAX_CLASSES and _BOX_NAMES.search(names.lower()) is not None


def _says_mildly(names: str) -> bool:
    return _BOX_NAMES.search(_MILD_NAMES.sub(" ", names.lower())) is None


def _has_text(element: Element) -> bool:
    return any(link_share(each) <= _FEW_LINKS for each in elements_with_text(element, _RUN))


def _is_section(element: Element) -> bool:
    return element.tag == "section" or element.has_class("section")


def _is_chapter_of_manual(element: Element) -> bool:
    """Of which generators make sections. Divisions that begin with a heading are boxes of news as well."""
    return _is_section(element) and _is_chapter(element)


def _heading_of(element: Element) -> Element | None:
    """With which it begins."""
    heading = next(element.iter_elements(_HEADINGS), None)
    first = next(element.stripped_strings, None) if heading is not None else None
    return heading if heading is not None and first == next(heading.stripped_strings, "") else None


def _is_chapter(element: Element) -> bool:
    """It begins with a heading and goes on with more than links, or its id is made of the heading: a manual
    has a chapter on comments. Of a box, a part is called so as well, or is a form."""
    heading = _heading_of(element)
    if heading is None or not _says_more(element, heading):
        return False
    if link_share(element) > _MOSTLY and not _is_made_of(heading, element.attr("id") or ""):
        return False
    return element.find("form") is None and not any(map(_is_part_of_box, element.iter_elements(_BOX_PARTS)))


def _says_more(element: Element, heading: Element) -> bool:
    if len(element.text.strip()) > len(heading.text.strip()):
        return True
    return next(element.iter_elements(_FIGURES), None) is not None


def _is_part_of_box(element: Element) -> bool:
    return _says_box(element.attr("class")) or (not _is_section(element) and _says_box(element.attr("id")))

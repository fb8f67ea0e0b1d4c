"""Where on the page the document is: the landmark that its generator gives it, if it holds the text.

A wrong root cuts a document short, which is worse than a link bar too many. So a landmark is only a
candidate: it must hold at least half of the page's text, or the next wider one is taken, at last the body.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from sumi.parse.html import (
    Document,
    Element,
    Node,
    elements_with_text,
    is_on_page,
    new_element,
    select_each,
)
from sumi.parse.markdown.article import (
    boxes_of,
    find_article,
    frame_of,
    may_be_framed_story,
    may_hold_story,
)
from sumi.parse.markdown.article_signs import Claim, Signs, claim_of
from sumi.parse.markdown.callouts import boxes_by_role
from sumi.parse.markdown.chrome import (
    CHROME_IDS,
    CHROME_ROLES,
    MAX_CLASSES,
    Part,
    is_bar_name,
    is_bar_of_links,
    is_chrome_aside,
    is_chrome_id,
    is_chrome_role,
    is_more_than_links,
    is_too_long_for_its_name,
    link_share,
    part_of,
)
from sumi.parse.markdown.left_out import LeftOut, words_of_content
from sumi.parse.markdown.story import take_story

# What generators put the document itself into, most exact first. A key is ".class", "#id", "@role" or a tag.
_LANDMARKS: Final = (
    ".theme-doc-markdown",  # Docusaurus
    ".vp-doc",  # VitePress
    ".md-content__inner",  # MkDocs Material
    "#mw-content-text",  # MediaWiki
    ".entry-content",  # WordPress
    ".contentContainer",  # Javadoc before 16
    "#furo-main-content",
    ".md-content",
    ".contents",  # Doxygen; docutils has a table of contents of that name, see below
    ".body",  # Sphinx
    ".document",
    "@main",
    "main",
    "#main-content",
    "article",
)
# Of those, what only generators of manuals write.
_OF_GENERATORS: Final = frozenset(
    {
        "theme-doc-markdown",
        "vp-doc",
        "md-content__inner",
        "contentContainer",
        "furo-main-content",
        "md-content",
    }
)
_RANK: Final = {key: rank for rank, key in enumerate(_LANDMARKS)}
_RANK_OF_CLASS: Final = {key[1:]: rank for key, rank in _RANK.items() if key.startswith(".")}
_TELLING_IDS: Final = CHROME_IDS | {key[1:] for key in _LANDMARKS if key.startswith("#")}
_DOCBOOK_BOXES: Final = frozenset({"note", "tip", "warning", "caution", "important"})
_TELLING_ROLES: Final = CHROME_ROLES | {"main"}


class Names(NamedTuple):
    """Elements whose class, id or role says what they are."""

    landmarks: list[list[Element]]  # all of a kind; the most exact kind first
    chrome: list[Element]  # more than once, where several names say so
    admonitions: list[Element]


class _Meaning(NamedTuple):
    part: Part
    landmarks: tuple[int, ...]


_NOTHING: Final = _Meaning(Part.CONTENT, ())
_BAR: Final = _Meaning(Part.CHROME, ())


class _Named(NamedTuple):
    """Selectors of what has a name of each kind, for one tag."""

    tag: str
    by_class: str
    by_id: str
    by_role: str


class _NameReader:
    """Reads of each element only the names that it has: a selector tells that faster than the element. And
    asks only for tags that are on the page, as most of them are not."""

    __slots__ = ("_kinds",)

    def __init__(self, *tags: str) -> None:
        self._kinds = [_Named(tag, f"{tag}[class]", f"{tag}[id]", f"{tag}[role]") for tag in tags]

    def read(self, document: Document) -> list[tuple[Element, _Meaning]]:
        """Those whose names mean anything, once for each such name."""
        kinds = [kind for kind in self._kinds if document.find(kind.tag) is not None]
        if not kinds:
            return []
        found: list[tuple[Element, _Meaning]] = []
        for element in select_each(document, [kind.by_class for kind in kinds]):
            classes = element.attr("class") or ""
            meaning = _meaning_of_classes(classes) if len(classes) < MAX_CLASSES else _NOTHING
            if meaning is not _NOTHING:
                found.append((element, meaning))
        for element in select_each(document, [kind.by_id for kind in kinds]):
            name = element.attr("id") or ""
            if name.lower() in _TELLING_IDS:
                is_chrome = is_chrome_id(name) and not _is_chapter(element)
                found.append((element, _meaning(f"#{name}", is_chrome=is_chrome)))
            elif is_bar_name(name) and is_bar_of_links(element):
                found.append((element, _BAR))
        for element in select_each(document, [kind.by_role for kind in kinds]):
            role = element.attr("role") or ""
            if role in _TELLING_ROLES:
                found.append((element, _meaning(f"@{role}", is_chrome=is_chrome_role(role))))
        return found


_MAIN_READER: Final = _NameReader("main", "article")
_DIVISION_READER: Final = _NameReader("div", "section")
# Not <span>: code is made of thousands of them.
_PART_READER: Final = _NameReader("ul", "ol", "table", "aside", "details", "header", "blockquote")
_BAR_READER: Final = _NameReader("p", "form")


def read_names(document: Document) -> Names:
    """Of the whole page, before anything is taken off it."""
    mains, divisions = _MAIN_READER.read(document), _DIVISION_READER.read(document)
    removable = [*divisions, *_PART_READER.read(document)]
    return Names(
        landmarks=_by_kind(document, mains + divisions),
        chrome=[element for element, (part, _) in removable if part is Part.CHROME and not _is_more(element)],
        admonitions=[
            *(element for element, (part, _) in removable if part is Part.ADMONITION),
            *_titled_boxes(document),
            *boxes_by_role(document),
        ],
    )


def is_of_generator(landmark: Element) -> bool:
    """Whether its name is one that pages of other kinds do not use."""
    if landmark.attr("id") in _OF_GENERATORS:
        return True
    return not _OF_GENERATORS.isdisjoint((landmark.attr("class") or "").split())


def _titled_boxes(document: Document) -> Iterator[Element]:
    """Of DocBook, whose classes are words that elsewhere mean other things: with its title they do not."""
    for title in document.select("h3.title"):
        box = title.parent
        if isinstance(box, Element) and box.attr("class") in _DOCBOOK_BOXES:
            yield box


def _is_chapter(element: Element) -> bool:
    """Its id is made of its heading: a manual of a language has a section on comments."""
    return element.tag == "section" or element.has_class("section")


def _is_more(element: Element) -> bool:
    """Than its name says."""
    return _is_list(element) or is_too_long_for_its_name(element) or is_more_than_links(element)


def _is_list(element: Element) -> bool:
    """What Sphinx calls the bar on top is, as a table, a list of related things in the manual of Apache."""
    return element.tag == "table" and element.has_class("related")


def named_bars(document: Document) -> list[Element]:
    """Chrome of kinds that are looked at only where no landmark was found."""
    return [bar for bar, (part, _) in _BAR_READER.read(document) if part is Part.CHROME]


def _by_kind(document: Document, named: list[tuple[Element, _Meaning]]) -> list[list[Element]]:
    by_rank = {_RANK[tag]: document.find_all(tag) for tag in ("main", "article")}
    for element, (_, landmarks) in named:
        for rank in landmarks:
            by_rank.setdefault(rank, []).append(element)
    return [found for _, found in sorted(by_rank.items())]


def _meaning(key: str, *, is_chrome: bool) -> _Meaning:
    return _Meaning(Part.CHROME if is_chrome else Part.CONTENT, (_RANK[key],) if key in _RANK else ())


@lru_cache(maxsize=4096)
def _meaning_of_classes(classes: str) -> _Meaning:
    """Remembered, because the pages of a site share their classes. They do not share their ids."""
    names = set(classes.split())
    if "contents" in names and names & {"topic", "local"}:
        return _Meaning(part_of(classes), ())
    ranks = tuple([_RANK_OF_CLASS[name] for name in names & _RANK_OF_CLASS.keys()])
    part = part_of(classes)
    return _Meaning(part, ranks) if ranks or part is not Part.CONTENT else _NOTHING


_ENOUGH: Final = 0.5
_SHORT: Final = 100
_LEAD: Final = 80
_LEADS: Final = frozenset({"div", "section"})
_LEAST_LEAD: Final = 12  # letters
_NEAR: Final = 5
_NEARLY_ALL: Final = 0.7
_A_LINE_OR_TWO: Final = 200
_FEW: Final = 0.1
_FEW_LINKS: Final = 0.3
_LETTERS: Final = 5  # of a word


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

    def kept_of(self, bars: list[Element], parts: list[Element]) -> set[Node]:
        """Of bars and other parts that may be chrome, those that are not, and what holds such."""
        kept = [*filter(self.is_mostly_in, bars), *self._text_in(parts)]
        return set(kept).union(*(each.ancestors for each in kept))

    def _text_in(self, bars: list[Element]) -> list[Element]:
        """Those that hold text, if together they hold all of it, or all but a line or two."""
        if sum(map(_weight, bars)) < _ENOUGH * self.weigh():
            return []
        found = {bar for bar in bars if self._root in bar.ancestors}
        outermost = [bar for bar in found if found.isdisjoint(bar.ancestors)]
        within = sum(map(unlinked_weight, outermost))
        beside = unlinked_weight(self._root) - within
        if beside > min(_A_LINE_OR_TWO, _FEW * within):
            return []
        return [bar for bar in bars if bar.tag != "footer" and link_share(bar) < _ENOUGH]


class SoftChrome(NamedTuple):
    """What may be a bar, if the page has no landmark."""

    named: list[Element]
    footers: list[Element]
    asides: list[Element]
    headers: list[Element]
    header_lists: list[Element]


def content_root(body: Element, names: Names, soft: SoftChrome, signs: Signs, left_out: LeftOut) -> Bulk:
    """The element to convert. Removes bars from the page where they make it hard to tell."""
    bulk = _found_root(body, names, soft, signs, left_out)
    lead = None if bulk.root is body or bulk.root.find("h1") is not None else _lead_before(bulk.root, body)
    if lead is not None:
        bulk = Bulk(bulk.root, words_beside=max(0, bulk.words_beside - words_of_content(lead)))
        bulk.root.insert(0, lead)
    left_out.note_beside(bulk.root, body)
    return bulk


def _lead_before(root: Element, body: Element) -> Element | None:
    """The title of the page with what it says below it, where the content proper begins only after both."""
    part = root
    while part is not body and isinstance(part.parent, Element):
        for before in islice(part.previous_siblings, _NEAR):
            title = before.find("h1") if isinstance(before, Element) and before.tag in _LEADS else None
            if title is not None:
                return _around_title(title, part.parent)
        part = part.parent
    return None


def _around_title(title: Element, limit: Element) -> Element | None:
    if link_share(title) > _ENOUGH or title.closest("header, nav, aside, footer") is not None:
        return None
    for part in islice(title.ancestors, _NEAR):
        if part is limit or not isinstance(part, Element):
            return None
        if any(_unlinked_sentence(each) for each in part.iter_elements("p")):
            return part
    return None


def _unlinked_sentence(paragraph: Element) -> bool:
    return unlinked_weight(paragraph) >= _LEAST_LEAD and paragraph.closest("form") is None


def _found_root(body: Element, names: Names, soft: SoftChrome, signs: Signs, left_out: LeftOut) -> Bulk:
    claim = claim_of(signs)
    if not _is_of_manual(names) and may_hold_story(body, signs, claim):
        story = _story(body, signs, left_out)
        if story is not None:
            return story
    bulk = _widest(body, names, soft, left_out)
    article = find_article(bulk.root, claim) if _may_be_article(bulk.root, claim) else None
    if article is None:
        return bulk
    if may_be_framed_story(signs, claim) and (story := _story(body, signs, left_out)) is not None:
        return story
    for box in (*frame_of(article), *boxes_of(article)):
        left_out.take_off(box)
    words_beside = bulk.words_beside if article.part is bulk.root else _beside(article.part, body)[1]
    return Bulk(article.part, words_beside=words_beside)


def _story(body: Element, signs: Signs, left_out: LeftOut) -> Bulk | None:
    story = take_story(body, signs.title, left_out)
    return None if story is None else Bulk(story.part, words_beside=story.words_beside)


def _is_of_manual(names: Names) -> bool:
    return any(is_of_generator(landmark) for kind in names.landmarks for landmark in kind)


def _widest(body: Element, names: Names, soft: SoftChrome, left_out: LeftOut) -> Bulk:
    """All that may be content."""
    landmarks = _only_ones(body, names)
    if not landmarks:
        remove_soft_chrome(body, names, soft, left_out)
        return Bulk(body)
    for landmark in landmarks:
        weight = _weight(landmark)
        weight_beside, words_beside = _beside(landmark, body)
        if weight < weight_beside or (weight < _SHORT and _is_part_of_more(landmark, body)):
            continue
        if not words_beside or unlinked_weight(landmark) > _LETTERS * words_beside:
            return Bulk(landmark, weight, words_beside)
    remove_soft_chrome(body, names, soft, left_out)
    total = unlinked_weight(body)
    for landmark in landmarks:
        weight = unlinked_weight(landmark)
        if weight >= _ENOUGH * total and (weight >= _SHORT or weight > _NEARLY_ALL * total):
            return Bulk(landmark, words_beside=_beside(landmark, body)[1])
    return Bulk(body)


def _is_part_of_more(landmark: Element, body: Element) -> bool:
    """Whether text beside a short one is no list of links, and hardly shorter."""
    return unlinked_weight(landmark) < _NEARLY_ALL * unlinked_weight(body)


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
    words = words_of_content(body, gap) if weight else 0
    gap.replace_with(landmark)
    return weight, words


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


def remove_soft_chrome(body: Element, names: Names, soft: SoftChrome, left_out: LeftOut) -> None:
    """Bars around a document whose own root is not marked."""
    bulk = Bulk(body)
    bars = list(dict.fromkeys(filter(is_on_page, _bars(names, soft))))
    kept = bulk.kept_of(bars, bars)
    for bar in bars:
        if bar not in kept:
            left_out.take_off(bar)


def _bars(names: Names, soft: SoftChrome) -> Iterator[Element]:
    yield from names.chrome
    yield from soft.named
    yield from soft.footers
    yield from filter(is_chrome_aside, soft.asides)
    yield from (header for header in soft.headers if not _begins_text(header))
    yield from filter(_is_mostly_links, soft.header_lists)


def _begins_text(header: Element) -> bool:
    """With the title, or with a lead: what the site is called says less."""
    if header.find("h1") is not None:
        return True
    return any(link_share(each) < _FEW_LINKS for each in elements_with_text(header, _LEAD))


def _is_mostly_links(element: Element) -> bool:
    return link_share(element) > _ENOUGH


def _weight(element: Element) -> int:
    return len(element.text)


def unlinked_weight(element: Element) -> int:
    linked = sum(len(link.text) for link in element.iter_elements("a"))
    return max(0, len(element.text) - linked)

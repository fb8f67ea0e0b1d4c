"""Elements whose class, id or role says what they are, found without a look at all the others."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, select_each
from sumi.parse.markdown.chrome import (
    CHROME_IDS,
    CHROME_ROLES,
    MAX_CLASSES,
    Part,
    is_chrome_id,
    is_chrome_role,
    is_too_long_for_its_name,
    part_of,
)

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
_TELLING_IDS: Final = CHROME_IDS | {key[1:] for key in _LANDMARKS if key.startswith("#")}
_DOCBOOK_BOXES: Final = frozenset({"note", "tip", "warning", "caution", "important"})
_TELLING_ROLES: Final = CHROME_ROLES | {"main"}


class Names(NamedTuple):
    landmarks: list[list[Element]]  # all of a kind; the most exact kind first
    chrome: list[Element]  # more than once, where several names say so
    admonitions: list[Element]


class _Meaning(NamedTuple):
    part: Part
    landmarks: tuple[int, ...]


_NOTHING: Final = _Meaning(Part.CONTENT, ())


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
    return _is_list(element) or is_too_long_for_its_name(element)


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
    ranks = tuple(_RANK[f".{name}"] for name in names if f".{name}" in _RANK)
    part = part_of(classes)
    return _Meaning(part, ranks) if ranks or part is not Part.CONTENT else _NOTHING

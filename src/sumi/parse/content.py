"""Where on the page the document is: the landmark that its generator gives it, if it holds the text.

A wrong root cuts a document short, which is worse than a link bar too many. So a landmark is only a
candidate: it must hold at least half of the page's text, or the next wider one is taken, at last the body.
"""

from functools import lru_cache
from typing import Final

from sumi.parse.chrome import (
    CHROME_TAGS,
    MAX_CLASSES,
    Part,
    is_chrome_aside,
    is_chrome_id,
    is_chrome_role,
    link_share,
    part_of,
)
from sumi.parse.html import Element

# Most exact first. A key is a tag, ".class", "#id" or "@role".
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
_RANK: Final = {key: rank for rank, key in enumerate(_LANDMARKS)}
_LANDMARK_TAGS: Final = ("main", "article", "div", "section")

_ENOUGH: Final = 0.5
_BAR_TAGS: Final = ("div", "section", "aside", "footer", "header", "ul", "ol", "p", "table", "form")


def content_root(body: Element) -> Element:
    """The element to convert. Removes what is chrome beyond doubt from ``body`` on the way."""
    remove_hard_chrome(body)
    candidates = _candidates(body)
    if not candidates:
        remove_soft_chrome(body)
        return body
    total = _weight(body)
    for candidate in candidates:
        if _weight(candidate) >= _ENOUGH * total:
            return candidate
    remove_soft_chrome(body)
    total = _unlinked_weight(body)
    for candidate in candidates:
        if _unlinked_weight(candidate) >= _ENOUGH * total:
            return candidate
    return body


def remove_hard_chrome(body: Element) -> None:
    """What no reader reads as text, and navigation."""
    for element in list(body.iter_elements(CHROME_TAGS)):
        if not _is_math_source(element):
            element.decompose()


def _is_math_source(element: Element) -> bool:
    return element.tag == "script" and (element.attr("type") or "").startswith("math/tex")


def remove_soft_chrome(body: Element) -> None:
    """Bars around a document whose own root is not marked."""
    total = _weight(body)
    for element in list(body.iter_elements(_BAR_TAGS)):
        if _is_bar(element) and not holds_most(element, total):
            element.decompose()


def _is_bar(element: Element) -> bool:
    tag = element.tag
    if tag == "footer":
        return True
    if tag == "header":
        return element.select_one("h1") is None
    if tag in ("ul", "ol") and _is_link_list_of_header(element):
        return True
    if tag == "aside":
        return is_chrome_aside(element)
    classes = element.attr("class")
    if classes is not None and part_of(classes) is Part.CHROME:
        return True
    return is_chrome_id(element.attr("id")) or is_chrome_role(element.attr("role"))


def _is_link_list_of_header(element: Element) -> bool:
    return element.closest("header") is not None and link_share(element) > _ENOUGH


def holds_most(element: Element, total: int) -> bool:
    """Whether, for all its name, most of a text of ``total`` characters is in it, and is not just links."""
    return _weight(element) > _ENOUGH * total and link_share(element) < _ENOUGH


def _candidates(body: Element) -> list[Element]:
    """One element per landmark that occurs once: two articles are a list of teasers, not a document."""
    by_rank: dict[int, list[Element]] = {}
    for element in body.iter_elements(_LANDMARK_TAGS):
        for rank in _landmarks_of(element):
            by_rank.setdefault(rank, []).append(element)
    return [found[0] for _, found in sorted(by_rank.items()) if len(found) == 1]


def _landmarks_of(element: Element) -> tuple[int, ...]:
    classes = element.attr("class") or ""
    name, role = element.attr("id") or "", element.attr("role") or ""
    if len(classes) + len(name) + len(role) > MAX_CLASSES:
        return ()
    return _ranks(element.tag, classes, name, role)


@lru_cache(maxsize=4096)
def _ranks(tag: str, classes: str, name: str, role: str) -> tuple[int, ...]:
    """Remembered, because the pages of a site share their landmarks."""
    names = set(classes.split())
    if "contents" in names and names & {"topic", "local"}:
        return ()
    keys = (tag, f"#{name}", f"@{role}", *(f".{each}" for each in names))
    return tuple(_RANK[key] for key in keys if key in _RANK)


def _weight(element: Element) -> int:
    return len(element.text)


def _unlinked_weight(element: Element) -> int:
    linked = sum(len(link.text) for link in element.iter_elements("a"))
    return max(0, len(element.text) - linked)

"""The signs by which a page calls itself an article."""

import re
from enum import IntEnum
from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, is_on_page, select_each

CODE_TAGS: Final = ("pre", "code", "kbd", "samp", "tt", "var", "math")
_LINKED_DATA: Final = "script[type='application/ld+json']"
_ARTICLE_TYPE: Final = re.compile(
    r'"@type"\s*:\s*(?:\[\s*)?"(?:News|Reportage(?:News)?|Opinion(?:News)?|Report|Social)?(?:Article|BlogPosting)"'
)
_MARKS: Final = (
    "meta[property='og:type'][content='article']",
    "meta[property^='article:']",
    "meta[name='publishdate']",
    "meta[name='pubdate']",
    "meta[name='dcterms.created']",
    "meta[itemprop='datePublished']",
    "time[itemprop='datePublished']",
    "time[pubdate]",
)


class Claim(IntEnum):
    """How plainly a page calls itself an article."""

    NONE = 0
    TAG = 1  # by an element that manuals have too
    META = 2


class Signs(NamedTuple):
    """By which a page calls itself an article, and what else is asked of a page that may be one."""

    marks: list[Element]
    articles: list[Element]
    in_linked_data: bool
    title: str
    links: int
    links_out: int  # written with a host
    paragraphs: int
    pictures: int
    links_within: int  # to a part of the page
    code: int  # elements of code and definitions


def find_signs(document: Document) -> Signs:
    title = document.find("title")
    return Signs(
        select_each(document, _MARKS),
        document.find_all("article"),
        any(map(_tells_of_article, document.select(_LINKED_DATA))),
        "" if title is None else title.text,
        len(document.select("a[href]")),
        len(document.select("a[href^='http']")),
        len(document.find_all("p")),
        len(document.find_all("img")),
        sum(len(link.attr("href") or "") > 1 for link in document.select("a[href^='#']")),
        sum(len(document.find_all(tag)) for tag in (*CODE_TAGS, "dl")),
    )


def _tells_of_article(script: Element) -> bool:
    return _ARTICLE_TYPE.search(script.text) is not None


def claim_of(signs: Signs) -> Claim:
    """By those that are still on the page."""
    if signs.in_linked_data or any(map(is_on_page, signs.marks)):
        return Claim.META
    return Claim.TAG if any(map(is_on_page, signs.articles)) else Claim.NONE

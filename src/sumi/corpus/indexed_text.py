"""What the search index holds of a page: the words of its title, its headings and its sections. Pure."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from sumi.corpus.sections import Section, sections
from sumi.corpus.tokens import code_share, estimate
from sumi.corpus.words import words_of

# A link keeps its text only. Its target may hold parentheses once, and a title in quotes.
_LINK: Final = re.compile(r"\]\(\s*(?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\s*\)")
_LINK_TEXT: Final = re.compile(r"\[([^\[\]]*)\](?=\()")
_SLUG: Final = re.compile(r"[^\w\- ]+")
_ENDING: Final = re.compile(r"\.(?:html?|php|aspx?|md)\Z", re.IGNORECASE)
_SEPARATORS: Final = re.compile(r"\s+(?:[|·»:–—-]|::)\s+")
_LONGEST_HEADING: Final = 300
_LEAD: Final = 300  # characters at the beginning of a page that say what it is about
_LEAD_SECTIONS: Final = 5
_ANCHOR: Final = re.compile(r'<a id="[^"<>\n]*"></a>')


class IndexedSection(NamedTuple):
    level: int
    anchor: str
    heading: str
    trail: str  # the headings above it, its own last, with " › " between them
    start: int
    length: int
    tokens: int
    code: float  # share
    body: str


class IndexedPage(NamedTuple):
    sections: list[IndexedSection]
    heads: str
    lead: str
    body: str
    tokens: int
    link_share: float  # how much of its text is links: high for lists of links


def indexed_page(text: str) -> IndexedPage:
    cut = sections(text)
    anchors = section_anchors(cut)
    rows = [_indexed(section, anchor) for section, anchor in zip(cut, anchors, strict=True)]
    return IndexedPage(
        rows,
        "\n".join(dict.fromkeys(row.heading for row in rows if row.heading)),
        _lead(rows),
        "\n".join(row.body for row in rows),
        sum(row.tokens for row in rows),
        _link_share(text),
    )


def _indexed(section: Section, anchor: str) -> IndexedSection:
    trail = " › ".join(section.trail)[:_LONGEST_HEADING]
    return IndexedSection(
        section.level,
        anchor,
        section.heading[:_LONGEST_HEADING],
        trail,
        section.start,
        section.length,
        estimate(section.text),
        round(code_share(section.text), 2),
        without_targets(section.text),
    )


def without_targets(markdown: str) -> str:
    return _LINK.sub("]", markdown)


def _lead(rows: list[IndexedSection]) -> str:
    """The first sentences: neither code nor what is before every text of a site."""
    kept: list[str] = []
    size, in_code = 0, False
    for line in "\n".join(row.body for row in rows[:_LEAD_SECTIONS]).splitlines():
        words = _ANCHOR.sub("", line).strip().lstrip("> ")
        if words.startswith("```"):
            in_code = not in_code
        elif words and not in_code and not words.startswith(("#", "|", "---", "**Source")):
            kept.append(words)
            size += len(words)
            if size >= _LEAD:
                break
    return "\n".join(kept)[:_LEAD]


def _link_share(text: str) -> float:
    linked = sum(len(found[1]) for found in _LINK_TEXT.finditer(text))
    shown = len(without_targets(text))
    return round(min(1.0, linked / shown), 2) if shown else 0.0


def section_anchors(cut: list[Section]) -> list[str]:
    """As common generators name headings; a further one of the same name gets a number. Parts of one section
    share its anchor."""
    seen: Counter[str] = Counter()
    anchors: list[str] = []
    for section in cut:
        if section.part:
            anchors.append(anchors[-1])
            continue
        slug = slug_of(section.heading) if section.level else ""
        anchors.append(f"{slug}-{seen[slug]}" if slug and seen[slug] else slug)
        seen[slug] += 1
    return anchors


def slug_of(heading: str) -> str:
    return _SLUG.sub("", heading.lower()).strip().replace(" ", "-")[:_LONGEST_HEADING]


def path_words(url: str) -> list[str]:
    """Of the path of a URL, without the ending of a file and without "index"."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return []
    return [word for word in words_of(_ENDING.sub("", path)) if word != "index"]


def shared_ending(titles: Iterable[str]) -> str:
    """What most titles of a site end with, such as the site's name."""
    endings: Counter[str] = Counter()
    total = 0
    for title in titles:
        total += 1
        cuts = list(_SEPARATORS.finditer(title))
        if cuts and cuts[-1].start():
            endings[title[cuts[-1].start() :]] += 1
    if total < 4 or not endings:
        return ""
    ending, number = min(endings.items(), key=lambda item: (-item[1], item[0]))
    return ending if number > total / 2 else ""

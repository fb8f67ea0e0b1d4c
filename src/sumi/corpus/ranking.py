"""How well pages answer a question: a pure function of counts, tested without a database.

Scores mean the same for every index, so that several can be searched as one.
See docs/concepts/ranking.md.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise
from operator import mul
from typing import Final, NamedTuple, TypeAlias

FIELDS: Final = ("title", "heads", "lead", "body")
_NEWS: Final = re.compile(
    r"(?:^|[\W_])(?:release(?:s|log)?|changes|change ?log|what'?s ?new|(?:old)?news|chronology|history of)"
    r"(?:[\W_\d]|$)",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A word of the question as its first form, the other forms that occur, and words that mean the same:
    each quoted for FTS5."""

    text: str
    forms: tuple[str, ...]
    pages: int  # that have it
    worth: tuple[float, ...] = (1.0,)  # of each form
    related: tuple[str, ...] = ()


# How often each word of the question is in each field.
Counts: TypeAlias = tuple[tuple[float, ...], ...]


class Hit(NamedTuple):
    row: int
    sizes: tuple[int, ...]  # words in each field
    counts: Counts
    related: Counts  # of words that mean the same
    places: tuple[tuple[int, ...], ...]  # of each word in the text


class Hits(NamedTuple):
    words: list[Word]
    pages: int
    sections: list[Hit]
    found: list[Hit]  # pages
    section_averages: tuple[float, ...]
    page_averages: tuple[float, ...]


class PageFacts(NamedTuple):
    """What ranking needs of a page beside the counts."""

    title: str
    path: str
    link_share: float


class Weights(NamedTuple):
    """Chosen on benchmarks/search/tuned.txt by ``python -m benchmarks.search --choose``."""

    section_fields: tuple[float, float, float, float] = (2.0, 2.0, 0.0, 1.0)
    page_fields: tuple[float, float, float, float] = (3.0, 1.5, 2.0, 1.0)
    saturation: float = 1.2
    length: float = 0.5  # how much long texts are discounted
    related: float = 0.7  # of a word that means the same
    section_covered: float = 0.3
    section_named: float = 0.6  # words in title, address and headings
    best: float = 1.0
    next_three: float = 0.15
    page: float = 1.0
    covered: float = 0.2
    near: float = 0.65
    about: float = 0.7  # words in title, address and beginning
    about_covered: float = 0.6
    title: float = 1.2  # how much of the title the question has
    links: float = 0.3  # off for pages that are lists of links
    news: float = 0.7  # off for notes on releases


CHOSEN: Final = Weights()
_TITLE: Final = (True, False, False, False)
_NAMES: Final = (True, True, False, False)
_ABOUT: Final = (True, False, True, False)


class RankedSection(NamedTuple):
    row: int
    score: float


class RankedPage(NamedTuple):
    page: int
    score: float
    sections: tuple[RankedSection, ...]


class _Section(NamedTuple):
    row: int
    score: float
    places: tuple[tuple[int, ...], ...]


def rank(
    hits: Hits, page_of: Mapping[int, int], facts: Mapping[int, PageFacts], weights: Weights = CHOSEN
) -> list[RankedPage]:
    """The best first. ``page_of``: the page of each section."""
    worth = [_rarity(word, hits.pages) for word in hits.words]
    total = sum(worth) or 1.0
    share = [one / total for one in worth]
    sections: dict[int, list[_Section]] = {}
    for hit in hits.sections:
        score = _field_score(hit, share, weights.section_fields, hits.section_averages, weights)
        score += weights.section_covered * _covered(hit, share, weights)
        score += weights.section_named * _covered(hit, share, weights, _NAMES)
        sections.setdefault(page_of[hit.row], []).append(_Section(hit.row, score, hit.places))
    pages = {hit.row: hit for hit in hits.found}
    ranked = []
    for page in sections.keys() | pages.keys():
        best = sorted(sections.get(page, ()), key=lambda section: (-section.score, section.row))
        score = sum(
            worth * value
            for worth, value in features(best, pages.get(page), facts[page], share, hits, weights)
        )
        ranked.append(
            RankedPage(page, score, tuple(RankedSection(each.row, each.score) for each in best[:3]))
        )
    return sorted(ranked, key=lambda page: (-page.score, page.page))


def features(
    best: Sequence[_Section],
    hit: Hit | None,
    facts: PageFacts,
    share: Sequence[float],
    hits: Hits,
    weights: Weights,
) -> list[tuple[float, float]]:
    """Of a page: each weight with what it is multiplied by."""
    found = [
        (-weights.links, max(0.0, facts.link_share - 0.3)),
        (-weights.news, float(bool(_NEWS.search(f"{facts.title} {facts.path}")))),
    ]
    if best:
        found += [
            (weights.best, best[0].score),
            (weights.next_three, sum(section.score for section in best[1:4])),
            (weights.near, closeness(best[0].places)),
        ]
    if hit is not None:
        averages = hits.page_averages
        found += [
            (weights.page, _field_score(hit, share, weights.page_fields, averages, weights)),
            (weights.covered, _covered(hit, share, weights)),
            (weights.about, _field_score(hit, share, _ABOUT, averages, weights)),
            (weights.about_covered, _covered(hit, share, weights, _ABOUT)),
            (weights.title, _title_covered(hit, weights)),
        ]
    return found


def _field_score(
    hit: Hit, share: Sequence[float], fields: Sequence[float], averages: Sequence[float], weights: Weights
) -> float:
    """BM25 over fields: what a word counts in each is added up before it is saturated."""
    scale = [
        field / (1 - weights.length + weights.length * size / average)
        for field, size, average in zip(fields, hit.sizes, averages, strict=True)
    ]
    return sum(
        part * max(_saturated(own, scale, weights), weights.related * _saturated(other, scale, weights))
        for part, own, other in zip(share, hit.counts, hit.related, strict=True)
    )


def _saturated(counts: Sequence[float], scale: Sequence[float], weights: Weights) -> float:
    if not any(counts):
        return 0.0
    often: float = sum(map(mul, counts, scale))
    return often / (often + weights.saturation)


def _covered(
    hit: Hit, share: Sequence[float], weights: Weights, fields: Sequence[bool] = (True,) * len(FIELDS)
) -> float:
    """What share of the question is there at all."""
    return sum(part * there for part, there in zip(share, _there(hit, weights, fields), strict=True))


def _title_covered(hit: Hit, weights: Weights) -> float:
    return min(1.0, sum(_there(hit, weights, _TITLE)) / max(1, hit.sizes[0]))


def _there(hit: Hit, weights: Weights, fields: Sequence[bool]) -> list[float]:
    return [
        1.0 if any(compress(own, fields)) else weights.related if any(compress(other, fields)) else 0.0
        for own, other in zip(hit.counts, hit.related, strict=True)
    ]


def _rarity(word: Word, pages: int) -> float:
    """The root of what BM25 takes: the rarest word of a question in everyday words is often not the manual's
    own, and would outweigh all that are."""
    return math.sqrt(math.log(1 + (pages - word.pages + 0.5) / (word.pages + 0.5)))


def closeness(places: Sequence[Sequence[int]]) -> float:
    """0 to 1: how near the words of a question are to the words that follow them there."""
    if len(places) < 2:
        return 0.0
    near = 0.0
    for first, second in pairwise(places):
        gap = _gap(sorted(first), sorted(second))
        if gap:
            near += 1.0 / gap
    return min(1.0, near / (len(places) - 1))


def _gap(first: Sequence[int], second: Sequence[int]) -> int:
    """The least distance between two places; 0 if there is none."""
    best, at = 0, 0
    for place in first:
        while at + 1 < len(second) and second[at + 1] <= place:
            at += 1
        for other in second[at : at + 2]:
            gap = abs(other - place)
            if gap and (not best or gap < best):
                best = gap
    return best

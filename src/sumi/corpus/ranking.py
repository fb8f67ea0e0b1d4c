"""How well pages answer a question: a pure function of counts, tested without a database.

Every score lies between 0 and 1 and means the same for every index, so that several can be searched as one.
See docs/concepts/ranking.md.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sumi.corpus.words import stem, words_of

FIELDS: Final = ("title", "heads", "lead", "body")
_NEWS: Final = re.compile(
    r"(?:^|[\W_])(?:release(?:s|log)?|changes|change ?log|what'?s ?new|(?:old)?news|chronology|history of)"
    r"(?:[\W_\d]|$)",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A word of the question as its first form, and the other forms that occur; each quoted for FTS5."""

    text: str
    forms: tuple[str, ...]
    pages: int  # that have it
    worth: tuple[float, ...] = (1.0,)  # of each form


class Hit(NamedTuple):
    row: int
    sizes: tuple[int, ...]  # words in each field
    counts: tuple[tuple[float, ...], ...]  # of each word of the question, in each field
    near: float  # how close together the words are in the text


class Hits(NamedTuple):
    words: list[Word]
    pages: int
    sections: list[Hit]
    found: list[Hit]  # pages
    section_averages: tuple[float, ...]
    page_averages: tuple[float, ...]


class PageFacts(NamedTuple):
    """What ranking needs of a page and its sections beside the counts."""

    title: str
    path: str
    link_share: float


class Weights(NamedTuple):
    """Chosen on benchmarks/search/tuned.txt by ``python -m benchmarks.search --choose``."""

    section_fields: tuple[float, float, float, float] = (2.0, 2.0, 1.0, 1.0)
    page_fields: tuple[float, float, float, float] = (3.0, 1.5, 2.0, 1.0)
    saturation: float = 1.2
    length: float = 0.5  # how much long texts are discounted
    best: float = 1.0
    next_three: float = 0.1
    page: float = 1.0
    names: float = 0.6  # words in title, headings and address
    title: float = 0.3  # words in title and address
    near: float = 0.2
    covered: float = 0.3
    links: float = 0.3  # off for pages that are lists of links
    news: float = 0.3  # off for notes on releases


CHOSEN: Final = Weights()


class RankedSection(NamedTuple):
    row: int
    score: float


class RankedPage(NamedTuple):
    page: int
    score: float
    sections: tuple[RankedSection, ...]


def rank(
    hits: Hits,
    page_of: Mapping[int, int],
    facts: Mapping[int, PageFacts],
    trails: Mapping[int, str],
    weights: Weights = CHOSEN,
) -> list[RankedPage]:
    """The best first. ``page_of``: the page of each section; ``trails``: the headings above each."""
    worth = [_rarity(word, hits.pages) for word in hits.words]
    total = sum(worth) or 1.0
    share = [one / total for one in worth]
    stems = [stem(word.text) for word in hits.words]
    sections: dict[int, list[RankedSection]] = {}
    for hit in hits.sections:
        score = _section_score(hit, share, hits.section_averages, weights)
        names = stems_of(f"{trails[hit.row]}")
        page = page_of[hit.row]
        names |= _named(facts[page])
        score += weights.names * sum(s for s, each in zip(share, stems, strict=True) if each in names)
        sections.setdefault(page, []).append(RankedSection(hit.row, score))
    pages = {hit.row: hit for hit in hits.found}
    ranked = [
        _ranked(page, sections.get(page, []), pages.get(page), facts[page], share, stems, hits, weights)
        for page in sections.keys() | pages.keys()
    ]
    return sorted(ranked, key=lambda page: (-page.score, page.page))


def _ranked(
    page: int,
    found: list[RankedSection],
    hit: Hit | None,
    facts: PageFacts,
    share: Sequence[float],
    stems: Sequence[str],
    hits: Hits,
    weights: Weights,
) -> RankedPage:
    best = sorted(found, key=lambda section: (-section.score, section.row))
    score = weights.best * best[0].score if best else 0.0
    score += weights.next_three * sum(section.score for section in best[1:4])
    if hit is not None:
        score += weights.page * _field_score(hit, share, weights.page_fields, hits.page_averages, weights)
        score += weights.covered * _covered(hit, share)
    named = _named(facts)
    score += weights.title * sum(s for s, each in zip(share, stems, strict=True) if each in named)
    score *= 1 - weights.links * max(0.0, facts.link_share - 0.3)
    if _NEWS.search(f"{facts.title} {facts.path}"):
        score *= 1 - weights.news
    return RankedPage(page, score, tuple(best[:3]))


def _section_score(hit: Hit, share: Sequence[float], averages: Sequence[float], weights: Weights) -> float:
    score = _field_score(hit, share, weights.section_fields, averages, weights)
    return score + weights.near * hit.near + weights.covered * _covered(hit, share)


def _field_score(
    hit: Hit, share: Sequence[float], fields: Sequence[float], averages: Sequence[float], weights: Weights
) -> float:
    """BM25 over fields: what a word counts in each is added up before it is saturated."""
    scale = [
        field / (1 - weights.length + weights.length * size / average)
        for field, size, average in zip(fields, hit.sizes, averages, strict=True)
    ]
    score = 0.0
    for part, counts in zip(share, hit.counts, strict=True):
        often = sum(count * factor for count, factor in zip(counts, scale, strict=True) if count)
        score += part * often / (often + weights.saturation)
    return score


def _covered(hit: Hit, share: Sequence[float]) -> float:
    return sum(part for part, counts in zip(share, hit.counts, strict=True) if any(counts))


def _rarity(word: Word, pages: int) -> float:
    return math.log(1 + (pages - word.pages + 0.5) / (word.pages + 0.5))


def _named(facts: PageFacts) -> set[str]:
    return stems_of(f"{facts.title} {facts.path}")


def stems_of(text: str) -> set[str]:
    return {stem(word) for word in words_of(text)}


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

"""What a user asks, taken apart: words to find, phrases, words to leave out, a site. Pure.

Nothing of the user's text reaches MATCH but inside quotes.
"""

import re
from itertools import pairwise
from typing import Final, NamedTuple

from sumi.corpus.words import STOP_WORDS, words_of
from sumi.errors import UsageError

MOST_CHARACTERS: Final = 2000
MOST_TERMS: Final = 24
_PART: Final = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')


class Term(NamedTuple):
    """Words that must follow one another; usually one."""

    words: tuple[str, ...]

    @property
    def quoted(self) -> str:
        return '"' + " ".join(self.words) + '"'


class Query(NamedTuple):
    """``pairs``: words in a row, stop words too, as manuals may write them as one: "back up"."""

    terms: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()
    sites: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def parse_query(text: str) -> Query:
    """UsageError if nothing is left to look for."""
    terms: dict[Term, None] = {}
    stops: dict[Term, None] = {}
    excluded: list[Term] = []
    sites: list[str] = []
    plain: list[str] = []
    for minus, phrase, word in _PART.findall(text[:MOST_CHARACTERS]):
        if word.lower().startswith("site:") and len(word) > len("site:") and not minus:
            sites.append(word[len("site:") :].lower())
            continue
        term = Term(tuple(words_of(phrase or word)))
        if not term.words:
            continue
        if not minus and not phrase:
            plain += term.words
        if minus:
            excluded.append(term)
        elif not phrase and len(term.words) == 1 and term.words[0] in STOP_WORDS:
            stops[term] = None
        else:
            terms[term] = None
    if not terms:
        raise UsageError(_nothing_left(text, bool(stops)))
    pairs = tuple(dict.fromkeys(pairwise(plain)))[: 2 * MOST_TERMS]
    return Query(tuple(terms)[:MOST_TERMS], tuple(excluded)[:MOST_TERMS], tuple(sites)[:MOST_TERMS], pairs)


def _nothing_left(text: str, only_stops: bool) -> str:
    if only_stops:
        return (
            f"every word of {text[:80]!r} is on nearly every page: add what it is about, or put the words in "
            "double quotes to look for them as they are"
        )
    return "there is nothing to look for: give words, such as: sumi search cancel a task"

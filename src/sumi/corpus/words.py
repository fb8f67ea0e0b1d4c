"""Words of questions and of headings: which say nothing, and which are forms of one another. Pure.

English only, and only inflection: of other languages every word is its own stem, which costs nothing but the
other forms.
"""

import re
from functools import lru_cache
from typing import Final

WORD: Final = re.compile(r"[^\W_]+")
_STOPS: Final = """
a about after all also an and any are as at be because been before being but by can cannot could did do does
doing don down each else every few for from get gets getting got had has have having he her here him his how
i if in into is isn it its itself just let like ll many may me might more most much must my myself need
needs no nor not now of off on once one only or other our out over own please re s same shall she should so
some such t than that the their them then there these they this those through to too under until up us use
used using very want wants was we were what when where whether which while who why will with within without
would you your yours
"""
STOP_WORDS: Final = frozenset(_STOPS.split())
_VOWEL: Final = re.compile(r"[aeiouy]")
_DOUBLE: Final = re.compile(r"([bdfgmnprt])\1\Z")
_ENDINGS: Final = ("ational", "ations", "ation", "ings", "ing", "edly", "ed", "ers", "er", "ions", "ion")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The part that the forms of a word share, such as "stor" of store, stores, stored and storing."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    base = _singular(word)
    for ending in _ENDINGS:
        rest = base.removesuffix(ending)
        if rest != base and len(rest) >= 3 and _VOWEL.search(rest):
            base = _DOUBLE.sub(r"\1", rest)
            break
    return base[:-1] if len(base) > 3 and base[-1] in "ey" else base


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word

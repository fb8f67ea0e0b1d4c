"""The questions: everyday words, and the pages that answer them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

HERE = Path(__file__).parent
# A question and a site ("" for all) to the pages found, as (site, path), best first.
Engine: TypeAlias = "Callable[[str, str], list[tuple[str, str]]]"


class Question(NamedTuple):
    site: str
    text: str
    answers: frozenset[str]
    elsewhere: frozenset[tuple[str, str]] = frozenset()  # pages of other manuals that answer it, too


class Score(NamedTuple):
    mrr: float
    first: float  # share of questions whose first result is right


def questions(name: str) -> list[Question]:
    """``tuned``: weights are chosen on them; on the others never."""
    elsewhere = {
        text: frozenset((site, path) for site, _, path in (each.partition(":") for each in pages.split()))
        for text, pages in _lines("elsewhere")
    }
    return [
        Question(
            site, text, frozenset(re.findall(r"(?<!\S)[^\s#]+", answers)), elsewhere.get(text, frozenset())
        )
        for site, text, answers in _lines(name)
    ]


def _lines(name: str) -> list[list[str]]:
    lines = (HERE / f"{name}.txt").read_text().splitlines()
    return [line.split(" | ") for line in lines if line and not line.startswith("#")]


def place(question: Question, found: Sequence[tuple[str, str]], *, elsewhere: bool = False) -> int:
    """From 1; 0 if none of the first ten is right."""
    right = {(question.site, path) for path in question.answers}
    right |= question.elsewhere if elsewhere else set()
    return next((at for at, page in enumerate(found[:10], 1) if page in right), 0)


def score(
    asked: Sequence[Question], found: Sequence[list[tuple[str, str]]], *, elsewhere: bool = False
) -> Score:
    places = [place(each, pages, elsewhere=elsewhere) for each, pages in zip(asked, found, strict=True)]
    return Score(sum(1 / at for at in places if at) / len(places), places.count(1) / len(places))

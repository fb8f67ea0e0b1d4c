"""The questions: everyday words, and the pages that answer them."""

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


class Score(NamedTuple):
    mrr: float
    first: float  # share of questions whose first result is right


def questions(name: str) -> list[Question]:
    """``tuned``: weights are chosen on them; ``unseen``: never."""
    lines = (HERE / f"{name}.txt").read_text().splitlines()
    parts = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return [Question(site, text, frozenset(answers.split())) for site, text, answers in parts]


def place(question: Question, found: Sequence[tuple[str, str]]) -> int:
    """From 1; 0 if none of the first ten is right."""
    for at, (site, path) in enumerate(found[:10], 1):
        if site == question.site and path in question.answers:
            return at
    return 0


def score(asked: Sequence[Question], engine: Engine, *, site_known: bool) -> Score:
    places = [place(each, engine(each.text, each.site if site_known else "")) for each in asked]
    return Score(sum(1 / at for at in places if at) / len(places), places.count(1) / len(places))

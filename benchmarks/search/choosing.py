"""Other weights, tried on the tuned questions only: one after another is changed, and kept if that helps."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.search.engines import where
from benchmarks.search.questions import Question, place
from sumi.corpus.index_store import SearchIndex
from sumi.corpus.library import Library
from sumi.corpus.query import parse_query
from sumi.corpus.ranking import CHOSEN, Weights, rank
from sumi.corpus.searching import Candidates, candidates_of

_STEPS = (0.6, 0.8, 1.25, 1.6)


class _Asked:
    """A question with its candidates, which do not depend on the weights."""

    def __init__(self, library: Library, question: Question, site: str) -> None:
        self._question = question
        (self._store,) = library.stores
        query = parse_query(question.text)
        chosen = library.chosen_sites([site] if site else [])
        sites = None if chosen is None else chosen[0]
        self._found: Candidates = candidates_of(self._store, query, sites, "any")

    def worth(self, weights: Weights) -> float:
        ranked = rank(*self._found, weights=weights)[:10]
        at = place(self._question, [where(_url(self._store, each.page)) for each in ranked])
        return 1 / at if at else 0.0


def _url(store: SearchIndex, page: int) -> str:
    return str(store.rows("SELECT url FROM page WHERE id = ?", (page,))[0][0])


def choose(library: Library, asked: Sequence[Question]) -> None:
    from benchmarks.search.manuals import host

    prepared = [_Asked(library, question, site) for question in asked for site in (host(question.site), "")]

    def mrr(weights: Weights) -> float:
        return sum(each.worth(weights) for each in prepared) / len(prepared)

    best, worth = CHOSEN, mrr(CHOSEN)
    print(f"now {worth:.4f}")
    improved = True
    while improved:
        improved = False
        for name in Weights._fields:
            for other in _others(best, name):
                found = mrr(other)
                if found > worth + 0.0005:
                    best, worth, improved = other, found, True
                    print(f"{found:.4f}  {name} = {getattr(other, name)}", flush=True)
    print(best)


def _others(weights: Weights, name: str) -> list[Weights]:
    value = getattr(weights, name)
    replaced: Callable[[Any], Weights] = lambda new: weights._replace(**{name: new})  # noqa: E731
    if not isinstance(value, tuple):
        return [replaced(round(value * step, 4)) for step in _STEPS]
    return [
        replaced((*value[:at], round(part * step, 4), *value[at + 1 :]))
        for at, part in enumerate(value)
        for step in _STEPS
    ]

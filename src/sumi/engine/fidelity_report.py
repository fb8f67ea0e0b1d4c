"""How much of its pages a job's Markdown holds: the distribution and the worst, told from the ledger."""

from array import array
from heapq import nsmallest
from typing import NamedTuple

from sumi.ports import UrlRecord

# A summary is read by people.
_MOST_NAMED = 10
_MOST_SHORTFALLS = 3
# Below this something is missing that a reader would miss; pages above are named only if the bar is higher.
GOOD = 0.9
_LOW_SHARE = 20  # one in so many pages is worse than the low mark of the distribution


class _Page(NamedTuple):
    score: float
    url: str
    shortfalls: tuple[str, ...]


class FidelityScores:
    def __init__(self, bar: float) -> None:
        self._bar = bar
        self._scores = array("d")
        self._worst: list[_Page] = []

    def take(self, record: UrlRecord) -> None:
        score = record.facts.fidelity
        if score is None:
            return
        self._scores.append(score)
        if score < max(self._bar, GOOD):
            restless = filter(None, (record.facts.render_note,))
            page = _Page(score, record.url, (*restless, *record.facts.shortfalls))
            self._worst = nsmallest(_MOST_NAMED, [*self._worst, page])

    @property
    def below(self) -> int:
        """Pages below the bar."""
        return sum(score < self._bar for score in self._scores)

    def notes(self) -> tuple[str, ...]:
        if not self._scores:
            return ()
        return (_distribution(self._scores, self.below, self._bar), *map(_named, self._worst))


def _distribution(scores: "array[float]", below: int, bar: float) -> str:
    ordered = sorted(scores)
    median, low = ordered[len(ordered) // 2], ordered[len(ordered) // _LOW_SHARE]
    poor = sum(score < GOOD for score in ordered)
    words = (
        f"fidelity: median {median:.3f}, one page in {_LOW_SHARE} at most {low:.3f}, {poor:,} below {GOOD:g}"
    )
    return f"{words}, {below:,} below the bar of {bar:g}" if bar else words


def _named(page: _Page) -> str:
    return f"fidelity {page.score:.3f}: {page.url} ({'; '.join(page.shortfalls[:_MOST_SHORTFALLS])})"

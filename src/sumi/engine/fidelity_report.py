"""How much of its pages a job's Markdown holds: the distribution and the worst, told from the ledger."""

from array import array
from heapq import nsmallest
from typing import NamedTuple

from sumi.outcomes import Outcome
from sumi.ports import Ledger

# A summary is read by people.
_MOST_NAMED = 10
_MOST_SHORTFALLS = 3
# Below this something is missing that a reader would miss; pages above are named only if the bar is higher.
GOOD = 0.9
_LOW_SHARE = 20  # one in so many pages is worse than the low mark of the distribution


class FidelityReport(NamedTuple):
    notes: tuple[str, ...]
    below: int  # pages below the bar


class _Page(NamedTuple):
    score: float
    url: str
    shortfalls: tuple[str, ...]


async def report_fidelity(ledger: Ledger, bar: float) -> FidelityReport:
    scores = array("d")
    worst: list[_Page] = []
    async for record in ledger.records((Outcome.CAPTURED, Outcome.UNCHANGED)):
        score = record.facts.fidelity
        if score is None:
            continue
        scores.append(score)
        if score < max(bar, GOOD):
            worst = nsmallest(_MOST_NAMED, [*worst, _Page(score, record.url, record.facts.shortfalls)])
    if not scores:
        return FidelityReport((), 0)
    below = sum(score < bar for score in scores)
    return FidelityReport((_distribution(scores, below, bar), *map(_named, worst)), below)


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

"""How much of a page arrived in its Markdown: one number between 0 and 1, and what fell short by name.

Both sides are counted after everything that is not content was taken off the page, and the Markdown after a
CommonMark parser has read it again. So a table that came out as text is a table lost.
"""

from collections import Counter
from collections.abc import Iterator
from math import sqrt
from typing import Final, NamedTuple

from sumi.parse.html import Element
from sumi.parse.markdown.inventory import (
    Grids,
    Holdings,
    code_as_seen,
    holdings_of_markdown,
    letters_of,
    same_letters,
    words_of_markdown,
    words_of_tree,
)

# A usual page has 30 KB of Markdown. Longer than this, counting would cost what a hundred pages do.
LONGEST: Final = 3_000_000
_DECIMALS: Final = 4


class Fidelity(NamedTuple):
    score: float
    shortfalls: list[str]  # "tables: 0 of 1"


class _Share(NamedTuple):
    """Of one kind of thing, how many of those wanted are there."""

    what: str
    wanted: int
    kept: int

    @property
    def value(self) -> float:
        """One more on either side, so that the loss of the only one of a kind is grave, and not all."""
        return (min(self.kept, self.wanted) + 1) / (self.wanted + 1)

    def __str__(self) -> str:
        return f"{self.what}: {self.kept:,} of {self.wanted:,}"


class _Wording(NamedTuple):
    words: Counter[str]
    letters: int


class Expected(NamedTuple):
    """What the Markdown of a page is measured against."""

    holdings: Holdings
    source: Element | _Wording  # the tree as it was converted; only looked at where the texts differ
    beside: int  # words of prose that are on the page, but not in what was chosen as its content

    def without_tree(self) -> "Expected":
        """With its words counted, needed or not, so that nobody has to keep the tree."""
        return self._replace(source=self.wording())

    def wording(self) -> _Wording:
        if isinstance(self.source, _Wording):
            return self.source
        return _Wording(words_of_tree(self.source), len(letters_of(self.source.text)))


def judge(expected: Expected, markdown: str) -> Fidelity | None:
    """None for a page too long to be judged."""
    if len(markdown) > LONGEST:
        return None
    wanted, kept = expected.holdings, holdings_of_markdown(markdown)
    lost, total = _lost_words(expected, markdown, kept.text)
    text, words = _text_share(lost, total, expected.beside)
    score = text
    shortfalls = words
    for share in _weighty(wanted, kept):
        if share.kept < share.wanted:
            score *= share.value
            shortfalls.append(str(share))
    for share in _lighter(wanted, kept):
        if share.kept < share.wanted:
            score *= sqrt(share.value)
            shortfalls.append(str(share))
    return Fidelity(round(score, _DECIMALS), shortfalls)


def _weighty(wanted: Holdings, kept: Holdings) -> Iterator[_Share]:
    """Of what is not just the same on both sides, as nearly everything is on nearly every page."""
    if not dict.__eq__(wanted.code, kept.code):  # a counter compares ten times as slowly
        yield _code(wanted, kept)
    if wanted.grids != kept.grids:
        yield _grids(wanted.grids, kept.grids)


def _lighter(wanted: Holdings, kept: Holdings) -> Iterator[_Share]:
    if wanted.headings != kept.headings:
        yield _Share("headings", sum(wanted.headings), _common(wanted.headings, kept.headings))
    if wanted.languages != kept.languages:
        yield _Share("code languages", wanted.languages, kept.languages)
    if wanted.items != kept.items:
        yield _Share("list items", wanted.items, kept.items)
    if wanted.links != kept.links:
        yield _Share("links", wanted.links, kept.links)


def _code(wanted: Holdings, kept: Holdings) -> _Share:
    """Blocks of which every character that is seen is there: nearly right code is wrong."""
    same = (wanted.code & kept.code).total()
    alike = _as_seen(wanted.code - kept.code) & _as_seen(kept.code - wanted.code)
    return _Share("code blocks", wanted.code.total(), same + alike.total())


def _as_seen(code: Counter[str]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for text, times in code.items():
        seen[code_as_seen(text)] += times
    return seen


def _grids(wanted: Grids, kept: Grids) -> _Share:
    """The largest of what is missing: tables, or else rows, or else cells."""
    shares = (
        _Share("tables", wanted.tables, kept.tables),
        _Share("table rows", wanted.rows, kept.rows),
        _Share("table cells", wanted.cells, kept.cells),
    )
    return next((share for share in shares if share.kept < share.wanted), shares[0])


def _common(wanted: tuple[int, ...], kept: tuple[int, ...]) -> int:
    return sum(map(min, wanted, kept))


def _text_share(lost: int, wanted: int, beside: int) -> tuple[float, list[str]]:
    share = (wanted - lost) / (wanted + beside) if lost or beside else 1.0
    shortfalls = []
    if lost:
        shortfalls.append(f"words: {wanted - lost:,} of {wanted:,}")
    if beside:
        shortfalls.append(f"words beside the chosen content: {beside:,}")
    return share, shortfalls


def _lost_words(expected: Expected, markdown: str, text: str) -> tuple[int, int]:
    """And of how many. Counting words is ten times what comparing letters costs, and seldom needed."""
    before = expected.holdings.text
    same = same_letters(before, text)
    if same and not expected.beside:
        return 0, 0
    wanted, there = expected.wording()
    if same:
        return 0, wanted.total()
    lost = _missing(wanted, words_of_markdown(markdown))
    # What was lost on the way to the tree that was converted is known in letters only.
    letters = len(letters_of(before))
    unconverted = round(wanted.total() * max(0, letters - there) / max(1, there))
    return lost + unconverted, wanted.total() + unconverted


def _missing(wanted: Counter[str], kept: Counter[str]) -> int:
    return (wanted - kept).total()

"""Which lines of a text changed, and whether a change is more than another number or date.

Anchored at lines that both texts have exactly once, so that a page of a million lines takes seconds at most,
whatever a site puts into it; what lies between two anchors is compared in full if it is small, and counts as
replaced otherwise.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

# Lines of one side times lines of the other that are compared in full: about 20 ms at worst.
FULLY_COMPARED = 40_000

_NUMBER = re.compile(r"\d+")
_DATE_WORD = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?|am|pm)\b",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """Lines ``[start:end]`` of the old text, and those of the new text in their place."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changed_spans(old: Sequence[str], new: Sequence[str]) -> list[Span]:
    """Every place where lines differ, in order; lines between two places are the same."""
    spans: list[Span] = []
    for span in _gaps(old, new):
        if spans and (spans[-1].old_end, spans[-1].new_end) == (span.old_start, span.new_start):
            span = Span(spans[-1].old_start, span.old_end, spans.pop().new_start, span.new_end)  # noqa: PLW2901
        spans.append(span)
    return spans


def count_lines(spans: Sequence[Span]) -> tuple[int, int]:
    """How many lines were added, and how many removed."""
    added = sum(span.new_end - span.new_start for span in spans)
    return added, sum(span.old_end - span.old_start for span in spans)


def is_minor(old: str, new: str) -> bool:
    """Whether only numbers and dates differ."""
    return _without_dates(old) == _without_dates(new)


def _without_dates(text: str) -> str:
    return _DATE_WORD.sub("0", _NUMBER.sub("0", text))


def _gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    whole = _trimmed(old, new, Span(0, len(old), 0, len(new)))
    at_old, at_new = whole.old_start, whole.new_start
    for old_line, new_line in [*_anchors(old, new, whole), (whole.old_end, whole.new_end)]:
        if old_line >= at_old and new_line >= at_new:
            yield from _compared(old, new, _trimmed(old, new, Span(at_old, old_line, at_new, new_line)))
            at_old, at_new = old_line, new_line


def _trimmed(old: Sequence[str], new: Sequence[str], span: Span) -> Span:
    """Without equal lines at its beginning and its end."""
    old_start, old_end, new_start, new_end = span
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return Span(old_start, old_end, new_start, new_end)


def _anchors(old: Sequence[str], new: Sequence[str], within: Span) -> list[tuple[int, int]]:
    """The longest rising sequence of lines that occur once in each text."""
    in_old = Counter(old[within.old_start : within.old_end])
    in_new = Counter(new[within.new_start : within.new_end])
    place = {line: at for at, line in enumerate(new[within.new_start : within.new_end], within.new_start)}
    pairs = [
        (at, place[line])
        for at, line in enumerate(old[within.old_start : within.old_end], within.old_start)
        if in_old[line] == 1 and in_new[line] == 1
    ]
    ends: list[int] = []  # the smallest new line at which a rising sequence of each length ends
    last: list[int] = []  # of that sequence, the number of its last pair
    before: list[int] = []
    for number, (_, new_line) in enumerate(pairs):
        length = bisect_left(ends, new_line)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [new_line]
        last[length : length + 1] = [number]
    chain, at = [], last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _compared(old: Sequence[str], new: Sequence[str], span: Span) -> Iterator[Span]:
    lines = span.old_end - span.old_start, span.new_end - span.new_start
    if not any(lines):
        return
    if not all(lines) or lines[0] * lines[1] > FULLY_COMPARED:
        yield span
        return
    matcher = SequenceMatcher(
        None, old[span.old_start : span.old_end], new[span.new_start : span.new_end], autojunk=False
    )
    for tag, *ends in matcher.get_opcodes():
        if tag != "equal":
            yield Span(
                span.old_start + ends[0],
                span.old_start + ends[1],
                span.new_start + ends[2],
                span.new_start + ends[3],
            )

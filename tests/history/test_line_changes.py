"""A change is told by its lines, and one in numbers or dates only is minor."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.history.line_changes import FULLY_COMPARED, changed_spans, count_lines, is_minor

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "one line", "another"]), max_size=40)


def applied(old: Sequence[str], new: Sequence[str]) -> list[str]:
    made, at = [], 0
    for span in changed_spans(old, new):
        made += [*old[at : span.old_start], *new[span.new_start : span.new_end]]
        at = span.old_end
    return [*made, *old[at:]]


@given(LINES, LINES)
def test_the_spans_make_the_new_text_of_the_old_one(old: list[str], new: list[str]) -> None:
    assert applied(old, new) == new


@given(LINES, LINES)
def test_spans_are_in_order_apart_and_not_empty(old: list[str], new: list[str]) -> None:
    spans = changed_spans(old, new)
    assert all(one.old_end > one.old_start or one.new_end > one.new_start for one in spans)
    for one, other in pairwise(spans):
        assert one.old_end < other.old_start or one.new_end < other.new_start


@given(LINES)
def test_nothing_differs_from_itself(lines: list[str]) -> None:
    assert changed_spans(lines, list(lines)) == []


def test_one_line_amid_many_is_found() -> None:
    old = [f"line {number}" for number in range(100_000)]
    new = [*old[:500], "inserted", *old[500:70_000], *old[70_001:]]
    assert count_lines(changed_spans(old, new)) == (1, 1)


def test_large_texts_without_a_unique_line_count_as_replaced() -> None:
    """Comparing them in full would take hours."""
    side = FULLY_COMPARED // 10
    old, new = ["a", "b"] * side, ["b", "b", "a"] * side
    assert applied(old, new) == new


@pytest.mark.parametrize(
    ("old", "new", "minor"),
    [
        ("As of 3 January 2025", "As of 14 Feb 2026", True),
        ("version 1.2.3", "version 1.2.10", True),
        ("Monday, 9:15 am", "Fri, 10:05 pm", True),
        ("retries: 3", "retries: none", False),
        ("maybe", "perhaps", False),
    ],
)
def test_minor_changes(old: str, new: str, minor: bool) -> None:
    assert is_minor(old, new) is minor

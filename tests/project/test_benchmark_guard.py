"""A hot function that has become much slower is told of, in numbers; a machine that cannot tell says why."""

import json

import pytest

from benchmarks.hot_functions import FUNCTIONS
from benchmarks.instructions import MOST, RECORDED, platform_name, slower, why_not


def test_more_than_the_bound_is_told_with_both_counts() -> None:
    [sentence] = slower({"digest": 1_500_000, "links": 1_000_000}, {"digest": 1_000_000, "links": 1_000_000})
    assert "digest takes 1,500,000" in sentence
    assert "1,000,000" in sentence
    assert "--record" in sentence


@pytest.mark.parametrize("count", [1, 1_000, int(MOST * 1_000)])
def test_noise_and_getting_faster_are_fine(count: int) -> None:
    assert slower({"digest": count}, {"digest": 1_000}) == []


def test_a_function_that_was_never_counted_is_told_of() -> None:
    assert "digest" in slower({"digest": 1}, {})[0]


def test_what_cannot_be_compared_has_a_reason() -> None:
    assert "valgrind" in why_not(None, platform_name())
    assert "Python 2.7" in why_not("/bin/valgrind", "Python 2.7 on vax")
    assert why_not("/bin/valgrind", platform_name()) == ""


def test_every_hot_function_is_recorded_and_runs() -> None:
    recorded = json.loads(RECORDED.read_text())["instructions"]
    assert recorded.keys() == FUNCTIONS.keys()
    assert all(count > 0 for count in recorded.values())
    # The store's folder and event loop live as long as its process; the guard itself runs it.
    for name in FUNCTIONS.keys() - {"lease_and_settle"}:
        FUNCTIONS[name]()()

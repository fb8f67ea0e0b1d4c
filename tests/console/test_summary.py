"""The summary of a run says how it ended, counts every outcome, and decides the exit code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.console.summary import exit_code, summary_lines, worst_of
from sumi.console.terminal import Palette
from sumi.events import Summary
from sumi.outcomes import MEANINGS, Ending, Outcome

PLAIN = Palette(colours=False)


def summary(status: str = "complete", left_out: dict[str, int] | None = None, **outcomes: int) -> Summary:
    total = sum(outcomes.values())
    return Summary("mirror", status, total, outcomes, "output", 10.0, left_out=left_out or {})


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (summary("complete", captured=3), 0),
        (summary("limited", captured=3, over_cap=2), 0),
        (summary("partial", captured=3, not_found=1), 1),
        (summary("partial", captured=3, pending=1), 1),
        (summary("interrupted", captured=3, pending=2, not_found=1), 3),
        (summary("aborted", captured=3), 4),
        (summary("something new"), 4),
    ],
)
def test_the_exit_code_says_how_it_ended(ended: Summary, code: int) -> None:
    assert exit_code(ended) == code


@given(st.sampled_from([one for one in Outcome if MEANINGS[one].ending is Ending.FAILED]))
def test_every_failure_makes_a_partial_run_exit_with_one(outcome: Outcome) -> None:
    assert exit_code(summary("partial", None, captured=1, **{outcome.value: 1})) == 1


@pytest.mark.parametrize(
    ("ended", "first"),
    [
        (summary("complete", captured=1), "complete: every page found is here"),
        (summary("interrupted", pending=1), "interrupted: run the same command again to continue"),
        (
            summary("complete", captured=1, robots_denied=1),
            "complete: every page found is here, except one page that robots.txt disallows",
        ),
        (
            summary("limited", {"over_cap": 1}, over_cap=1),
            "limited: one page left out: the page limit was reached (--max-pages)",
        ),
        (
            summary("limited", {"too_deep": 38, "links_dropped": 2}),
            (
                "limited: 38 pages left out: deeper than the limit (--max-depth); "
                "2 links left out: beyond the limit for one page (--max-links)"
            ),
        ),
        (summary("partial", pending=1), "partial: some pages are pending"),
        (summary("partial", not_found=1200), "partial: 1,200 pages failed"),
    ],
)
def test_the_status_is_put_in_words(ended: Summary, first: str) -> None:
    assert summary_lines(ended, PLAIN, 50)[0] == first


def test_the_summary_counts_by_ending_and_says_what_to_do() -> None:
    ended = summary("partial", captured=1200, redirected=34, robots_denied=5, not_found=2, timed_out=1)
    assert summary_lines(ended, PLAIN, 50) == [
        "partial: 3 pages failed",
        "",
        "  done                    1,234",
        "    captured              1,200",
        "    redirected               34",
        "  passed over                 5",
        "    robots_denied             5",
        "  failed                      3",
        "    not_found                 2  404 or 410: the page does not exist. A dead link of the site.",
        "    timed_out                 1  Exceeded a time limit. Try later.",
        "",
        "  discovered  1,242",
        "  output      output",
        "  time        10s, 5.0 pages/s",
    ]


@pytest.mark.parametrize(
    ("codes", "worst"), [((0, 1, 0), 1), ((1, 3), 3), ((3, 2, 1), 2), ((0, 4, 2), 4), ((0, 0), 0), ((), 0)]
)
def test_several_runs_exit_as_the_worst_of_them(codes: tuple[int, ...], worst: int) -> None:
    assert worst_of(codes) == worst

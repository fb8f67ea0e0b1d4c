"""Every outcome has a meaning, and the sets that code decides by follow from the table."""

from sumi.outcomes import (
    ASKED_AGAIN,
    BY_ENDING,
    BY_RULE,
    CAME,
    KEPT,
    MEANINGS,
    TRANSIENT,
    UNREACHABLE,
    UP_TO_DATE,
    Ending,
    Outcome,
)


def test_every_outcome_has_one_meaning_and_one_ending() -> None:
    assert set(MEANINGS) == set(Outcome)
    assert sum(map(len, BY_ENDING.values())) == len(Outcome)


def test_what_is_kept_is_a_page_and_only_a_stale_one_is_a_failure() -> None:
    assert {Outcome.CAPTURED, Outcome.UNCHANGED, Outcome.STALE} == KEPT
    assert KEPT & BY_ENDING[Ending.FAILED] == {Outcome.STALE}
    assert UP_TO_DATE < KEPT < CAME


def test_properties_fit_the_ending() -> None:
    assert BY_ENDING[Ending.FAILED] >= TRANSIENT | UNREACHABLE
    assert BY_ENDING[Ending.PASSED_OVER] >= BY_RULE
    assert Outcome.PENDING not in ASKED_AGAIN | TRANSIENT
    # What may pass by itself is tried by the next run anyhow: an update need not ask for it.
    assert not ASKED_AGAIN & TRANSIENT

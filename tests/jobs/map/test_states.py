"""The state of a page changes only as the table of transitions allows, and every outcome has a state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import IllegalTransition
from sumi.jobs.map.store.states import (
    ANSWERED,
    REOPENED,
    TRANSITIONS,
    PageState,
    check_transition,
    state_of,
    transitions,
)
from sumi.outcomes import Outcome

# As the specification draws it, beside what it says in words: HEAD may show something else than HTML, all
# pages of a domain may be held back, a failed try is repeated.
DRAWN = {
    (PageState.DISCOVERED, PageState.BLACKLISTED),
    (PageState.DISCOVERED, PageState.STUBBED),
    (PageState.DISCOVERED, PageState.QUEUED),
    (PageState.QUEUED, PageState.DEPTH_EXCEEDED),
    (PageState.QUEUED, PageState.REQUEST_LIMIT_HIT),
    (PageState.QUEUED, PageState.FETCHING),
    (PageState.FETCHING, PageState.DEAD_LINK),
    (PageState.FETCHING, PageState.UNREACHABLE),
    (PageState.FETCHING, PageState.RATE_LIMITED),
    (PageState.FETCHING, PageState.FAILED),
    (PageState.FETCHING, PageState.PROCESSED),
}
IN_WORDS = {
    (PageState.FETCHING, PageState.CONTENT_MISMATCH),
    (PageState.FETCHING, PageState.QUEUED),
    (PageState.QUEUED, PageState.RATE_LIMITED),
}
ANEW = {(state, PageState.QUEUED) for state in REOPENED} | {(PageState.QUEUED, PageState.DISCOVERED)}

any_state = st.sampled_from(PageState)


@given(any_state, any_state)
def test_only_allowed_transitions_pass(old: PageState, new: PageState) -> None:
    if (old, new) in DRAWN | IN_WORDS | ANEW:
        check_transition(old, new)
    else:
        with pytest.raises(IllegalTransition, match=f"is {old} cannot become {new}"):
            check_transition(old, new)


def test_no_state_is_final() -> None:
    assert set(TRANSITIONS) == set(PageState)


@given(st.sampled_from(Outcome))
def test_every_outcome_is_reached_from_discovery_by_allowed_transitions(outcome: Outcome) -> None:
    target = state_of(outcome.value)
    steps = list(transitions(PageState.DISCOVERED, target))
    assert steps[-1] is target
    assert (PageState.FETCHING in steps) == (target in ANSWERED)


@given(st.sampled_from(sorted(ANSWERED)), st.sampled_from(sorted(ANSWERED)))
def test_one_ending_does_not_follow_another_without_a_fetch(old: PageState, new: PageState) -> None:
    with pytest.raises(IllegalTransition):
        list(transitions(old, new))

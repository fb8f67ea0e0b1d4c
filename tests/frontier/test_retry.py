"""Transient failures are retried a bounded number of times, later and later; other outcomes are final."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.retry import retry_delay
from sumi.outcomes import MEANINGS, TRANSIENT, Ending, Outcome
from sumi.policy import RetryPolicy

POLICY = RetryPolicy(retries=3, first_delay=1.0, max_delay=60.0)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - TRANSIENT))
def test_an_answer_is_final(outcome: Outcome) -> None:
    assert retry_delay(outcome, 0, POLICY, 0.5) is None


@given(st.sampled_from(sorted(TRANSIENT)), st.integers(0, 50), st.floats(0, 1, exclude_max=True))
def test_retries_are_bounded_in_number_and_time(outcome: Outcome, attempt: int, jitter: float) -> None:
    delay = retry_delay(outcome, attempt, POLICY, jitter)
    if attempt >= POLICY.retries:
        assert delay is None
        return
    step = 2**attempt
    assert delay is not None
    assert min(step, 60) <= delay <= min(1.5 * step, 60)


def test_only_failures_can_be_transient() -> None:
    assert all(MEANINGS[outcome].ending is Ending.FAILED for outcome in TRANSIENT)


def test_the_last_retry_is_the_one_that_was_allowed() -> None:
    tries = [retry_delay(Outcome.SERVER_ERROR, attempt, POLICY, 0.0) for attempt in range(5)]
    assert tries == [1.0, 2.0, 4.0, None, None]

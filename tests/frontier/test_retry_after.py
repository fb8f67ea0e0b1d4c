"""Retry-After is read by the standard: whole seconds or one of three date forms, and nothing else."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.retry import retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        (" 7\t", 7.0),
        ("000030", 30.0),
        ("86400", 86400.0),
        ("9" * 12, 999_999_999_999.0),
        ("9" * 5000, 1e12),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("sun, 01 mar 2026 12:00:30 gmt", 30.0),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60.0),
        ("Sun Mar  1 13:00:00 2026", 3600.0),
        ("Sun, 01 Mar 2026 11:59:59 GMT", 0.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Friday, 31-Dec-99 23:59:59 GMT", 0.0),
        ("Sun, 01 Mar 2026 12:00:60 GMT", 59.0),
    ],
)
def test_valid_values(value: str, seconds: float) -> None:
    assert retry_after_seconds(value, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-1",
        "+5",
        "1.5",
        "1e9",
        "soon",
        "5 minutes",
        "١٢",
        "12\n",
        "Sun, 31 Feb 2026 12:00:00 GMT",
        "Sun, 01 Foo 2026 12:00:00 GMT",
        "Sun, 01 Mar 2026 25:00:00 GMT",
        "Sun, 01 Mar 2026 12:00:00 CET",
        "Sun, 01 Mar 0000 12:00:00 GMT",
        "2026-03-01T12:00:00Z",
    ],
)
def test_anything_else_is_no_answer(value: str) -> None:
    assert retry_after_seconds(value, NOW) is None


@given(st.integers(0, 4102444800), st.floats(0, 4102444800))
def test_a_date_is_the_distance_to_it_and_never_negative(moment: int, now: float) -> None:
    value = datetime.fromtimestamp(moment, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert retry_after_seconds(value, now) == max(0.0, moment - now)


@given(st.text(max_size=80))
def test_any_text_gives_none_or_a_finite_wait(value: str) -> None:
    seconds = retry_after_seconds(value, NOW)
    assert seconds is None or 0 <= seconds <= 1e12

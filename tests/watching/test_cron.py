"""Cron expressions mean what crontab(5) says; a time is neither missed nor invented."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sumi.watching.cron import parse_cron

MINUTE = 60.0
BEGIN = 1_767_225_600.0  # the first of January 2026


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/St_Johns"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def local(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC).astimezone().replace(tzinfo=None)


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def fields(least: int, most: int) -> st.SearchStrategy[str]:
    numbers = st.integers(least, most)
    ranges = st.tuples(numbers, numbers).map(lambda pair: f"{min(pair)}-{max(pair)}")
    parts = st.one_of(numbers.map(str), ranges, st.just("*"), st.just("*/7"), ranges.map(lambda r: f"{r}/3"))
    return st.lists(parts, min_size=1, max_size=2).map(",".join)


EXPRESSIONS = st.tuples(fields(0, 59), fields(0, 23), fields(1, 28), fields(1, 12), fields(0, 7)).map(
    " ".join
)


def as_crontab_says(expression: str, moment: datetime) -> bool:
    """Straight from the manual page, one minute at a time."""

    def has(field: str, value: int, least: int, most: int) -> bool:
        for part in field.split(","):
            span, _, step = part.partition("/")
            low, _, high = (f"{least}-{most}" if span == "*" else span).partition("-")
            if int(low) <= value <= int(high or low) and (value - int(low)) % int(step or 1) == 0:
                return True
        return False

    minute, hour, day, month, weekday = expression.split()
    by_date = has(day, moment.day, 1, 31)
    by_week = has(weekday, moment.isoweekday() % 7, 0, 7) or (
        moment.isoweekday() == 7 and has(weekday, 7, 0, 7)
    )
    restricted = not day.startswith("*"), not weekday.startswith("*")
    on_day = by_date or by_week if all(restricted) else by_date and by_week
    return (
        on_day
        and has(minute, moment.minute, 0, 59)
        and has(hour, moment.hour, 0, 23)
        and has(month, moment.month, 1, 12)
    )


@given(EXPRESSIONS, st.integers(0, 400 * 24 * 60))
@example("0 0 13 * 5", 0)
def test_the_next_time_is_the_first_that_matches(expression: str, minutes: int) -> None:
    start = BEGIN + minutes * MINUTE
    found = parse_cron(expression).after(start)
    assert found is not None
    assert found > start
    assert as_crontab_says(expression, local(found))
    looked = local(start) + timedelta(minutes=1)
    for _ in range(3000):  # two days of minutes
        if looked.timestamp() >= found:
            break
        assert not as_crontab_says(expression, looked)
        looked += timedelta(minutes=1)


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("30 3 * * *", "2026-05-01T03:30:00", "2026-05-02T03:30:00"),
        ("30 3 * * *", "2026-05-01T03:29:59", "2026-05-01T03:30:00"),
        ("0 9 * * mon-fri", "2026-05-01T10:00:00", "2026-05-04T09:00:00"),
        ("0 0 29 feb *", "2026-05-01T10:00:00", "2028-02-29T00:00:00"),
        ("@monthly", "2026-05-01T10:00:00", "2026-06-01T00:00:00"),
        ("5/20 12 * * 7", "2026-05-01T10:00:00", "2026-05-03T12:05:00"),
    ],
)
def test_examples(zone: str, expression: str, after: str, expected: str) -> None:
    assert parse_cron(expression).after(at(after)) == at(expected)


def test_summer_time_skips_and_repeats_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    cron = parse_cron("30 2 * * *")
    moment, days = at("2026-03-27T12:00:00"), []
    for _ in range(4):
        found = cron.after(moment)
        assert found is not None
        days.append(local(found).day)
        moment = found
    assert days == [28, 29, 30, 31]
    moment, days = at("2026-10-24T12:00:00"), []
    for _ in range(3):
        found = cron.after(moment)
        assert found is not None
        days.append(local(found).day)
        moment = found
    assert days == [25, 26, 27]
    monkeypatch.undo()
    os.environ.pop("TZ", None)
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "*/0 * * * *", "a * * * *", "0 0 30 2 *"),
        *("5-1 * * * *", "0 0 * * 8"),
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_cron(text)

"""The time left is at least what the slowest queue takes at its polite pace; a long hold is reported once."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.progress import (
    MAX_NAMED,
    MORE,
    HoldNews,
    ProgressMeter,
    first_to_end,
    least_seconds,
    pace_notes,
)
from sumi.events import Event, HostWaits, Progress, Warned
from sumi.frontier.pacing import BUDGET_SPENT
from sumi.outcomes import Outcome
from sumi.policy import PacingPolicy
from sumi.ports import FrontierStats, HostWait

NOW = 1000.0


def waits(pending: dict[str, int], why: str = "spacing", ready_at: float = 0.0) -> list[HostWait]:
    return [HostWait(host, count, 0, ready_at, why) for host, count in pending.items()]


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 10_000), min_size=1), st.floats(0.1, 60))
def test_it_is_the_longest_queue_at_its_pace(pending: dict[str, int], delay: float) -> None:
    total = sum(pending.values())
    assert least_seconds(waits(pending), total, lambda _host: delay, NOW) == max(pending.values()) * delay


def test_each_host_has_its_own_pace() -> None:
    assert least_seconds(waits({"a": 100, "b": 10}), 110, {"a": 1.0, "b": 20.0}.__getitem__, NOW) == 200.0


@given(st.integers(1, 1000))
def test_it_is_shorter_where_fewer_pages_are_wanted_than_wait(wanted: int) -> None:
    assert least_seconds(waits({"a": 1000, "b": 1000}), wanted, lambda _host: 1.0, NOW) == wanted / 2


@pytest.mark.parametrize("wanted", [1, 100, 10_000])
def test_it_is_nothing_without_a_limit(wanted: int) -> None:
    assert least_seconds(waits({"a": 100}), wanted, lambda _host: 0.0, NOW) == 0.0
    assert least_seconds([], wanted, lambda _host: 1.0, NOW) == 0.0


def test_a_host_that_is_not_asked_again_takes_no_time() -> None:
    spent = waits({"a": 1000}, BUDGET_SPENT)
    assert least_seconds([*spent, *waits({"b": 5})], 1005, lambda _host: 1.0, NOW) == 5.0


def test_a_host_that_is_left_alone_is_waited_for() -> None:
    held = waits({"a": 5}, "10 failures in a row", NOW + 900)
    assert least_seconds([*held, *waits({"b": 100})], 105, lambda _host: 1.0, NOW) == 905.0


def test_a_long_wait_is_announced() -> None:
    assert pace_notes(waits({"a.test": 50_000}), PacingPolicy()) == (
        "one request every 1 s to a.test: 50,000 pages take at least 13.9 h",
    )
    assert pace_notes(waits({"a.test": 340}), PacingPolicy(delay=0.5)) == (
        "2 requests a second to a.test: 340 pages take at least 3 min",
    )


def test_while_little_is_known_the_pace_is_reported() -> None:
    for little in (waits({"a.test": 50}), []):
        assert pace_notes(little, PacingPolicy()) == (
            "one request every 1 s per host: 3,600 pages an hour at most",
        )


def test_a_pace_without_waits_is_not_reported() -> None:
    assert pace_notes(waits({"a.test": 50_000}), PacingPolicy(delay=0.0)) == ()
    assert pace_notes([], PacingPolicy(delay=0.05)) == ()


def test_a_page_that_takes_two_requests_takes_two_turns() -> None:
    assert pace_notes([], PacingPolicy(), 2) == (
        "one request every 1 s per host, 2 for a page: 1,800 pages an hour at most",
    )
    assert pace_notes(waits({"a.test": 1800}), PacingPolicy(), 2) == (
        "one request every 1 s to a.test, 2 for a page: 1,800 pages take at least 60 min",
    )


HELD = "answered 429"


def reported(*looks: tuple[float, str]) -> list[float]:
    """Ends of the holds that were reported for one host, looked at several times."""
    events: list[Event] = []
    news = HoldNews(events.append)
    for until, why in looks:
        news.look([HostWait("a.test", 5, 0, until, why)], NOW)
    return [event.until for event in events if isinstance(event, HostWaits)]


def test_a_hold_is_reported_once_and_a_longer_one_again() -> None:
    looks = [(NOW + 900, HELD), (NOW + 900, HELD), (NOW + 1800, HELD)]
    assert reported(*looks) == [NOW + 900, NOW + 1800]


@pytest.mark.parametrize(("seconds", "is_reported"), [(9.9, False), (10.1, True), (3600.0, True)])
def test_a_hold_is_reported_from_ten_seconds_on(seconds: float, is_reported: bool) -> None:
    assert bool(reported((NOW + seconds, HELD))) is is_reported


def test_short_and_endless_waits_are_not_reported() -> None:
    assert reported((NOW + 9, "spacing"), (NOW + 900, "in flight"), (float("inf"), BUDGET_SPENT)) == []


def test_a_long_delay_is_reported_once_for_each_cause_and_hides_no_hold() -> None:
    looks = [
        (NOW + 300, "sitemaps first"),
        (NOW + 300, "spacing"),
        (NOW + 600, "spacing"),
        (NOW + 60, HELD),
        (NOW + 900, "spacing"),
    ]
    assert reported(*looks) == [NOW + 300, NOW + 300, NOW + 60]


def test_of_thousands_of_hosts_only_the_first_are_named() -> None:
    events: list[Event] = []
    waits = [HostWait(f"{number}.test", 5, 0, NOW + 900, HELD) for number in range(1000)]
    HoldNews(events.append).look(waits, NOW)
    assert len(events) == MAX_NAMED + 1
    assert events[-1] == Warned(MORE)


def test_a_run_whose_hosts_all_wait_reports_the_first_to_be_due() -> None:
    waits = [
        HostWait("a.test", 5, 0, NOW + 900, HELD),
        HostWait("b.test", 1, 0, NOW + 60, "retry"),
        HostWait("c.test", 9, 0, NOW, BUDGET_SPENT),
    ]
    first = HostWaits("b.test", "has only retries left", NOW + 60, 1)
    assert first_to_end(waits, NOW) == first
    assert first_to_end([HostWait("b.test", 1, 0, NOW + 5, "spacing"), *waits], NOW) is None


class SharedWork:
    """Implements what is asked here of an ``Io``: others do two pages while we do one."""

    def __init__(self, team: object) -> None:
        self.time = NOW
        self.told: list[Event] = []
        self.io: Any = SimpleNamespace(team=team, tell=self.told.append, clock=self, frontier=self)

    def now(self) -> float:
        return self.time

    async def stats(self) -> FrontierStats:
        done = 1000 + 3 * round(self.time - NOW)
        return FrontierStats(2000, 2000 - done, 0, {Outcome.CAPTURED: done}, 0, done, 2000 - done)

    async def waiting_hosts(self, _now: float) -> list[HostWait]:
        return []

    async def wait_of(self, _host: str, _now: float) -> None:
        return None


@pytest.mark.parametrize(("team", "seconds"), [(object(), 970 / 3), (None, 970.0)])
def test_the_time_left_of_a_shared_job_counts_what_all_machines_do(
    team: object | None, seconds: float
) -> None:
    work = SharedWork(team)
    limits: Any = SimpleNamespace(max_pages=0)
    robots: Any = SimpleNamespace(page_delay=lambda _host: 0.0)

    async def scenario() -> None:
        meter = ProgressMeter(work.io, robots, limits)
        await meter.tell(force=True)
        for _ in range(10):
            work.time += 1.0
            meter.settled("a.test")
            await meter.tell(force=True)

    asyncio.run(scenario())
    last = work.told[-1]
    assert isinstance(last, Progress)
    assert last.eta_seconds == pytest.approx(seconds, rel=0.01)
    assert last.pages_per_second == 1.0  # ours alone

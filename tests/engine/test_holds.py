"""A host that is left alone for more than ten seconds is told of once a pause; what is usual is not."""

import pytest

from sumi.engine.progress import MORE, MOST_NAMED, HoldNews, first_to_end
from sumi.events import Event, HostWaits, Warned
from sumi.frontier.pacing import BUDGET_SPENT
from sumi.ports import HostWait

NOW = 1000.0
HELD = "answered 429"


def told(*looks: tuple[float, str]) -> list[float]:
    """Of one host, looked at several times: until when it is left alone, and why."""
    events: list[Event] = []
    news = HoldNews(events.append)
    for until, why in looks:
        news.look([HostWait("a.test", 5, 0, until, why)], NOW)
    return [event.until for event in events if isinstance(event, HostWaits)]


def test_a_pause_is_told_once_and_a_longer_one_again() -> None:
    looks = [(NOW + 900, HELD), (NOW + 900, HELD), (NOW + 1800, HELD)]
    assert told(*looks) == [NOW + 900, NOW + 1800]


@pytest.mark.parametrize(("seconds", "is_told"), [(9.9, False), (10.1, True), (3600.0, True)])
def test_it_is_told_from_ten_seconds_on(seconds: float, is_told: bool) -> None:
    assert bool(told((NOW + seconds, HELD))) is is_told


def test_what_is_usual_or_without_an_end_is_not_told() -> None:
    assert told((NOW + 900, "spacing"), (float("inf"), BUDGET_SPENT)) == []


def test_of_thousands_of_hosts_only_the_first_are_named() -> None:
    events: list[Event] = []
    waits = [HostWait(f"{number}.test", 5, 0, NOW + 900, HELD) for number in range(1000)]
    HoldNews(events.append).look(waits, NOW)
    assert len(events) == MOST_NAMED + 1
    assert events[-1] == Warned(MORE)


def test_a_run_in_which_everybody_is_left_alone_says_whom_it_asks_first() -> None:
    waits = [
        HostWait("a.test", 5, 0, NOW + 900, HELD),
        HostWait("b.test", 1, 0, NOW + 60, "retry"),
        HostWait("c.test", 9, 0, NOW, BUDGET_SPENT),
    ]
    first = HostWaits("b.test", "has only retries left", NOW + 60, 1)
    assert first_to_end(waits, NOW) == first
    assert first_to_end([HostWait("b.test", 1, 0, NOW + 5, "spacing"), *waits], NOW) is None

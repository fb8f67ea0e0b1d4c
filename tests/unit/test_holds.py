"""A host that is left alone for long is told of once for each pause; what is usual is not."""

from sumi.engine.holds import MOST_NAMED, HoldNews
from sumi.events import Event, Warned
from sumi.ports import HostWait

NOW = 1000.0


def told(*looks: tuple[float, str]) -> list[str]:
    """Of one host, looked at several times: until when it is left alone, and why."""
    events: list[Event] = []
    news = HoldNews(events.append)
    for until, why in looks:
        news.look([HostWait("a.test", 5, 0, until, why)], NOW)
    return [event.message for event in events if isinstance(event, Warned)]


def test_a_pause_is_told_once_and_a_longer_one_again() -> None:
    held = "10 failures in a row"
    assert told((NOW + 900, held), (NOW + 900, held), (NOW + 1800, held)) == [
        "a.test is left alone for another 15 min: 10 failures in a row",
        "a.test is left alone for another 30 min: 10 failures in a row",
    ]


def test_what_is_short_usual_or_without_an_end_is_not_told() -> None:
    assert told((NOW + 30, "the server asked for a pause")) == []
    assert told((NOW + 900, "spacing"), (NOW + 900, "retry")) == []
    assert told((float("inf"), "the run's request budget is spent")) == []


def test_of_thousands_of_hosts_only_the_first_are_named() -> None:
    events: list[Event] = []
    waits = [HostWait(f"{number}.test", 5, 0, NOW + 900, "held") for number in range(1000)]
    HoldNews(events.append).look(waits, NOW)
    assert len(events) == MOST_NAMED

"""Links that are known to change nothing are not looked up in the database; all others are."""

from collections.abc import Iterable
from typing import Any

import pytest

from sumi.model import Candidate
from sumi.outcomes import Outcome, Verdict
from sumi.state.database.working_set import KnownLinks, WorkingSet
from sumi.state.entries import Entry, State

URL = "https://a.test/x"


def entry(state: State, depth: int = 3, refusal: Outcome | None = None) -> Entry:
    made = Entry(Candidate(URL, depth=depth), "a.test", 0)
    made.state = state
    made.verdict = None if refusal is None else Verdict(refusal)
    return made


@pytest.mark.parametrize(
    ("known", "no_news_from"),
    [
        (entry(State.WAITING), 3),
        (entry(State.DELAYED), 3),
        (entry(State.LEASED), 3),  # it may yet be put back
        (entry(State.SETTLED), 0),
        (entry(State.REFUSED, refusal=Outcome.OUT_OF_SCOPE), 0),
        (entry(State.REFUSED, refusal=Outcome.TOO_DEEP), 3),
    ],
)
def test_a_shorter_way_is_news_unless_it_is_done_with(known: Entry, no_news_from: int) -> None:
    links = KnownLinks()
    links.note([known, None])
    for depth in range(6):
        assert links.not_known([URL], depth) == ([URL] if depth < no_news_from else [])


def test_what_is_wanted_again_is_looked_up_again() -> None:
    links = KnownLinks()
    links.note([entry(State.SETTLED)])
    links.forget(URL)
    links.forget("https://a.test/never-seen")
    assert links.not_known([URL], 9) == [URL]


def test_there_is_a_bound_to_what_is_remembered() -> None:
    links = KnownLinks(most=2)
    urls = [f"https://a.test/{number}" for number in range(3)]
    links.note([Entry(Candidate(url), "a.test", 0) for url in urls])
    assert links.not_known(urls, 9) == urls


def test_what_is_not_known_is_looked_up_once_in_a_turn_and_remembered_no_longer() -> None:
    asked: list[list[str]] = []

    class Empty:
        def find(self, urls: Iterable[str]) -> list[Any]:
            asked.append(list(urls))
            return []

    rows: Any = Empty()
    entries = WorkingSet(rows, known=0)
    for _ in range(2):
        assert entries.get(URL) is None
        assert entries.get(URL) is None
        entries.release()
    assert asked == [[URL], [URL]]

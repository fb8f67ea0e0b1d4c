"""``--revisit adaptive``: few requests, and hardly a change missed for long, in simulated time."""

import random

from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.freshness import RevisitBounds, ask_again_at

DAY = 86_400.0
DAYS = 60
# Pages by the days between their changes; 0: never. Of a documentation site, one in eight changes every week.
SITE = {1: 20, 3: 30, 7: 80, 30: 270, 120: 300, 0: 300}
moments = st.floats(0, 1000 * DAY)


class Page:
    """Changes at random, so that nothing but its past says when."""

    def __init__(self, mean: float, chance: random.Random) -> None:
        self.changes: list[float] = []
        self.seen, self.asked, self.mean = [0.0], 0.0, mean * DAY
        moment = chance.expovariate(1 / self.mean) if mean else DAYS * DAY
        while moment < DAYS * DAY:
            self.changes.append(moment)
            moment += chance.expovariate(1 / self.mean)

    def look(self, now: float) -> list[float]:
        """How long each change that is found now had been there."""
        found = [now - change for change in self.changes if self.asked < change <= now]
        if found:
            self.seen.append(now)
        self.asked = now
        return found


def test_a_quarter_of_the_requests_finds_nearly_every_change_in_time() -> None:
    """Sixty daily updates: at most a quarter of the requests, and at least 95 % of the changes within twice
    the interval at which the page changes."""
    chance = random.Random(24)
    pages = [Page(mean, chance) for mean, number in SITE.items() for _ in range(number)]
    requests = in_time = changes = 0
    for day in range(1, DAYS + 1):
        for page in pages:
            if day * DAY >= ask_again_at(page.asked, page.seen, RevisitBounds()):
                ages = page.look(day * DAY)
                requests += 1
                changes += len(ages)
                in_time += sum(age <= 2 * max(page.mean, DAY) for age in ages)
    for page in pages:  # what nobody found, and should have been by now
        changes += sum(page.asked < change < DAYS * DAY - 2 * page.mean for change in page.changes)
    assert requests <= 0.25 * DAYS * len(pages)
    assert in_time >= 0.95 * changes
    assert changes > 1000


@given(moments, st.lists(moments, max_size=8).map(sorted), st.floats(1, DAY), st.floats(DAY, 90 * DAY))
def test_the_bounds_are_kept(asked: float, seen: list[float], least: float, most: float) -> None:
    pause = ask_again_at(asked, seen, RevisitBounds(least, most)) - asked
    assert pause == 0 if not seen else least - 1e-3 <= pause <= most + 1e-3


@given(st.lists(moments, min_size=1, max_size=8).map(sorted))
def test_a_page_that_changed_again_is_not_asked_later(seen: list[float]) -> None:
    asked = seen[-1] + DAY
    assert ask_again_at(asked, [*seen, asked], RevisitBounds()) <= ask_again_at(asked, seen, RevisitBounds())

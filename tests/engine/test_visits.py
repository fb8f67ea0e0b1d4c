"""What one turn of a page did is known to the next, and to nothing after the page is settled."""

import asyncio

from sumi.engine.contents import ContentIndex
from sumi.engine.visit import Visit, Visits
from sumi.model import Candidate, Lease, Response, Timing
from sumi.policy import FrontierPolicy
from sumi.state.memory import MemoryStore
from tests.engine.world import UNPACED, free_clock, in_free_time

URL = "https://a.test/x"
KEY = "00000000000000ff"


def lease(url: str = URL, token: int = 1) -> Lease:
    return Lease(Candidate(url), "a.test", token, deadline=300.0)


async def visits() -> Visits:
    return Visits(MemoryStore(FrontierPolicy(UNPACED), 0.0), free_clock())


def test_the_next_turn_goes_on_where_the_last_one_ended() -> None:
    async def scenario() -> None:
        all_visits = await visits()
        with all_visits.of(lease()) as first:
            first.tried.head = True
            all_visits.remember(first)
        with all_visits.of(lease("https://a.test/y", 2)) as other, all_visits.of(lease(token=3)) as second:
            assert not other.tried.head
            assert second.tried.head
            assert all_visits.urls() == (URL, "https://a.test/y")
        # The second turn settled the page: a later visit begins anew.
        with all_visits.of(lease(token=4)) as later:
            assert not later.tried.head
        assert all_visits.urls() == ()

    in_free_time(scenario())


def test_the_body_is_let_go_of_once() -> None:
    class Hold:
        released = 0

        def release(self) -> None:
            self.released += 1

    hold = Hold()
    visit = Visit(lease())
    visit.let_go_of_body()
    visit.response = Response(URL, 200, (), b"long", Timing(0.0, 0.0, 0.0), hold=hold)
    for _ in range(2):
        visit.let_go_of_body()
    assert hold.released == 1


def test_a_page_waits_for_the_first_with_its_content_and_takes_its_place_if_that_was_not_kept() -> None:
    async def scenario(*, kept: bool) -> str | None:
        index = ContentIndex()
        first, second = Visit(lease()), Visit(lease("https://a.test/y", 2))
        assert await index.original_of(KEY, first) is None
        waiting = asyncio.create_task(index.original_of(KEY, second))
        await asyncio.sleep(0)
        assert not waiting.done()
        index.settled(first, kept=kept)
        original = await waiting
        if original is None:
            index.settled(second, kept=True)
            assert await index.original_of(KEY, Visit(lease(token=3))) == "https://a.test/y"
        return original

    assert asyncio.run(scenario(kept=True)) == URL
    assert asyncio.run(scenario(kept=False)) is None

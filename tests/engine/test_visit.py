"""What one turn of a page did is known to its next turn only; the result of a lost lease is dropped."""

from collections.abc import Sequence

from sumi.engine.visit import Visit, Visits
from sumi.model import Candidate, Lease, Response, Timing
from sumi.policy import FrontierPolicy, RobotsPolicy
from sumi.state.memory import MemoryStore
from tests.engine.world import HAIR, UNPACED, Answer, crawled, free_clock, in_free_time, recipe_for, web_of

URL = "https://a.test/x"


def lease(url: str = URL, token: int = 1) -> Lease:
    return Lease(Candidate(url), "a.test", token, deadline=300.0)


async def visits() -> Visits:
    return Visits(MemoryStore(FrontierPolicy(UNPACED), 0.0), free_clock())


def test_the_next_turn_continues_where_the_last_one_ended() -> None:
    async def scenario() -> None:
        all_visits = await visits()
        with all_visits.of(lease()) as first:
            first.tried.head = True
            all_visits.remember(first)
        with all_visits.of(lease("https://a.test/y", 2)) as other, all_visits.of(lease(token=3)) as second:
            assert not other.tried.head
            assert second.tried.head
            assert all_visits.urls() == (URL, "https://a.test/y")
        # The second turn settled the page: a later visit starts afresh.
        with all_visits.of(lease(token=4)) as later:
            assert not later.tried.head
        assert all_visits.urls() == ()

    in_free_time(scenario())


def test_the_body_is_released_once() -> None:
    class Hold:
        released = 0

        def release(self) -> None:
            self.released += 1

    hold = Hold()
    visit = Visit(lease())
    visit.release_body()
    visit.response = Response(URL, 200, (), b"long", Timing(0.0, 0.0, 0.0), hold=hold)
    for _ in range(2):
        visit.release_body()
    assert hold.released == 1


SEED = "https://a.test/"


def test_a_slow_page_is_fetched_once_however_short_its_lease() -> None:
    slow = web_of({SEED: Answer(latency=100.0)})
    world = crawled(slow, recipe_for([SEED]), lease_seconds=10.0, digest_seconds=500.0, write_seconds=500.0)
    assert len(world.log) == 1
    assert world.outcomes == {SEED: "captured"}
    assert world.warnings == []


class Forgetful(MemoryStore):
    """Renews nothing in its first 42 seconds."""

    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._forgets_until = opened_at + 42

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        if now < self._forgets_until:
            return [False] * len(leases)
        return await super().renew(leases, now)


def test_the_result_of_a_lost_lease_is_dropped_and_the_page_is_settled_once() -> None:
    world = crawled(
        web_of({SEED: Answer()}),
        recipe_for([SEED], concurrency=4),
        open_store=Forgetful,
        lease_seconds=40.0,
        digest_seconds=70.0,
    )
    assert len(world.log) == 2
    assert world.output.settled_urls == [SEED]
    assert world.outcomes == {SEED: "captured"}
    assert world.warnings == [f"{SEED}: its lease expired, so this result was dropped"]


def test_a_host_that_may_be_asked_less_often_than_a_lease_lasts_is_asked_once_for_each_page() -> None:
    pages = {f"https://a.test/{number}": Answer(latency=30.0) for number in range(4)}
    robots = {"https://a.test/robots.txt": Answer(text="User-agent: *\nCrawl-delay: 250\n")}
    recipe = recipe_for(pages, robots=RobotsPolicy(), concurrency=16)
    world = crawled(web_of(pages | robots), recipe, lease_seconds=20.0)
    assert len(world.log) == len(pages) + 1
    assert world.smallest_gap() >= 250 - HAIR
    assert set(world.outcomes.values()) == {"captured"}
    assert not [warning for warning in world.warnings if "lease" in warning]

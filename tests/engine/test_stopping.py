"""A stop ends within its deadline, and the store is never closed during a write."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from sumi.engine.crawl import STOP_SECONDS, Crawl
from sumi.errors import StorageFailed
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Deferral, Settlement
from sumi.state.memory import MemoryStore
from tests.engine.world import UNPACED, Answer, Web, World, in_free_time, recipe_for, web_of

QUICK, SLOW = "https://a.test/quick", "https://a.test/slow"
STOPPED_AFTER = 5.0


def stopped(web: Web, *times: float) -> World:
    """A crawl of both pages that is told to stop at these times, in seconds from its start."""

    async def scenario() -> World:
        world = World(web, recipe_for([QUICK, SLOW], pacing=UNPACED))
        for after in times:
            asyncio.get_running_loop().call_later(after, world.control.stop)
        return await world.crawl()

    return in_free_time(scenario())


@pytest.mark.parametrize(
    ("latency", "ends", "outcome"),
    [
        (20.0, 20.0, "captured"),
        (STOPPED_AFTER + STOP_SECONDS - 1, STOPPED_AFTER + STOP_SECONDS - 1, "captured"),
        (STOPPED_AFTER + STOP_SECONDS + 1, STOPPED_AFTER + STOP_SECONDS, "pending"),
        (3600.0, STOPPED_AFTER + STOP_SECONDS, "pending"),
    ],
)
def test_what_is_in_flight_is_waited_for_but_not_for_ever(latency: float, ends: float, outcome: str) -> None:
    world = stopped(web_of({QUICK: Answer(), SLOW: Answer(latency=latency)}), STOPPED_AFTER)
    assert world.clock_stopped_at - world.started == pytest.approx(ends)
    assert world.outcomes == {QUICK: "captured", SLOW: outcome}
    assert world.stats.leased == (outcome == "pending")  # in this process; on the disk there are no leases


def test_asked_twice_it_does_not_wait_at_all() -> None:
    world = stopped(web_of({QUICK: Answer(), SLOW: Answer(latency=3600.0)}), STOPPED_AFTER, STOPPED_AFTER + 1)
    assert world.clock_stopped_at - world.started == pytest.approx(STOPPED_AFTER + 1)
    assert world.outcomes == {QUICK: "captured", SLOW: "pending"}


class SlowlyWritten(MemoryStore):
    """Like a disk on which every sync takes long: the store must not be closed meanwhile."""

    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self.writing = False

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        self.writing = True
        await asyncio.sleep(10.0)
        answers = await super().settle(units)
        self.writing = False
        return answers

    async def aclose(self) -> None:
        assert not self.writing


class FailingDisk(MemoryStore):
    """Its first sync takes long and fails. A disk says so once: a later one would seem to succeed."""

    syncs = 0

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        self.syncs += 1
        if self.syncs == 1:
            await asyncio.sleep(10.0)
            raise StorageFailed("Input/output error; check the disk, then run again")


def test_a_sync_that_fails_while_the_run_ends_is_not_taken_for_a_success() -> None:
    async def scenario() -> None:
        web, recipe = web_of({QUICK: Answer(latency=3.0)}), recipe_for([QUICK], pacing=UNPACED)
        world = World(web, recipe, open_store=FailingDisk)
        with pytest.raises(StorageFailed, match="Input/output error"):
            await world.crawl()
        assert isinstance(world.store, FailingDisk)
        assert world.store.syncs == 1

    in_free_time(scenario())


@pytest.mark.parametrize("durability", Durability)
def test_a_write_that_has_begun_is_finished_when_the_run_is_aborted(durability: Durability) -> None:
    async def scenario() -> World:
        world = World(
            web_of({QUICK: Answer(latency=1.0)}),
            recipe_for([QUICK], pacing=UNPACED),
            open_store=SlowlyWritten,
        )
        for after in (2.0, 3.0):
            asyncio.get_running_loop().call_later(after, world.control.stop)
        await Crawl(world.recipe, world.io, world.control, durability).run()
        await world.store.aclose()
        world.outcomes = {record.url: str(record.outcome) async for record in world.store.records()}
        return world

    world = in_free_time(scenario())
    assert world.control.was_aborted
    assert world.outcomes == {QUICK: "captured"}

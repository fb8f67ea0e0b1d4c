"""Pages that end together are written together; large findings neither block the crawl nor get lost."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sumi.engine.settler import BATCH_REST, BATCH_SECONDS, LONGEST_REST, SLICE, Settler
from sumi.model import Candidate, Hop, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Deferral, Judged, Settlement
from sumi.state.journal import FilesStore
from sumi.state.memory import MemoryStore
from tests.engine.world import HAIR, UNPACED, Answer, OpenStore, World, in_free_time, recipe_for

SITEMAP = "https://a.test/sitemap.xml"
SLICES = 3
FOUND = tuple(
    Judged(Candidate(f"https://a.test/{number}", Hop.MANIFEST, depth=1, referrer=SITEMAP))
    for number in range(SLICES * SLICE - SLICE // 2)
)


def a_world(open_store: OpenStore = MemoryStore) -> World:
    return World(lambda _url, _now: Answer(), recipe_for([SITEMAP], pacing=UNPACED), open_store=open_store)


async def settle_the_sitemap(world: World) -> None:
    await world.store.add([Judged(Candidate(SITEMAP, Hop.SEED))])
    [lease] = await world.store.lease(1, world.clock.now())
    unit = Settlement(lease, Verdict(Outcome.READ, "read"), 1.0, found=FOUND)
    assert await Settler(world.io, Durability.BATCH, in_flight=lambda: 1).settle(unit)


def test_others_have_their_turn_while_it_is_written() -> None:
    async def scenario() -> int:
        world = a_world()
        settling = asyncio.create_task(settle_the_sitemap(world))
        known = set()
        while not settling.done():
            known.add((await world.store.stats()).known)
            await asyncio.sleep(0)
        await settling
        assert (await world.store.stats()).listed == len(FOUND)
        return len(known)

    assert in_free_time(scenario()) >= SLICES


def test_killed_at_any_line_no_page_has_ended_without_its_findings(tmp_path: Path) -> None:
    async def whole() -> None:
        world = a_world(partial(FilesStore, tmp_path / "whole"))
        await settle_the_sitemap(world)
        await world.store.aclose()

    async def reopened(folder: Path) -> tuple[bool, int]:
        store = FilesStore(folder, FrontierPolicy(UNPACED), 0.0)
        record, stats = await store.record(SITEMAP), await store.stats()
        await store.aclose()
        return record is not None and record.outcome is Outcome.READ, stats.known

    (tmp_path / "whole").mkdir()
    in_free_time(whole())
    [journal] = (tmp_path / "whole").glob("journal-*.log")
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) > SLICES
    for kept in range(len(lines) + 1):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / journal.name).write_bytes(b"".join(lines[:kept]))
        ended, known = asyncio.run(reopened(folder))
        assert not ended or known == len(FOUND) + 1
    assert ended


@pytest.mark.parametrize("count", [SLICE, SLICE + 1])
def test_a_stale_lease_is_refused_whatever_it_found(count: int) -> None:
    async def scenario() -> bool:
        world = a_world()
        await world.store.add([Judged(Candidate(SITEMAP, Hop.SEED))])
        [lease] = await world.store.lease(1, world.clock.now())
        await world.store.lease(1, lease.deadline + 1)
        unit = Settlement(lease, Verdict(Outcome.READ, "read"), 1.0, found=FOUND[:count])
        return await Settler(world.io, Durability.BATCH, in_flight=lambda: 1).settle(unit)

    assert not in_free_time(scenario())


class Counted(MemoryStore):
    """Notes how many units each write held."""

    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self.batches: list[int] = []

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        self.batches.append(len(units))
        return await super().settle(units)


def test_pages_that_end_shortly_after_each_other_are_written_at_once_and_the_first_does_not_wait() -> None:
    pages = 20

    async def scenario() -> tuple[list[int], list[float]]:
        world = a_world(Counted)
        settler = Settler(world.io, Durability.BATCH, in_flight=lambda: pages)
        await world.store.add([Judged(Candidate(f"https://a.test/{n}")) for n in range(pages)])
        leases = await world.store.lease(pages, world.clock.now())
        started = world.clock.now()

        async def end(number: int, lease: Lease) -> float:
            await world.clock.sleep_until(started + number * BATCH_SECONDS / 10)
            assert await settler.settle(Settlement(lease, Verdict(Outcome.READ), 1.0))
            return world.clock.now() - started

        waits = await asyncio.gather(*(end(number, lease) for number, lease in enumerate(leases)))
        assert isinstance(world.store, Counted)
        return world.store.batches, waits

    batches, waits = in_free_time(scenario())
    assert sum(batches) == pages
    assert len(batches) <= 4
    assert waits[0] == 0.0
    assert (
        max(wait - number * BATCH_SECONDS / 10 for number, wait in enumerate(waits)) <= BATCH_SECONDS + HAIR
    )


def test_the_only_page_in_flight_does_not_wait() -> None:
    async def scenario() -> float:
        world = a_world()
        settler = Settler(world.io, Durability.BATCH, in_flight=lambda: 1)
        await world.store.add([Judged(Candidate(f"https://a.test/{n}")) for n in range(5)])
        started = world.clock.now()
        for lease in await world.store.lease(5, started):
            assert await settler.settle(Settlement(lease, Verdict(Outcome.READ), 1.0))
        return world.clock.now() - started

    assert in_free_time(scenario()) == 0.0


@pytest.mark.parametrize(
    ("took", "rest"), [(0.0, BATCH_SECONDS), (0.002, BATCH_REST * 0.002), (1.0, LONGEST_REST)]
)
def test_after_a_slow_write_the_next_one_waits_for_more_pages(took: float, rest: float) -> None:
    """Time passes only where it is said to: each write takes ``took``."""

    async def scenario() -> float:
        world = a_world()
        begun: list[float] = []
        settle = world.store.settle

        async def slowly(units: Sequence[Settlement | Deferral]) -> list[bool]:
            begun.append(world.clock.now())
            await world.clock.sleep_until(world.clock.now() + took)
            return await settle(units)

        world.store.settle = slowly  # type: ignore[method-assign]
        settler = Settler(world.io, Durability.BATCH, in_flight=lambda: 9)
        await world.store.add([Judged(Candidate(f"https://a.test/{n}")) for n in range(2)])
        for lease in await world.store.lease(2, world.clock.now()):
            assert await settler.settle(Settlement(lease, Verdict(Outcome.READ), 1.0))
        return begun[1] - begun[0] - took

    assert in_free_time(scenario()) == pytest.approx(rest, abs=HAIR)


@pytest.mark.parametrize(
    ("durability", "order"), [(Durability.STRICT, ["sync", "settle"]), (Durability.BATCH, ["settle"])]
)
def test_only_strict_syncs_the_outputs_and_does_it_before_the_settlement(
    monkeypatch: pytest.MonkeyPatch, durability: Durability, order: list[str]
) -> None:
    """A settled page whose file a power cut took would never be fetched again."""
    done: list[str] = []

    async def scenario() -> None:
        world = a_world()
        await world.store.add([Judged(Candidate(SITEMAP, Hop.SEED))])
        [lease] = await world.store.lease(1, world.clock.now())
        settle = world.store.settle

        async def sync() -> None:
            await asyncio.sleep(0)
            done.append("sync")

        async def settle_and_note(units: Sequence[Settlement | Deferral]) -> list[bool]:
            done.append("settle")
            return await settle(units)

        monkeypatch.setattr(world.io.output, "sync", sync)
        monkeypatch.setattr(world.store, "settle", settle_and_note)
        settler = Settler(world.io, durability, in_flight=lambda: 1)
        assert await settler.settle(Settlement(lease, Verdict(Outcome.READ), 1.0))

    in_free_time(scenario())
    assert done == order


def test_every_page_of_a_batch_that_cannot_be_written_says_so() -> None:
    class Full(MemoryStore):
        async def settle(self, settlements: Sequence[Settlement | Deferral]) -> list[bool]:
            raise OSError(28, "No space left on device")

    async def scenario() -> list[object]:
        world = a_world(Full)
        urls = [f"https://{number}.test/" for number in range(2)]
        await world.store.add([Judged(Candidate(url, Hop.SEED)) for url in urls])
        leases = await world.store.lease(2, world.clock.now())
        settler = Settler(world.io, Durability.BATCH, in_flight=lambda: len(leases))
        units = [Settlement(lease, Verdict(Outcome.CAPTURED, "HTTP 200"), 1.0) for lease in leases]
        ended = asyncio.gather(*(settler.settle(unit) for unit in units), return_exceptions=True)
        async with asyncio.timeout(60):
            return list(await ended)

    said = in_free_time(scenario())
    assert [type(one) for one in said] == [OSError, OSError]


def test_a_store_of_many_machines_is_not_closed_during_a_write() -> None:
    answered = asyncio.Event()

    class Slow(MemoryStore):
        async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
            await answered.wait()
            return await super().settle(units)

    async def scenario() -> None:
        world = a_world(Slow)
        team: Any = object()
        settler = Settler(replace(world.io, team=team), Durability.BATCH, in_flight=lambda: 1)
        await world.store.add([Judged(Candidate(SITEMAP, Hop.SEED))])
        [lease] = await world.store.lease(1, world.clock.now())
        visit = asyncio.create_task(settler.settle(Settlement(lease, Verdict(Outcome.READ), 1.0)))
        while not settler.without_request:
            await asyncio.sleep(0)
        visit.cancel()
        closing = asyncio.create_task(settler.at_rest())
        await asyncio.sleep(1.0)
        assert not closing.done()
        answered.set()
        await closing
        assert (await world.store.stats()).pending == 0

    in_free_time(scenario())

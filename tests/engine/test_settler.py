"""A page with very many findings neither holds up the crawl nor loses one, wherever the process is killed."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from sumi.engine.settler import SLICE, Settler
from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome, Verdict
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Judged, Settlement
from sumi.store.files import FilesStore
from sumi.store.memory import MemoryStore
from tests.engine.world import UNPACED, Answer, OpenStore, World, in_free_time, recipe_for

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
    assert await Settler(world.io, Durability.BATCH).settle(unit)


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
        return await Settler(world.io, Durability.BATCH).settle(unit)

    assert not in_free_time(scenario())

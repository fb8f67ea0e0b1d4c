"""A crawl that outgrows its journal goes on in a database as if nothing had happened."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sumi.assembly.parts import open_store
from sumi.errors import StateError, StorageFailed
from sumi.events import Busy, Event, Listener, Warned
from sumi.model import Candidate, Hop, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import Durability, FrontierPolicy, PacingPolicy
from sumi.ports import JobStore, Judged, Settlement
from sumi.state.folder import backend_to_use, open_snapshot
from sumi.state.growing import GrowingStore
from sumi.state.sqlite import SqliteStore
from tests.commands import ROOT, sumi_environment
from tests.engine.world import HAIR, UNPACED, Answer, OpenStore, Web, crawled, recipe_for

POLICY = FrontierPolicy(UNPACED)
PAGES = [f"https://h{number % 4}.test/{number}" for number in range(60)]
OUTGROWN = 20


def linked_web() -> Web:
    """Pages are found little by little, and some answers take longer than it takes to carry a state over."""
    chance = random.Random(3)
    pages = {
        url: Answer(links=tuple(chance.sample(PAGES, 3)), latency=chance.choice((0.05, 0.5, 4.0)))
        for url in PAGES
    }
    return lambda url, _now: pages.get(url, Answer(404))


def growing_in(folder: Path, outgrown: int = OUTGROWN, tell: Listener | None = None) -> OpenStore:
    return lambda policy, now: GrowingStore(folder, policy, now, tell=tell, outgrown=outgrown)


def test_every_page_is_requested_once_and_no_host_too_early(tmp_path: Path) -> None:
    recipe = recipe_for(PAGES[:1], pacing=PacingPolicy(delay=1.5, sitemap_delay=1.5, per_host=1))
    grown = crawled(linked_web(), recipe, open_store=growing_in(tmp_path))
    usual = crawled(linked_web(), recipe)
    assert backend_to_use(tmp_path, None) == "sqlite"
    assert list(tmp_path.glob("journal-*")) == []
    assert Counter(each.url for each in grown.log) == Counter(each.url for each in usual.log)
    assert grown.outcomes == usual.outcomes
    assert len(usual.outcomes) > OUTGROWN
    assert grown.smallest_gap() >= 1.5 - HAIR
    assert grown.stats == usual.stats


def test_with_many_pages_in_flight_none_is_lost_or_requested_twice(tmp_path: Path) -> None:
    recipe = recipe_for(PAGES, pacing=UNPACED)
    world = crawled(linked_web(), recipe, open_store=growing_in(tmp_path))
    assert backend_to_use(tmp_path, None) == "sqlite"
    assert Counter(each.url for each in world.log) == Counter(PAGES)
    assert world.outcomes == dict.fromkeys(PAGES, "captured")
    assert world.warnings == []


def test_a_small_crawl_stays_in_its_journal(tmp_path: Path) -> None:
    crawled(linked_web(), recipe_for(PAGES, pacing=UNPACED), open_store=growing_in(tmp_path, outgrown=60))
    assert backend_to_use(tmp_path, None) == "files"
    assert list(tmp_path.glob("state.sqlite*")) == []


# ── what may go wrong meanwhile ────────────────────────────────────────────────────────────────────────────


async def leased_from(folder: Path, tell: Listener | None = None) -> tuple[GrowingStore, list[Lease]]:
    store = GrowingStore(folder, POLICY, 0.0, tell=tell, outgrown=OUTGROWN)
    await store.add([Judged(Candidate(url, Hop.SEED)) for url in PAGES])
    return store, await store.lease(10, 1.0)


async def nothing() -> None:
    """No page has a file."""


def settlement(lease: Lease) -> Settlement:
    return Settlement(lease, Verdict(Outcome.CAPTURED), 1.0, PageFacts(status=200, title="A page"))


def test_a_settlement_during_the_move_waits_and_goes_to_the_database(tmp_path: Path) -> None:
    async def scenario() -> None:
        store, leases = await leased_from(tmp_path)
        moving = asyncio.create_task(store.sync(nothing))
        await asyncio.sleep(0)
        assert await store.settle([settlement(lease) for lease in leases]) == [True] * 10
        await moving
        await store.aclose()
        again = SqliteStore(tmp_path, POLICY, 0.0)
        titles = [record.facts.title async for record in again.records([Outcome.CAPTURED])]
        assert titles == ["A page"] * 10
        await again.aclose()

    asyncio.run(scenario())


def test_a_lease_from_before_the_move_is_not_mistaken_for_a_later_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        store, before = await leased_from(tmp_path)
        await store.sync(nothing)
        after = await store.lease(10, 1.0)
        assert {lease.url for lease in before}.isdisjoint(lease.url for lease in after)
        assert {lease.token for lease in before}.isdisjoint(lease.token for lease in after)
        await store.aclose()

    asyncio.run(scenario())


def test_the_move_is_reported_and_waits_for_readers_of_the_journal(tmp_path: Path) -> None:
    async def scenario() -> None:
        told: list[Event] = []
        store, _ = await leased_from(tmp_path, told.append)
        reading = store.records()
        await anext(reading)
        await store.sync(nothing)
        assert backend_to_use(tmp_path, None) == "files"
        assert len([record async for record in reading]) == len(PAGES) - 1
        await store.sync(nothing)
        assert backend_to_use(tmp_path, None) == "sqlite"
        assert told == [Busy("moving the state of 60 URLs to a database")]
        await store.aclose()

    asyncio.run(scenario())


def test_if_the_move_fails_the_journal_continues_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "moving").write_text("somebody's file")
    told: list[Event] = []
    open_store = growing_in(tmp_path, tell=told.append)
    world = crawled(linked_web(), recipe_for(PAGES, pacing=UNPACED), open_store=open_store)
    assert backend_to_use(tmp_path, None) == "files"
    assert world.outcomes == dict.fromkeys(PAGES, "captured")
    [warning] = [event.message for event in told if isinstance(event, Warned)]
    assert "stays in text files" in warning
    assert (tmp_path / "moving").read_text() == "somebody's file"


def test_a_disk_that_fails_to_sync_the_pages_ends_the_run_as_ever(tmp_path: Path) -> None:
    syncs: list[int] = []

    async def fail_the_second_time() -> None:
        syncs.append(1)
        if len(syncs) == 2:
            raise StorageFailed("the disk said no")

    async def scenario() -> None:
        store, _ = await leased_from(tmp_path)
        with pytest.raises(StorageFailed, match="the disk said no"):
            await store.sync(fail_the_second_time)
        assert len([record async for record in store.records()]) == len(PAGES)
        await store.aclose()

    asyncio.run(scenario())
    assert backend_to_use(tmp_path, None) == "files"


def test_a_reader_of_a_journal_that_is_gone_is_told_to_try_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        store, leases = await leased_from(tmp_path)
        await store.settle([settlement(lease) for lease in leases])
        before = open_snapshot(tmp_path, 1.0)
        await store.sync(nothing)
        with pytest.raises(StateError, match="try again"):
            await before.record(leases[0].url)
        await before.aclose()
        after = open_snapshot(tmp_path, 1.0)
        record = await after.record(leases[0].url)
        assert record is not None
        assert record.facts.title == "A page"
        await after.aclose()
        await store.aclose()

    asyncio.run(scenario())


def test_killed_at_any_step_it_is_a_complete_journal_or_database(tmp_path: Path) -> None:
    """Before every change of the folder's files that the process makes itself; see ``moving_process``."""
    command = [sys.executable, "-m", "tests.state.moving_process", str(tmp_path)]
    env = sumi_environment(None)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    backends = done.stdout.split()
    assert len(backends) > 5
    assert set(backends) == {"files", "sqlite"}
    assert backends == sorted(backends)  # once it is the database, it stays the database


def test_a_journal_that_a_kill_left_beside_its_database_is_removed(tmp_path: Path) -> None:
    crawled(linked_web(), recipe_for(PAGES, pacing=UNPACED), open_store=growing_in(tmp_path))
    left = tmp_path / "journal-000001.log"
    left.write_text("of before\n")
    store = open_store(None, tmp_path, POLICY, 0.0, Durability.BATCH, lambda _event: None)
    assert not left.exists()
    assert asyncio.run(closed(store)) == len(PAGES)


async def closed(store: JobStore) -> int:
    known = (await store.stats()).known
    await store.aclose()
    return known

"""New limits apply everywhere at once: no part of a run keeps the old ones."""

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import sumi.engine
from sumi.engine.crawl import Crawl
from sumi.engine.gate import Gate
from sumi.engine.limits import BaseQuota, Limits, LimitsInForce
from sumi.engine.visit import Visit
from sumi.events import Progress
from sumi.model import Candidate, Hop, Kind, Lease
from sumi.policy import Durability, FrontierPolicy, PacingPolicy, Preset
from sumi.ports import FrontierStats
from sumi.recipe import Recipe
from sumi.scope import Scope
from tests.engine.world import Answer, World, in_free_time, recipe_for, web_of

FIRST, SECOND = "https://a.test/sitemap-1.xml", "https://a.test/sitemap-2.xml"
SEEDS = tuple(Candidate(url, Hop.SEED, Kind.SITEMAP) for url in (FIRST, SECOND))
PAGES = {
    FIRST: Answer(links=tuple(f"https://a.test/{n}" for n in range(20))),
    SECOND: Answer(links=("https://a.test/other",)),
}
PACE = PacingPolicy(delay=1.0)


def retuned_after(url: str, before: Recipe, after: Limits) -> World:
    """A run that is given new limits while ``url`` is being fetched."""

    async def run() -> World:
        world = World(web_of(PAGES, Answer(links=())), before)
        crawl = Crawl(before, world.io, world.control, Durability.BATCH)
        given: list[asyncio.Task[None]] = []
        answer = world.fetcher.web

        def web(asked: str, now: float) -> Answer:
            if asked == url and not given:
                given.append(asyncio.ensure_future(crawl.retune(after)))
            return answer(asked, now)

        world.fetcher.web = web
        await crawl.run()
        world.outcomes = {record.url: str(record.outcome) async for record in world.store.records()}
        world.stats = await world.store.stats()
        await world.store.aclose()
        return world

    return in_free_time(run())


@pytest.mark.parametrize(
    ("before", "after", "second"), [(1, 0, "read"), (1, 15, "read"), (0, 1, "over_cap"), (15, 2, "over_cap")]
)
def test_whether_a_further_sitemap_is_needless_is_decided_by_the_limit_of_today(
    before: int, after: int, second: str
) -> None:
    recipe = recipe_for([], pacing=PACE, plenty=5, max_pages=before)
    recipe = msgspec.structs.replace(recipe, seeds=SEEDS)
    world = retuned_after(FIRST, recipe, Limits(1, FrontierPolicy(PACE, after)))
    assert world.outcomes[SECOND] == second
    assert world.stats.captured == (after or 21)


def test_the_eta_is_of_the_limit_of_today() -> None:
    recipe = recipe_for([FIRST], pacing=PACE, max_pages=2)
    world = retuned_after(FIRST, recipe, Limits(1, FrontierPolicy(PacingPolicy(delay=100.0), 0)))
    longest = max(event.eta_seconds or 0.0 for event in world.events if isinstance(event, Progress))
    assert longest >= 1000.0


def visit_of(page: Candidate) -> Visit:
    return Visit(Lease(page, "d.org", token=0, deadline=0.0))


def test_a_base_may_have_as_many_pages_as_the_limit_of_today_says() -> None:
    bases = ("https://d.org/a", "https://d.org/b")
    recipe = Recipe("capture", (), Preset.CAPTURE, Scope(bases=bases), "sumi", pages_per_base=1)
    limits = LimitsInForce(recipe)
    quota = BaseQuota(recipe, limits)
    quota.restore("https://d.org/a/1")
    page = Candidate("https://d.org/a/2")
    refusal = quota.refusal(page)
    assert refusal is not None
    assert refusal.rule == "https://d.org/a has its 1 pages"
    assert not quota.claim(visit_of(page))
    limits.replace(Limits(1, FrontierPolicy(), pages_per_base=2))
    assert quota.refusal(page) is None
    assert quota.claim(visit_of(page))
    assert not quota.claim(visit_of(Candidate("https://d.org/a/3")))
    limits.replace(Limits(1, FrontierPolicy()))
    assert quota.claim(visit_of(Candidate("https://d.org/a/3")))


def test_a_page_outside_counts_against_the_base_that_led_to_it_though_its_limit_comes_later() -> None:
    bases = ("https://d.org/a", "https://d.org/b")
    recipe = Recipe("capture", (), Preset.CAPTURE, Scope(bases=bases), "sumi")
    limits = LimitsInForce(recipe)
    quota = BaseQuota(recipe, limits)
    outside = visit_of(Candidate("https://other.org/", referrer="https://d.org/b/1"))
    assert quota.claim(outside)
    quota.settled(outside, kept=True)
    limits.replace(Limits(1, FrontierPolicy(), pages_per_base=1))
    assert quota.refusal(Candidate("https://d.org/a/1")) is None
    assert quota.refusal(Candidate("https://d.org/b/2")) is not None


def test_a_page_without_a_place_waits_for_the_end_of_another_page_of_its_base() -> None:
    """Else it would be leased and handed back as fast as the machine can."""
    bases = ("https://d.org/a", "https://d.org/b")
    recipe = Recipe("capture", (), Preset.CAPTURE, Scope(bases=bases), "sumi", pages_per_base=1)
    quota = BaseQuota(recipe, LimitsInForce(recipe))
    first = visit_of(Candidate("https://d.org/a/1"))

    async def waits() -> list[bool]:
        assert quota.claim(first)
        waiting = asyncio.ensure_future(quota.wait(Candidate("https://d.org/a/2")))
        await asyncio.sleep(0)
        seen = [waiting.done()]
        quota.settled(first, kept=False)
        await waiting
        return seen

    assert asyncio.run(waits()) == [False]


def test_no_part_of_the_engine_reads_a_limit_from_the_recipe() -> None:
    """The recipe is what the run began with."""
    # A run hands new limits on and keeps its job up to date; its summary is made from the job as it then is.
    own = {"limits.py", "run.py", "summary.py"}
    folder = Path(sumi.engine.__file__).parent
    tunable = re.compile(r"recipe\.(concurrency|max_pages|pages_per_base|pacing)\b")
    readers = {file.name for file in folder.glob("*.py") if tunable.search(file.read_text())}
    assert readers <= own


@pytest.mark.parametrize(("captured", "needless"), [(0, False), (6, True)])
def test_whether_a_further_sitemap_is_needless_depends_on_the_pages_still_wanted(
    captured: int, needless: bool
) -> None:
    recipe = recipe_for([], pacing=PACE, plenty=5, max_pages=10)

    class Frontier:
        async def stats(self) -> FrontierStats:
            return FrontierStats(captured + 12, 12, 0, {}, 0, captured)

    async def refused() -> bool:
        io: Any = SimpleNamespace(frontier=Frontier(), ledger=None)
        robots: Any = None
        gate = Gate(recipe, io, robots, LimitsInForce(recipe))
        return await gate.superfluous_sitemap(SEEDS[0]) is not None

    assert asyncio.run(refused()) is needless

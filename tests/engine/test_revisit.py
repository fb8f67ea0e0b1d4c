"""The record of a page that is requested again is read once per visit, and is up to date."""

import asyncio

import msgspec
import pytest

from sumi.engine.revisit import Revisits, unchanged_facts
from sumi.model import Candidate, Lease, PageFacts, Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy
from sumi.ports import Judged, Settlement, UrlRecord
from sumi.state.memory import MemoryStore
from tests.engine.world import UNPACED, Answer, crawled, recipe_for, web_of

URL = "https://a.test/x"


class Counted(MemoryStore):
    """Notes how often a record was read."""

    reads = 0

    async def record(self, url: str) -> UrlRecord | None:
        self.reads += 1
        return await super().record(url)


def test_a_page_that_comes_twice_in_one_run_is_compared_with_what_came_last() -> None:
    async def scenario() -> list[str | None]:
        store = MemoryStore(FrontierPolicy(UNPACED), 0.0)
        revisits = Revisits(store, active=True, trust_dates=False)
        await store.add([Judged(Candidate(URL))])
        etags = []
        for etag in ("one", "two", "three"):
            [lease] = await store.lease(1, 1.0)
            before = await revisits.before(lease)
            etags.append(before.etag if before is not None else None)
            facts = PageFacts(path="a.test/x/index.md", etag=etag)
            await store.settle([Settlement(lease, Verdict(Outcome.CAPTURED), 1.0, facts)])
            await store.requeue([URL], 1.0)
        return etags

    assert asyncio.run(scenario()) == [None, "one", "two"]


def test_a_visit_reads_the_record_of_its_page_once() -> None:
    world = crawled(web_of({URL: Answer()}), recipe_for([URL], revisit=True), open_store=Counted)
    assert isinstance(world.store, Counted)
    assert world.store.reads == 1


@pytest.mark.parametrize(("asked_at", "recorded"), [(99.0, None), (100.0, None), (101.0, 100.0)])
def test_a_date_that_lies_ahead_of_the_request_proves_nothing_later(
    asked_at: float, recorded: float | None
) -> None:
    """The page may have been changed once more by then, under the same date."""
    revisits = Revisits(MemoryStore(FrontierPolicy(UNPACED), 0.0), active=True, trust_dates=True)
    revisits.listed({URL: 100.0})
    lease = Lease(Candidate(URL), "a.test", 1, 9.0, 0)
    settlement = Settlement(lease, Verdict(Outcome.CAPTURED), asked_at, PageFacts(path="a.test/x/index.md"))
    assert revisits.dated(settlement, asked_at).facts.lastmod == recorded


def test_a_304_without_validators_leaves_those_that_are_known() -> None:
    before = PageFacts(path="a.test/x/index.md", etag='"1"', last_modified="Mon, 02 Nov 2026 10:00:00 GMT")
    said = Response(URL, 304, (), b"", Timing(1.0, 1.0, 1.0))
    assert unchanged_facts(before, said) == before
    newer = unchanged_facts(before, msgspec.structs.replace(said, headers=(("etag", '"2"'),)))
    assert (newer.etag, newer.last_modified) == ('"2"', before.last_modified)

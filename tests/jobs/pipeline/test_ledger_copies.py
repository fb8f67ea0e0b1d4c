"""Files that follow the ledger get a page only after its record is durable."""

import asyncio
from functools import partial

from sumi.engine.io import SystemClock
from sumi.jobs.pipeline.ledger_copies import LedgerCopies
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
from sumi.ports import UrlRecord
from sumi.state.memory import MemoryStore


def record(url: str) -> UrlRecord:
    return UrlRecord(url, Hop.LINK, Kind.PAGE, 1, None, Outcome.CAPTURED, "HTTP 200", 1.0, 0, PageFacts())


def test_a_page_waits_for_the_second_sync_after_it_was_settled() -> None:
    """The first sync may have begun before the record was written."""
    copies = LedgerCopies([], SystemClock())
    first, second = record("https://a.test/1"), record("https://a.test/2")
    copies.settled(first)
    assert copies.take_due() == []
    copies.settled(second)
    assert copies.take_due() == [first]
    assert copies.take_due() == [second]
    assert copies.take_due() == []


def test_a_run_that_resumes_killed_ones_began_with_the_first_of_them() -> None:
    async def began() -> list[float]:
        ledger, starts = MemoryStore(FrontierPolicy(), 0.0), []
        for now in (10.0, 20.0, 30.0, 40.0):
            copies = LedgerCopies([], SystemClock(partial(float, now), partial(float, 0)))
            await copies.load(ledger, lambda _facts: True)
            starts.append(copies.since)
            if now == 30.0:  # the others are killed
                await copies.finish(ledger, lambda _facts: True, is_over=True)
        return starts

    assert asyncio.run(began()) == [10.0, 10.0, 10.0, 40.0]

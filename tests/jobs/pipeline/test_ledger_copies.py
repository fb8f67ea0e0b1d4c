"""Files that follow the ledger get a page only after its record is durable."""

from sumi.engine.io import SystemClock
from sumi.jobs.pipeline.ledger_copies import LedgerCopies
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord


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

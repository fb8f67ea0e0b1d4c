"""Which URL of several with one text is the page does not depend on which response was the fastest."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from itertools import permutations
from typing import cast

from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.groups import Named, chosen, settle_groups
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Ledger, UrlRecord


def test_the_one_found_nearest_to_the_start_is_the_page_and_the_first_of_these() -> None:
    assert chosen([Named("far", 2, None), Named("near", 1, None), Named("too", 1, None)]) == "near"


def test_the_one_that_they_call_canonical_is_the_page() -> None:
    for members in permutations([Named("a", 0, "b"), Named("b", 3, "b"), Named("c", 1, None)]):
        assert chosen(members) == "b"


def test_a_canonical_url_elsewhere_has_no_say() -> None:
    assert chosen([Named("a", 0, "z"), Named("b", 0, "z")]) == "a"


def test_of_two_canonical_ones_more_voices_decide() -> None:
    assert chosen([Named("a", 0, "a"), Named("b", 0, "c"), Named("c", 0, "c")]) == "c"


class Written:
    """A ledger with these records, and the groups that are named after it."""

    def __init__(self, *records: UrlRecord) -> None:
        self._records = records
        self.groups: list[tuple[str, list[str]]] = []

    async def records(self, outcomes: Collection[Outcome]) -> AsyncIterator[UrlRecord]:
        for record in self._records:
            if record.outcome in outcomes:
                yield record

    def name_group(self, job_id: str, first: str, page: str, urls: Sequence[str]) -> None:
        self.groups.append((page, sorted(urls)))


def test_pages_that_two_machines_kept_with_one_text_are_one_group() -> None:
    def record(url: str, outcome: Outcome, duplicate_of: str | None = None) -> UrlRecord:
        facts = PageFacts(content_key="00aa", duplicate_of=duplicate_of)
        return UrlRecord(url, Hop.LINK, Kind.PAGE, 1, None, outcome, "", 1.0, 0, facts)

    found = Written(
        record("a", Outcome.CAPTURED),
        record("b", Outcome.DUPLICATE, "a"),
        record("c", Outcome.CAPTURED),
        record("d", Outcome.DUPLICATE, "c"),
    )
    asyncio.run(settle_groups(cast("Ledger", found), cast("CaptureDatabase", found), "job", lambda url: 0))
    assert found.groups == [("a", ["a", "b", "c", "d"])]

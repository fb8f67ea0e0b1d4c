"""The trajectory: an edge for every page that was kept, from the page on which it was found."""

import csv
from collections.abc import Iterator
from typing import Final

from sumi.jobs.pipeline.page_rows import identity, is_kept_page, second_of
from sumi.jobs.pipeline.pages_csv import joined
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord

COLUMNS: Final = ("timestamp", "source", "target", "hop", "depth", "page_type")


class TrajectoryCsv:
    """Implements ``sumi.jobs.pipeline.ledger_copies.LineFormat``. A seed has no source."""

    header = (",".join(COLUMNS) + "\n").encode()

    def line(self, record: UrlRecord) -> bytes | None:
        if not is_kept_page(record) or record.outcome is Outcome.UNCHANGED:
            return None  # to come again is no step of the way
        page_type = record.facts.page_type or ""
        source = record.referrer or ""
        return joined([second_of(record), source, record.url, record.hop.value, record.depth, page_type])

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for row in csv.reader(line.decode("utf-8", "replace") for line in lines):
            if len(row) == len(COLUMNS) and row[0].isdecimal():
                yield identity(row[2], int(row[0]))

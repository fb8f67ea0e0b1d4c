"""The counters of a run, and the metrics CSV that they are written to every few seconds."""

from collections import Counter
from pathlib import Path
from typing import Final

from sumi.events import Event, PageDeferred
from sumi.files.growing_file import GrowingFile
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.jobs.pipeline.ledger_copies import is_up_to_date_page, was_not_modified
from sumi.model import Kind
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.ports import Clock, UrlRecord

HEADER: Final = b"timestamp,metric,value\n"


class PageCounts:
    """Counts the pages of this run by their outcomes."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, PageDeferred):
            self._counts["retries"] += 1

    def settled(self, record: UrlRecord) -> None:
        if record.kind is not Kind.PAGE:
            return
        facts = record.facts
        if facts.status is not None:
            status = NOT_MODIFIED if was_not_modified(record) else facts.status
            self._counts["pages_fetched"] += 1
            self._counts[f"status_{status // 100}xx"] += 1
        if was_not_modified(record):
            self._counts["not_modified_304"] += 1
        elif is_up_to_date_page(record):
            self._counts["pages_saved"] += 1
            self._counts["bytes_saved"] += facts.body_bytes or 0
            self._counts["links_extracted"] += facts.links or 0
        elif record.outcome is Outcome.NOT_HTML:
            self._counts["not_html"] += 1
        elif MEANINGS[record.outcome].ending is Ending.FAILED:
            self._counts["fetch_fail"] += 1
        elif MEANINGS[record.outcome].ending is Ending.PASSED_OVER:
            self._counts["policy_denied"] += 1

    def lines(self, second: int) -> list[bytes]:
        return [f"{second},{name},{count}".encode() for name, count in sorted(self._counts.items())]


class MetricsCsv:
    """Appends all counters every ``interval`` seconds, and once more at the end."""

    def __init__(self, path: Path, counts: PageCounts, interval: float, clock: Clock) -> None:
        self._file = GrowingFile(path)
        self._counts = counts
        self._interval = interval
        self._clock = clock
        self._due = clock.now() + interval

    def __call__(self, event: Event) -> None:
        """Called with every event, several times a second during a run."""
        if self._clock.now() >= self._due:
            self.flush()

    def flush(self) -> None:
        self._due = self._clock.now() + self._interval
        lines = self._counts.lines(int(self._clock.now()))
        if lines:
            self._file.append(lines, HEADER)

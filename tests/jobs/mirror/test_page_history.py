"""A mirror's history has every state that a page was in, also of runs that were killed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from sumi.files.safe_files import SafeFolder
from sumi.history.recorder import HistoryRecorder
from sumi.jobs.mirror.page_history import PageHistory
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.ports import UrlRecord

URL = "https://a.test/page"


class Ended:
    """A ledger in which the page is gone."""

    async def records(self, _outcomes: object = None) -> AsyncIterator[UrlRecord]:
        facts = PageFacts(was_path="a.test/page.md")
        yield UrlRecord(URL, Hop.LINK, Kind.PAGE, 1, None, Outcome.GONE, "HTTP 404", 2.0, 0, facts)


def test_that_a_killed_run_found_a_page_gone_is_recorded_before_the_page_returns(tmp_path: Path) -> None:
    files = SafeFolder(tmp_path)
    first = HistoryRecorder(tmp_path / "history", lambda: 1.0)
    first.page(URL, b"one\n", PageFacts(), 1.0)
    first.close()
    recorder = HistoryRecorder(tmp_path / "history", lambda: 3.0)
    ledger: Any = Ended()
    asyncio.run(PageHistory(recorder, files, "a.test").load(ledger, had_pages=True))
    recorder.page(URL, b"one\n", PageFacts(), 3.0)
    assert [str(version.kind) for version in recorder.store.versions(URL)] == ["added", "gone", "back"]
    recorder.close()
    files.close()

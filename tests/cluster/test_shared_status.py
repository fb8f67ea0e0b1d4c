"""What ``sumi status`` notes about a job in a database that needs attention."""

import asyncio
from typing import Any, cast

from sumi.inspection.shared_jobs import LONG_TRANSACTION, MUCH_MAIL, _notes
from sumi.state.cluster.jobs import JobRow


class Snapshot:
    job = JobRow(1, "docs", "mirror", "{}", "", "ready", "", None)

    def __init__(self, letters: int, oldest: float) -> None:
        self._letters = letters
        self._oldest = oldest

    async def letters(self) -> int:
        return self._letters

    async def oldest_transaction(self) -> float:
        return self._oldest


def notes(letters: int = 0, oldest: float = 0.0) -> list[str]:
    return list(asyncio.run(_notes(cast("Any", Snapshot(letters, oldest)), [])))[1:]


def test_a_long_transaction_and_much_mail_are_noted() -> None:
    assert notes() == notes(MUCH_MAIL, LONG_TRANSACTION) == []
    (note,) = notes(oldest=25 * 60)
    assert "open for 25 minutes" in note
    (note,) = notes(letters=MUCH_MAIL + 1)
    assert note.startswith("10,001 letters wait")

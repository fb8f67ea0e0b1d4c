"""Whatever joins, leaves or moves up in a queue of a map, the next page is the nearest that waits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.store.caches import QueueAhead
from sumi.state.database.rows import FIRST_RANK, Change, Rank, Row
from sumi.state.entries import State
from sumi.state.sqlite.rows import SqliteRows
from tests.stored_rows import waiting_row

NUMBERS = count()
# A step: what is done to which page, and a depth. Several are written together, as a batch of pages is.
STEPS = ("join", "closer", "closer", "take", "take", "put back", "let go")
steps = st.tuples(st.sampled_from(STEPS), st.integers(0, 20), st.integers(0, 6))
batches = st.lists(st.lists(steps, min_size=1, max_size=6), max_size=30)
# So many hosts with work that only a few of each are read at a time, and so few that many are.
busy_hosts = st.sampled_from([50_000, 20_000, 10])


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteRows]:
    opened = SqliteRows(Path(tmp_path_factory.mktemp("queues")) / "state.sqlite", strict=False)
    yield opened
    opened.close()


@dataclass
class Queue:
    """The queue of one host, as stored and as expected."""

    rows: SqliteRows
    ahead: QueueAhead
    host: str
    held: set[int]
    stored: dict[int, Row] = field(default_factory=dict)
    drafts: dict[int, Row] = field(default_factory=dict)  # to be written

    def step(self, what: str, which: int, depth: int) -> None:
        if what == "join":
            self._enter(self._row(next(NUMBERS), depth))
        elif what == "closer":
            self._move_up([row for row in self._waiting() if row.depth > depth], which, depth)
        elif what == "put back":
            self._put_back(which)
        elif what == "let go" and self.held:
            number = sorted(self.held)[which % len(self.held)]
            self.held.discard(number)  # its lease ran out: nothing about it is written
            self.ahead.reconsider(self.host, self.stored[number].rank)
        elif what == "take":
            self.write()
            self.take()

    def write(self) -> None:
        inserted = sorted(row for number, row in self.drafts.items() if number not in self.stored)
        updated = [(self.stored[n], row) for n, row in self.drafts.items() if n in self.stored]
        self.rows.write(Change(inserted=inserted, updated=updated))
        self.ahead.written(inserted, updated)
        self.stored |= self.drafts
        self.drafts.clear()

    def take(self) -> None:
        nearest: Rank | None = min((row.rank for row in self._waiting()), default=None)
        assert self.ahead.first(self.host, FIRST_RANK) == nearest
        if nearest is not None:
            self.held.add(nearest[3])
            self.ahead.take(self.host)

    def _enter(self, row: Row) -> None:
        self.drafts[row.id] = row
        self.ahead.reconsider(self.host, row.rank)

    def _move_up(self, movable: list[Row], which: int, depth: int) -> None:
        if movable:
            row = movable[which % len(movable)]
            self.ahead.reconsider(self.host, row.rank)
            self._enter(row._replace(depth=depth))

    def _put_back(self, which: int) -> None:
        """For a retry: delayed, written, and soon due."""
        if self.held:
            number = sorted(self.held)[which % len(self.held)]
            self.write()
            self.drafts[number] = self.stored[number]._replace(state=State.DELAYED.value, due=1.0)
            self.held.discard(number)
            self.write()
            self._enter(self.stored[number]._replace(state=State.WAITING.value, due=None))

    def _waiting(self) -> list[Row]:
        rows = (self.stored | self.drafts).values()
        return [row for row in rows if row.id not in self.held]

    def _row(self, number: int, depth: int) -> Row:
        url = f"https://{self.host}/{number}"
        return waiting_row(number, url, self.host, depth)


@given(batches, busy_hosts)
def test_the_next_is_the_nearest_that_waits(
    rows: SqliteRows, work: list[list[tuple[str, int, int]]], hosts: int
) -> None:
    held: set[int] = set()
    queue = Queue(rows, QueueAhead(rows, range(hosts), held), f"{next(NUMBERS)}.test", held)
    for batch in work:
        for what, which, depth in batch:
            queue.step(what, which, depth)
        queue.write()
    for _ in range(len(queue.stored) - len(held) + 1):
        queue.take()
    assert held == set(queue.stored)

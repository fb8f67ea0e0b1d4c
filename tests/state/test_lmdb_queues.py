"""Queues in LMDB hold what waits, whatever places of ended pages are still in the file, also after a kill."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.errors import StorageFailed
from sumi.state.database.rows import FIRST_RANK, AttemptRow, Change, Row
from sumi.state.entries import State
from sumi.state.lmdb.rows import LmdbRows
from tests.stored_rows import waiting_row
from tests.thoroughness import usually

HOSTS = ("a.test", "b.test", "c.test")
ROWS = 24
FARTHEST = 9
steps = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["end", "again", "closer", "fail"]),
            st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=4),
        ),
        st.tuples(st.sampled_from(["kill", "close"]), st.just(set())),
    ),
    max_size=30,
)


class FewLeftBehind(LmdbRows):
    most_stale = 5
    removed_at_once = 1
    disk_is_full = False

    def _put(self, tx: lmdb.Transaction, change: Change) -> None:
        super()._put(tx, change)
        if self.disk_is_full:
            raise lmdb.DiskError("no room")


def found_row(number: int) -> Row:
    host = HOSTS[number % len(HOSTS)]
    return waiting_row(number, f"https://{host}/{number}", host, depth=FARTHEST - number % 2)


class Queues:
    """The rows as they should be, beside the database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = 0
        self._serial = 0
        self.db = self._open()
        self.rows = {number: found_row(number) for number in range(ROWS)}
        self.db.write(Change(inserted=list(self.rows.values())))

    def _open(self) -> FewLeftBehind:
        return FewLeftBehind(self._folder / f"{self._turn}.lmdb", strict=False)

    def end(self, numbers: set[int]) -> None:
        waiting = [n for n in sorted(numbers) if self.rows[n].state == State.WAITING]
        change = Change()
        for number in waiting:
            self._serial += 1
            old = self.rows[number]
            new = old._replace(state=State.SETTLED.value, outcome="captured", latest=self._serial)
            change.updated.append((old, new))
            change.attempts.append(AttemptRow(self._serial, old.latest, number, 1.0, "captured", ""))
        self._write(change)

    def again(self, numbers: set[int]) -> None:
        ended = [n for n in sorted(numbers) if self.rows[n].state == State.SETTLED]
        change = Change()
        for number in ended:
            old = self.rows[number]
            change.updated.append((old, old._replace(state=State.WAITING.value, outcome=None)))
        self._write(change)

    def closer(self, numbers: set[int]) -> None:
        """A shorter way was found to pages that wait."""
        waiting = [self.rows[n] for n in sorted(numbers) if self.rows[n].state == State.WAITING]
        nearer = [(row, row._replace(depth=row.depth - 1)) for row in waiting if row.depth]
        self._write(Change(updated=nearer))

    def _write(self, change: Change) -> None:
        self.db.write(change)
        self.rows.update((new.id, new) for _, new in change.updated)

    def close(self) -> None:
        self.db.close()
        self.db = self._open()

    def fail(self, numbers: set[int]) -> None:
        """Pages end, but the write fails: the store is closed in good order, and another one opens."""
        self.db.disk_is_full = True
        before = dict(self.rows)
        with pytest.raises(StorageFailed, match="no room"):
            self.end(numbers)
        assert self.rows == before
        self.close()

    def kill(self) -> None:
        """What is in the file at this moment, opened by another one."""
        before = self._folder / f"{self._turn}.lmdb"
        self._turn += 1
        shutil.copy(before, self._folder / f"{self._turn}.lmdb")
        self.db.close()
        self.db = self._open()

    def check(self) -> None:
        waiting = [row for row in self.rows.values() if row.state == State.WAITING]
        for host in HOSTS:
            expected = sorted(row.rank for row in waiting if row.host == host)
            assert self.db.queue(host, FIRST_RANK, ROWS) == expected
            assert self.db.queue(host, FIRST_RANK, 2) == expected[:2]
        counts = {host.host: host.waiting for host in self.db.open_hosts()}
        assert counts == Counter(row.host for row in waiting)


@settings(max_examples=usually(30, 100))
@given(steps)
def test_a_queue_holds_what_waits(script: list[tuple[str, set[int]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        queues = Queues(Path(folder))
        for what, numbers in script:
            match what:
                case "end":
                    queues.end(numbers)
                case "again":
                    queues.again(numbers)
                case "closer":
                    queues.closer(numbers)
                case "fail":
                    queues.fail(numbers)
                case "close":
                    queues.close()
                case _:
                    queues.kill()
            queues.check()
        queues.db.close()


@pytest.mark.parametrize("number", range(5))
def test_a_page_that_moved_up_between_two_ends_leaves_the_place_that_it_had_last(
    tmp_path: Path, number: int
) -> None:
    queues = Queues(tmp_path)
    queues.end(set(range(5)))  # from now on one of them is taken out with each write
    for step in (queues.again, queues.closer, queues.end, queues.end, queues.end):
        step({number})
        queues.check()
    queues.db.close()


def test_a_reader_counts_what_waits(tmp_path: Path) -> None:
    queues = Queues(tmp_path)
    queues.end({0, 3, 6})
    shutil.copy(tmp_path / "0.lmdb", tmp_path / "copy.lmdb")
    onlooker = LmdbRows(tmp_path / "copy.lmdb", strict=False, readonly=True)
    assert {host.host: host.waiting for host in onlooker.open_hosts()} == {
        "a.test": 5,
        "b.test": 8,
        "c.test": 8,
    }
    onlooker.close()
    queues.db.close()

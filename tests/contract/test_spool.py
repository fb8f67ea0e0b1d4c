"""Spool: every line appended is taken once, in order, across rotations and restarts of either side."""

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sumi.ports import SpoolPlace
from sumi.store.spool import SpoolReader, SpoolWriter, read_bookmark, segments, spool_bytes_after

SEGMENT_BYTES = 60
NOW = 1_700_000_000.0


class SpoolMachine(RuleBasedStateMachine):
    """One side appends and is killed now and then; the other takes, acknowledges and is killed, too."""

    factory: pytest.TempPathFactory

    @initialize()
    def begin(self) -> None:
        self.folder = self.factory.mktemp("spool")
        self.bookmark = self.folder / "bookmark.json"
        self.appended: list[bytes] = []
        self.taken = self.saved = self.acked = 0
        self.ends: list[SpoolPlace] = []
        self.writer = SpoolWriter(self.folder, SEGMENT_BYTES, NOW)
        self.reader = SpoolReader(self.folder, self.bookmark)

    @rule(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=4), later=st.integers(0, 2))
    def append(self, sizes: list[int], later: int) -> None:
        lines = [b"%d:" % (len(self.appended) + n) + b"x" * size for n, size in enumerate(sizes)]
        self.writer.append(lines, NOW + later)
        self.appended += lines

    @rule(torn=st.binary(max_size=20).filter(lambda data: b"\n" not in data))
    def kill_the_writer(self, torn: bytes) -> None:
        self.writer.close()
        with (self.folder / segments(self.folder)[-1]).open("ab") as file:
            file.write(torn)
        self.writer = SpoolWriter(self.folder, SEGMENT_BYTES, NOW)

    @rule(limit=st.integers(1, 5))
    def take(self, limit: int) -> None:
        lines = self.reader.take(limit)
        assert len(lines) <= limit
        assert [line.data for line in lines] == self.appended[self.taken : self.taken + len(lines)]
        assert bool(lines) == (self.taken < len(self.appended))
        self.taken += len(lines)
        del self.ends[self.taken - len(lines) :]
        self.ends += [line.after for line in lines]

    @rule(share=st.floats(0, 1))
    def acknowledge(self, share: float) -> None:
        count = int(share * self.taken)
        if count > self.acked:
            self.reader.ack(self.ends[count - 1])
            self.acked = count
        self.reader.save()
        self.saved = self.acked

    @rule()
    def kill_the_reader(self) -> None:
        self.reader = SpoolReader(self.folder, self.bookmark)
        assert self.reader.problem == ""
        self.taken = self.acked = self.saved
        del self.ends[self.taken :]

    def teardown(self) -> None:
        self.writer.close()

    @invariant()
    def what_is_unread_is_counted(self) -> None:
        if hasattr(self, "reader"):
            rest = sum(len(line) + 1 for line in self.appended[self.acked :])
            assert spool_bytes_after(self.folder, self.reader.place) == rest


def test_any_order_of_events(tmp_path_factory: pytest.TempPathFactory) -> None:
    class Machine(SpoolMachine):
        factory = tmp_path_factory

    Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
    Machine.TestCase().runTest()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("not json", "cannot be read"),
        ('{"file": "../../x", "offset": 0}', "cannot be read"),
        ('{"file": "discoveries-0000000001.jsonl", "offset": 0}', "which is gone"),
        ('{"file": "discoveries-1700000000.jsonl", "offset": 3}', "points into a line"),
        ('{"file": "discoveries-1700000000.jsonl", "offset": 999}', "points into a line"),
    ],
)
def test_a_bookmark_that_cannot_be_used_costs_no_line(tmp_path: Path, text: str, problem: str) -> None:
    writer = SpoolWriter(tmp_path, SEGMENT_BYTES, NOW)
    writer.append([b"one", b"two"], NOW)
    writer.close()
    (tmp_path / "bookmark.json").write_text(text)
    reader = SpoolReader(tmp_path, tmp_path / "bookmark.json")
    assert problem in reader.problem
    assert [line.data for line in reader.take(10)] == [b"one", b"two"]


def test_a_line_beyond_all_measure_does_not_fill_the_memory_or_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "discoveries-1700000000.jsonl").write_bytes(b"x" * 3_000_000 + b"\nnext\n")
    reader = SpoolReader(tmp_path, tmp_path / "bookmark.json")
    taken = []
    while lines := reader.take(10):
        taken += [line.data for line in lines]
    assert taken[-1] == b"next"
    assert max(map(len, taken)) <= 1024 * 1024


def test_no_bookmark_means_the_start(tmp_path: Path) -> None:
    assert read_bookmark(tmp_path / "bookmark.json") == SpoolPlace("", 0)

"""Spool: every line appended is taken once, in order, across rotations and restarts of either side."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sumi.jobs.pipeline.spool import Bookmark, SpoolWriter, list_spool, natural_order, read_bookmark, segments
from sumi.jobs.pipeline.spool_reader import (
    SKIPPED_NOTE,
    SkippedLines,
    SpoolLine,
    SpoolPlace,
    SpoolReader,
    lines_skipped,
    unread_bytes,
)
from sumi.policy import FrontierPolicy
from sumi.state.memory import MemoryStore
from tests.thoroughness import usually

SEGMENT_BYTES = 60
NOW = 1_700_000_000.0


class SpoolMachine(RuleBasedStateMachine):
    """One side appends and is killed now and then; the other takes, acknowledges and is killed, too."""

    factory: pytest.TempPathFactory

    @initialize()
    def begin(self) -> None:
        self.folder = self.factory.mktemp("spool")
        self.bookmark = self.folder / ".bookmark.json"
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
            for end in self.ends[self.acked : count]:
                self.reader.ack(end)
            self.acked = count
        self.reader.save()
        self.saved = self.acked

    @rule()
    def kill_the_reader(self) -> None:
        self.reader = SpoolReader(self.folder, self.bookmark)
        assert self.reader.problems == []
        self.taken = self.acked = self.saved
        del self.ends[self.taken :]

    def teardown(self) -> None:
        self.writer.close()

    @invariant()
    def what_is_unread_is_counted(self) -> None:
        if hasattr(self, "reader"):
            rest = sum(len(line) + 1 for line in self.appended[self.saved :])
            assert unread_bytes(self.folder, self.bookmark) == rest


def test_any_order_of_events(tmp_path_factory: pytest.TempPathFactory) -> None:
    class Machine(SpoolMachine):
        factory = tmp_path_factory

    Machine.TestCase.settings = settings(max_examples=usually(20, 60), stateful_step_count=25)
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
    assert problem in reader.problems[0]
    assert [line.data for line in reader.take(10)] == [b"one", b"two"]


def test_a_line_beyond_all_measure_is_one_line_and_does_not_fill_the_memory_or_stop_the_rest(
    tmp_path: Path,
) -> None:
    (tmp_path / NAME).write_bytes(b"first\n" + b"x" * 3_000_000)
    reader = SpoolReader(tmp_path, tmp_path / "bookmark.json")
    assert [line.data for line in taken_from(reader)] == [b"first"]
    assert [place.offset for place in reader.rest().unfinished] == [6]
    with (tmp_path / NAME).open("ab") as file:
        file.write(b"y" * 2_000_000 + b"\nnext\n")
    endless, following = taken_from(reader)
    assert (endless.data, endless.too_long, endless.place.offset) == (b"", True, 6)
    assert (following.data, reader.line_number(following.place)) == (b"next", 3)
    assert reader.line_number(endless.place) == 2


def test_no_bookmark_means_the_start(tmp_path: Path) -> None:
    assert read_bookmark(tmp_path / "bookmark.json") == Bookmark()


NAME = "discoveries-1700000000.jsonl"


def taken_from(reader: SpoolReader) -> list[SpoolLine]:
    taken: list[SpoolLine] = []
    while lines := reader.take(10):
        taken += lines
    return taken


def test_files_are_read_in_the_order_of_their_names_with_numbers_as_numbers(tmp_path: Path) -> None:
    names = [
        "discoveries-2.jsonl",
        "discoveries-10.jsonl",
        NAME,
        "discoveries-a.jsonl",
        "discoveries-b2.jsonl",
    ]
    for name in reversed(names):
        (tmp_path / name).write_text(f"{name}\n")
    reader = SpoolReader(tmp_path, tmp_path / "bookmark.json")
    assert [line.data.decode() for line in taken_from(reader)] == names


@given(st.lists(st.text("0123456789ab-²", min_size=1, max_size=8), unique=True))
def test_any_names_have_one_order(names: list[str]) -> None:
    assert sorted(names, key=natural_order) == sorted(sorted(names), key=natural_order)


def test_a_file_that_comes_or_grows_later_is_read_wherever_its_name_puts_it(tmp_path: Path) -> None:
    bookmark = tmp_path / ".bookmark.json"
    expected = []
    for name in ("discoveries-m.jsonl", "discoveries-a.jsonl", "discoveries-z.jsonl", "discoveries-a.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write("line\n")
        reader = SpoolReader(tmp_path, bookmark)  # a run each
        assert reader.problems == []
        (line,) = taken_from(reader)
        expected.append(line.place.file)
        reader.ack(line.after)
        reader.save()
    assert expected == [
        "discoveries-m.jsonl",
        "discoveries-a.jsonl",
        "discoveries-z.jsonl",
        "discoveries-a.jsonl",
    ]
    assert unread_bytes(tmp_path, bookmark) == 0


def test_a_bookmark_of_an_earlier_version_stands_for_all_files_that_were_read_then(tmp_path: Path) -> None:
    for name in ("discoveries-1600000000.jsonl", NAME, "discoveries-1800000000.jsonl", "discoveries-x.jsonl"):
        (tmp_path / name).write_text("one\ntwo\n")
    bookmark = tmp_path / ".bookmark.json"
    bookmark.write_text(f'{{"file":"{NAME}","offset":4}}')
    taken = [(line.place.file, line.data) for line in taken_from(SpoolReader(tmp_path, bookmark))]
    others = [
        (name, text)
        for name in ("discoveries-1800000000.jsonl", "discoveries-x.jsonl")
        for text in (b"one", b"two")
    ]
    assert taken == [(NAME, b"two"), *others]


def test_what_is_not_read_is_known_by_name(tmp_path: Path) -> None:
    for name in ("notes.txt", "discoveries.jsonl", "discoveries-1.jsonl.gz", "discoveries-1.json", ".draft"):
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "discoveries-folder.jsonl").mkdir()
    (tmp_path / "discoveries-link.jsonl").symlink_to(tmp_path / "notes.txt")
    os.mkfifo(tmp_path / "discoveries-pipe.jsonl")
    reader = SpoolReader(tmp_path, tmp_path / ".bookmark.json")
    assert taken_from(reader) == []
    assert sorted(reader.rest().ignored) == [
        "discoveries-1.json",
        "discoveries-1.jsonl.gz",
        "discoveries-folder.jsonl",
        "discoveries-link.jsonl",
        "discoveries-pipe.jsonl",
        "discoveries.jsonl",
        "notes.txt",
    ]


def test_a_whole_last_line_is_taken_without_its_end_and_never_again(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"a":1}\n{"b":2}')
    (tmp_path / "discoveries-torn.jsonl").write_bytes(b'{"c":')
    bookmark = tmp_path / ".bookmark.json"
    reader = SpoolReader(tmp_path, bookmark)
    lines = taken_from(reader) + reader.take_unended()
    assert [line.data for line in lines] == [b'{"a":1}', b'{"b":2}']
    assert [place.file for place in reader.rest().unfinished] == ["discoveries-torn.jsonl"]
    reader.ack(lines[-1].after)
    reader.save()
    assert SpoolReader(tmp_path, bookmark).problems == []
    writer = SpoolWriter(tmp_path, SEGMENT_BYTES, NOW)  # leaves it whole, so that nothing moves
    writer.append([b'{"d":4}'], NOW)
    writer.close()
    reader = SpoolReader(tmp_path, bookmark)
    assert [line.data for line in taken_from(reader)] == [b'{"d":4}']
    assert reader.problems == []


def test_a_torn_last_line_of_the_crawler_is_cut_off_by_it(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"a":1}\n{"b":')
    SpoolWriter(tmp_path, SEGMENT_BYTES, NOW).close()
    assert (tmp_path / NAME).read_bytes() == b'{"a":1}\n'
    assert list_spool(tmp_path).sizes == {NAME: 8}


def test_a_full_segment_is_followed_by_another_within_the_same_second(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path, 10, NOW)
    for _ in range(3):
        writer.append([b"x" * 20], NOW)
    writer.close()
    assert [(tmp_path / name).stat().st_size for name in segments(tmp_path)] == [21, 21, 21]


def test_a_bad_line_that_is_read_again_after_a_kill_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "discoveries-1.jsonl").write_bytes(b"{\n[\n")

    async def lives() -> list[int]:
        counts, ledger = [], MemoryStore(FrontierPolicy(), 0.0)
        for _ in "ab":  # killed before its bookmark was saved
            reader = SpoolReader(tmp_path, tmp_path / ".bookmark.json")
            skipped = SkippedLines(reader, ledger, lambda event: None)
            await skipped.load()
            for line in reader.take(9):
                skipped.skip(line, "it is not JSON")
            await skipped.note()
            counts.append(lines_skipped(await ledger.get_note(SKIPPED_NOTE)))
        return counts

    assert asyncio.run(lives()) == [2, 2]

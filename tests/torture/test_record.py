"""A torture run that was interrupted goes on where it was; one of other sources or options begins anew."""

from pathlib import Path

from tests.torture.record import Record, Tried, Try

FIRST, SECOND = (Try("files", "first run", "write", "signal=KILL", when) for when in (1, 2))


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Record(path, "all")
    record.plan("files", (FIRST, SECOND))
    record.note(Tried(FIRST, ("lost: /",), True, 1.0))
    again = Record(path, "all")
    assert again.belongs
    assert again.left("files") == [SECOND]
    assert again.tried[FIRST].wrong == ("lost: /",)


def test_a_torn_line_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Record(path, "all")
    record.plan("files", (FIRST, SECOND))
    whole = path.read_bytes()
    record.note(Tried(FIRST, (), True, 1.0))
    path.write_bytes(path.read_bytes()[:-5])
    again = Record(path, "all")
    assert again.left("files") == [FIRST, SECOND]
    assert path.read_bytes() == whole
    again.note(Tried(SECOND, (), True, 1.0))
    assert Record(path, "all").left("files") == [FIRST]


def test_other_options_do_not_go_on_with_it(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, "all").plan("files", (FIRST, SECOND))
    before = path.read_bytes()
    assert not Record(path, "quick").belongs
    assert path.read_bytes() == before

"""The journal gives back what was written, cuts off a torn tail, and refuses a damaged middle."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import StateDamaged, StorageFailed
from sumi.state.journal.journal import Journal, Place, frame, unframe


def read_all(folder: Path) -> list[bytes]:
    journal = Journal(folder)
    try:
        return [payload for _, payload in journal.replay()]
    finally:
        journal.close()


def write(folder: Path, payloads: list[bytes], segment_bytes: int = 1 << 20) -> list[Place]:
    journal = Journal(folder, segment_bytes)
    places = [place for payload in payloads for place in journal.append([payload])]
    journal.close()
    return places


@given(st.binary().filter(lambda b: b"\n" not in b))
def test_a_line_survives_framing(payload: bytes) -> None:
    assert unframe(frame(payload)) == payload


@given(st.binary(min_size=1, max_size=40).filter(lambda b: b"\n" not in b), st.data())
def test_any_damage_to_a_line_is_noticed(payload: bytes, data: st.DataObject) -> None:
    line = bytearray(frame(payload))
    index = data.draw(st.integers(0, len(line) - 1))
    line[index] ^= data.draw(st.integers(1, 255))
    assert unframe(bytes(line)) is None
    assert unframe(frame(payload)[:index]) is None


def test_what_was_appended_is_replayed_and_can_be_read_again(tmp_path: Path) -> None:
    payloads = [b'{"n":%d}' % n for n in range(200)]
    places = write(tmp_path, payloads, segment_bytes=1000)
    assert len(list(tmp_path.glob("journal-*.log"))) > 1
    assert read_all(tmp_path) == payloads
    journal = Journal(tmp_path)
    assert [journal.read(place) for place in places] == payloads
    journal.close()


def test_a_tail_torn_at_any_byte_costs_only_the_torn_record(tmp_path: Path) -> None:
    write(tmp_path, [b"first", b"second", b"third"])
    path = tmp_path / "journal-000001.log"
    whole = path.read_bytes()
    start_of_last = len(whole) - len(frame(b"third"))
    for cut in range(start_of_last, len(whole)):
        path.write_bytes(whole[:cut])
        assert read_all(tmp_path) == [b"first", b"second"]
        assert path.stat().st_size == start_of_last  # repaired, so that the next record is readable


def test_records_after_a_repaired_tail_are_readable(tmp_path: Path) -> None:
    write(tmp_path, [b"first", b"second"])
    path = tmp_path / "journal-000001.log"
    path.write_bytes(path.read_bytes()[:-3])
    journal = Journal(tmp_path)
    assert [payload for _, payload in journal.replay()] == [b"first"]
    journal.append([b"again"])
    journal.close()
    assert read_all(tmp_path) == [b"first", b"again"]


def test_damage_before_a_sync_mark_is_refused_by_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([b"first", b"second", b"third"])
    journal.sync()
    journal.mark_synced(journal.end)
    journal.close()
    path = tmp_path / "journal-000001.log"
    damaged = bytearray(path.read_bytes())
    damaged[len(frame(b"first")) + 20] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StateDamaged, match=r"journal-000001\.log is damaged at byte 24"):
        read_all(tmp_path)


def test_damage_in_an_earlier_segment_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [b"x" * 50] * 40, segment_bytes=500)
    path = tmp_path / "journal-000001.log"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateDamaged):
        read_all(tmp_path)


def test_after_a_sync_that_failed_nothing_is_written_or_synced_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel may have dropped what was not written: a second sync would seem to succeed."""
    journal = Journal(tmp_path)
    journal.append([b"{}"])

    def broken(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr("sumi.state.journal.journal.os.fdatasync", broken)
        with pytest.raises(StorageFailed):
            journal.sync()
    for attempt in (journal.sync, lambda: journal.append([b"{}"])):
        with pytest.raises(StorageFailed):
            attempt()
    journal.close()

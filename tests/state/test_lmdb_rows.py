"""Packed keys sort like their values, rows survive packing, and a growing file loses nothing."""

from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.state.database.rows import Change, Rank, Row
from sumi.state.lmdb import packing
from sumi.state.lmdb.packing import (
    pack_id,
    pack_moment,
    pack_rank,
    pack_row,
    packed_id_of_rank,
    unpack_moment,
    unpack_row,
)
from sumi.state.lmdb.rows import LmdbRows, mapped_bytes
from tests.stored_rows import waiting_row

floats = st.floats(allow_nan=False)
ranks = st.tuples(st.booleans(), st.integers(0, 2**40), floats, st.integers(0, 2**60))


@given(ranks, ranks)
def test_packed_ranks_sort_as_ranks_do(one: Rank, other: Rank) -> None:
    assert (pack_rank(one) < pack_rank(other)) == (one < other)
    assert packed_id_of_rank(pack_rank(one)) == pack_id(one[-1])


@given(floats, floats, st.integers(0, 2**60))
def test_packed_moments_sort_by_time(one: float, other: float, row_id: int) -> None:
    assert unpack_moment(pack_moment(one, row_id)) == (one, row_id)
    assert (pack_moment(one, row_id) < pack_moment(other, row_id)) == (one < other)


def test_both_zeros_are_packed_alike() -> None:
    """Negative zero equals zero, and so a row would be written under one key and looked for under another."""
    zero = pack_rank((False, 1, 0.0, 7))
    packing._sortable.cache_clear()
    assert pack_rank((False, 1, -0.0, 7)) == zero


def test_a_packed_row_is_unpacked_unchanged() -> None:
    row = Row(
        7,
        "https://a.test:81/x",
        "a.test:81",
        "link",
        "page",
        2,
        0.5,
        1,
        None,
        2,
        3,
        "",
        9.5,
        None,
        "r",
        1.5,
        "{}",
        7,
    )
    assert unpack_row(pack_id(7), pack_row(row)) == row


def waiting_rows(count: int) -> list[Row]:
    return [waiting_row(number, f"https://a.test/{number}", "a.test") for number in range(count)]


def test_a_full_lmdb_map_grows_and_nothing_is_lost(tmp_path: Path) -> None:
    rows = LmdbRows(tmp_path / "state.lmdb", strict=False, map_bytes=128 * 1024)
    many = waiting_rows(3000)
    for start in range(0, 3000, 500):
        rows.write(Change(inserted=many[start : start + 500]))
    assert rows.page(-1, 5000, None) == many
    assert [rank[3] for rank in rows.queue("a.test", (True, 0, 0.0, 2990), 20)] == [*range(2990, 3000)]
    rows.close()


def test_mapping_the_file_again_between_writes_loses_nothing(tmp_path: Path) -> None:
    rows = LmdbRows(tmp_path / "state.lmdb", strict=False, most_mapped=0)
    many = waiting_rows(50)
    for row in many:
        rows.write(Change(inserted=[row]))
        assert rows.find([row.url]) == [row]
    assert rows.page(-1, 5000, None) == many
    rows.close()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_what_is_mapped_and_was_looked_at_counts(tmp_path: Path) -> None:
    size = 8 * 1024 * 1024
    (tmp_path / "file").write_bytes(bytes(size))
    before = mapped_bytes()
    with (tmp_path / "file").open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as view:
        assert not any(view[::4096])
        assert mapped_bytes() - before >= size // 2

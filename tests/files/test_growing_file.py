"""A file of lines is durable on return, and a line that a kill tore is cut off."""

import os
from pathlib import Path

import pytest

from sumi.files.growing_file import GrowingFile


@pytest.mark.parametrize("torn", [b"", b"timest", b"timestamp,metric,value\n17000", b"head\n1,a,2\n3,b"])
def test_a_torn_line_is_cut_off_before_the_next_append(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(torn)
    GrowingFile(path).append([b"5,c,6"], b"head\n")
    whole = torn[: torn.rfind(b"\n") + 1]
    assert path.read_bytes() == (whole or b"head\n") + b"5,c,6\n"


def test_lines_are_synced_when_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []

    def sync(descriptor: int) -> None:
        synced.append(os.pread(descriptor, 100, 0))

    monkeypatch.setattr("sumi.files.growing_file.os.fdatasync", sync)
    file = GrowingFile(tmp_path / "lines.csv")
    file.append([b"1"], b"head\n")
    file.append([b"2"], b"head\n")
    assert synced == [b"head\n1\n", b"head\n1\n2\n"]


def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    calls: list[bytes] = []

    def short_write(descriptor: int, data: bytes) -> int:
        calls.append(data)
        assert len(calls) < 10
        return write(descriptor, data[:3])

    monkeypatch.setattr("sumi.files.growing_file.os.write", short_write)
    GrowingFile(tmp_path / "lines.csv").append([b"1,2", b"3,4"], b"head\n")
    assert (tmp_path / "lines.csv").read_bytes() == b"head\n1,2\n3,4\n"

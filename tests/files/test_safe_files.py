"""Files are written whole or not at all, below their root and nowhere else."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sumi.errors import OutputRefused, StorageFailed, UsageError
from sumi.files import safe_files
from sumi.files.safe_files import OPEN_FOLDERS, SafeFolder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "canary").write_text("untouched")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "root"


@pytest.fixture
def files(root: Path) -> Iterator[SafeFolder]:
    folder = SafeFolder(root)
    yield folder
    folder.close()


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def interrupted_stream(files: SafeFolder, path: str) -> None:
    with files.stream_atomic(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_file_and_its_folders_appear_with_nothing_beside_them(files: SafeFolder, root: Path) -> None:
    files.write_atomic("a/b/index.md", b"one")
    files.write_atomic("a/b/index.md", b"two")
    assert (root / "a/b/index.md").read_bytes() == b"two"
    assert everything_below(root) == {"a", "a/b", "a/b/index.md"}


def test_modes_are_as_requested_minus_the_umask(files: SafeFolder, root: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_atomic("a/open.md", b"")
        files.write_atomic("a/secret", b"", mode=0o600)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((root / name).stat().st_mode) for name in ("a", "a/open.md", "a/secret")]
    assert modes == [0o750, 0o640, 0o600]


def test_what_was_written_can_be_read_found_and_removed(files: SafeFolder) -> None:
    assert files.read_bytes("a/x") is None
    assert not files.exists("a/x")
    assert files.names("a") == []
    files.write_atomic("a/x", b"data")
    assert files.read_bytes("a/x") == b"data"
    assert files.exists("a/x")
    assert files.names("a") == ["x"]
    files.remove("a/x")
    files.remove("a/x")
    assert not files.exists("a/x")


def test_what_is_appended_says_where_it_is(files: SafeFolder, root: Path) -> None:
    assert files.append("logs/log", b"one\n") == 0
    assert files.append("logs/log", b"two\n") == 4
    assert files.read_bytes("logs/log") == b"one\ntwo\n"
    assert files.read_range("logs/log", 4, 3) == b"two"
    assert files.read_range("logs/none", 0, 3) is None
    again = SafeFolder(root)
    assert again.append("logs/log", b"three\n") == 8
    again.close()


def test_what_replaces_a_file_is_what_is_appended_to(files: SafeFolder) -> None:
    files.append("log", b"old\n")
    files.write_atomic("log", b"new\n")
    assert files.append("log", b"more\n") == 4
    assert files.read_bytes("log") == b"new\nmore\n"
    files.remove("log")
    assert files.append("log", b"x") == 0


def test_a_stream_replaces_the_file_only_when_it_is_complete(files: SafeFolder, root: Path) -> None:
    files.write_atomic("a/x", b"old")
    with pytest.raises(ZeroDivisionError):
        interrupted_stream(files, "a/x")
    assert files.read_bytes("a/x") == b"old"
    assert everything_below(root) == {"a", "a/x"}
    with files.stream_atomic("a/x") as file:
        file.write(b"new")
        assert files.read_bytes("a/x") == b"old"
    assert files.read_bytes("a/x") == b"new"


def test_a_stream_survives_any_number_of_other_writes(files: SafeFolder) -> None:
    with files.stream_atomic("a/x") as file:
        file.write(b"whole")
        for number in range(OPEN_FOLDERS + 10):
            files.write_atomic(f"b/{number}/index.md", b"")
    assert files.read_bytes("a/x") == b"whole"


@pytest.mark.parametrize(
    "path", ["", "/etc/x", "../x", "a/../../x", "a/..", "a//x", "a/./x", "a/", ".", "..", "a\0b", "/"]
)
def test_paths_that_are_not_inside_are_refused(files: SafeFolder, root: Path, path: str) -> None:
    with pytest.raises(OutputRefused):
        files.write_atomic(path, b"")
    assert everything_below(root.parent) == {"root"}


@given(st.text(alphabet="./a\\\0", max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_spelling_leads_out_of_the_root(files: SafeFolder, root: Path, outside: Path, path: str) -> None:
    with suppress(OutputRefused, StorageFailed):
        files.write_atomic(path, b"x")
    assert {entry.name for entry in root.parent.iterdir()} == {"root"}
    assert everything_below(outside) == {"canary"}


def test_a_link_in_place_of_a_folder_is_refused(files: SafeFolder, root: Path, outside: Path) -> None:
    (root / "host").symlink_to(outside, target_is_directory=True)
    attempts: list[Callable[[], object]] = [
        lambda: files.write_atomic("host/index.md", b"x"),
        lambda: files.write_atomic("host/deeper/index.md", b"x"),
        lambda: files.append("host/canary", b"x"),
        lambda: files.remove("host/canary"),
        lambda: files.read_bytes("host/canary"),
    ]
    for attempt in attempts:
        with pytest.raises(OutputRefused, match=r"in the way of .*host"):
            attempt()
    assert everything_below(outside) == {"canary"}
    assert (outside / "canary").read_text() == "untouched"


def test_a_link_in_place_of_a_file_is_refused(files: SafeFolder, root: Path, outside: Path) -> None:
    (root / "x.md").symlink_to(outside / "canary")
    attempts: list[Callable[[], object]] = [
        lambda: files.write_atomic("x.md", b"x"),
        lambda: files.append("x.md", b"x"),
        lambda: files.read_bytes("x.md"),
    ]
    for attempt in attempts:
        with pytest.raises(OutputRefused):
            attempt()
    assert (outside / "canary").read_text() == "untouched"


def test_a_link_in_place_of_the_temporary_file_is_not_followed(
    files: SafeFolder, root: Path, outside: Path
) -> None:
    (root / ".x.md.tmp").symlink_to(outside / "canary")
    files.write_atomic("x.md", b"x")
    assert (root / "x.md").read_bytes() == b"x"
    assert (outside / "canary").read_text() == "untouched"


def test_a_folder_swapped_for_a_link_while_working_is_not_followed(
    files: SafeFolder, root: Path, outside: Path
) -> None:
    files.write_atomic("host/a/index.md", b"x")
    (root / "host").rename(root / "moved")
    (root / "host").symlink_to(outside, target_is_directory=True)
    files.write_atomic("host/b/index.md", b"x")  # into the folder that was opened, wherever it is now
    assert everything_below(outside) == {"canary"}
    assert (root / "moved/b/index.md").exists()


def test_other_things_in_the_way_are_refused(files: SafeFolder, root: Path) -> None:
    files.write_atomic("file", b"")
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    for path in ("file/index.md", "folder", "pipe"):
        with pytest.raises(OutputRefused):
            files.write_atomic(path, b"x")
    for path in ("folder", "pipe"):
        with pytest.raises(OutputRefused):
            files.append(path, b"x")


def test_only_files_are_read(files: SafeFolder, root: Path) -> None:
    files.append("file", b"x")
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OutputRefused, match="in the way"):
            files.read_bytes(name)


def test_a_leftover_of_a_killed_run_is_replaced(files: SafeFolder, root: Path) -> None:
    (root / ".x.md.tmp").write_bytes(b"half a page")
    files.write_atomic("x.md", b"whole")
    assert everything_below(root) == {"x.md"}


def test_a_folder_removed_while_working_is_made_again(files: SafeFolder, root: Path) -> None:
    files.write_atomic("a/b/x", b"1")
    files.append("a/log", b"1")
    (root / "a/b/x").unlink()
    (root / "a/log").unlink()
    (root / "a/b").rmdir()
    (root / "a").rmdir()
    files.write_atomic("a/b/x", b"2")
    assert files.read_bytes("a/b/x") == b"2"


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "no space left"), (errno.EDQUOT, "no space left"), (errno.EIO, "disk failed")],
)
def test_a_failing_disk_is_reported_and_keeps_the_old_file(
    files: SafeFolder, root: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    files.write_atomic("a/x", b"old")

    def fail(descriptor: int, data: bytes) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fail)
        with pytest.raises(StorageFailed, match=words):
            files.write_atomic("a/x", b"new")
        with pytest.raises(StorageFailed, match=words):
            files.append("a/log", b"new")
    assert files.read_bytes("a/x") == b"old"
    assert everything_below(root) == {"a", "a/x", "a/log"}


def test_short_writes_are_continued(files: SafeFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
        files.write_atomic("x", b"0123456789")
    assert files.read_bytes("x") == b"0123456789"


def test_few_folders_stay_open_and_none_after_closing(root: Path) -> None:
    before = open_descriptors()
    files = SafeFolder(root)
    for number in range(3 * OPEN_FOLDERS):
        files.write_atomic(f"host/{number}/index.md", b"")
    assert open_descriptors() <= before + OPEN_FOLDERS + 1
    files.close()
    assert open_descriptors() == before


def test_syncing_flushes_the_file_system_of_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(
        safe_files,
        "_find_syncfs",
        lambda: lambda descriptor: flushed.append(os.readlink(f"/proc/self/fd/{descriptor}")),
    )
    files = SafeFolder(root)
    files.sync()
    files.close()
    assert flushed == [str(root)]


def test_syncing_without_syncfs_flushes_each_file_and_its_folders_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(safe_files, "_find_syncfs", lambda: None)
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: flushed.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    )
    files = SafeFolder(root)
    files.write_atomic("a/x", b"")
    files.write_atomic("gone", b"")
    files.remove("gone")
    files.sync()
    files.sync()
    files.close()
    assert flushed == [str(root / "a/x"), str(root / "a"), str(root)]


def test_a_sync_that_fails_stops_the_job(files: SafeFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    files.sync()
    monkeypatch.setattr(files, "_syncfs", fail)
    with pytest.raises(StorageFailed, match="disk failed"):
        files.sync()


def test_an_unusable_root_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot use"):
        SafeFolder(tmp_path / "file" / "output")

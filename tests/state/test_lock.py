"""A lock is held by one process, whatever is removed around it, and says whose it is."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from sumi.errors import StateLocked, StorageFailed, UsageError
from sumi.state.lock import Claim, FolderLock, Holder, lock_holder, lock_owner, make_folders, remove_all_but


def test_a_second_process_is_told_who_holds_the_lock_and_since_when(tmp_path: Path) -> None:
    before = time.time()
    lock = FolderLock(tmp_path, command="sumi mirror")
    with pytest.raises(StateLocked, match=rf"process {os.getpid()} \(sumi mirror, since \d{{4}}-"):
        FolderLock(tmp_path, command="sumi rebuild")
    holder = lock_holder(tmp_path)
    assert holder is not None
    assert holder[:2] == (os.getpid(), "sumi mirror")
    assert before - 1 <= (holder.since or 0) <= time.time() + 1
    lock.release()
    assert lock_holder(tmp_path) is None


def test_asking_for_the_owner_leaves_no_file_open(tmp_path: Path) -> None:
    """``sumi`` asks for every job below a folder, and there may be thousands."""
    lock = FolderLock(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert lock_owner(tmp_path) == os.getpid()
    assert len(os.listdir("/proc/self/fd")) == before
    lock.release()


def test_the_lock_of_an_earlier_version_is_understood(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    (tmp_path / "lock").write_text(str(os.getpid()))
    assert lock_holder(tmp_path) == Holder(os.getpid())
    assert lock_owner(tmp_path) == os.getpid()
    lock.release()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened, then removed by its holder, then locked: another may hold the new one by then."""
    real = fcntl.flock
    removed: list[int] = []

    def flock(file: int, how: int) -> None:
        if not removed:
            (tmp_path / "lock").unlink()
            removed.append(file)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    lock = FolderLock(tmp_path)
    with pytest.raises(StateLocked):
        FolderLock(tmp_path)
    lock.release()


def test_a_folder_that_vanishes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "output" / "host" / ".sumi"
    real = os.open
    removed: list[object] = []

    def gone_once(path: object, *rest: object, **named: object) -> int:
        if not removed and str(path).endswith("lock"):
            removed.append(path)
            state.rmdir()
            state.parent.rmdir()
        return real(path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", gone_once)
    with Claim(state, "sumi mirror"):
        assert lock_owner(state) == os.getpid()


def test_a_job_that_could_not_start_takes_back_what_is_its_own_and_no_more(tmp_path: Path) -> None:
    home, other = tmp_path / "output" / "host", tmp_path / "output" / "other"
    claim = Claim(home / ".sumi", "sumi mirror", home=home)
    (home / "page").mkdir()
    make_folders(other / ".sumi")  # of another process, in the same new folder
    with pytest.raises(UsageError), claim:
        raise UsageError("a reason")
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["other"]
    with pytest.raises(UsageError), Claim(other / ".sumi", "sumi mirror", home=other):
        raise UsageError("a reason")
    assert (other / ".sumi").is_dir()  # it was there before


def test_a_folder_made_by_another_process_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may make the folder between the check and the mkdir, use it, and end."""
    state = tmp_path / "state"
    real = Path.mkdir

    def faster(self: Path, exist_ok: bool = False) -> None:
        if not self.exists():
            real(self)
            (self / "journal").touch()
        real(self, exist_ok=exist_ok)

    monkeypatch.setattr(Path, "mkdir", faster)
    with pytest.raises(UsageError), Claim(state, "sumi mirror"):
        raise UsageError("a reason")
    assert (state / "journal").exists()


def test_all_goes_but_what_is_kept_and_no_link_is_followed(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    (outside / "diary").mkdir(parents=True)
    (home / ".sumi" / "deep").mkdir(parents=True)
    (home / "link").symlink_to(outside)
    (home / ".sumi" / "lock").touch()
    (home / "page.md").touch()
    remove_all_but([home / ".sumi" / "lock"], home)
    assert [str(path.relative_to(home)) for path in home.rglob("*")] == [".sumi", ".sumi/lock"]
    assert (outside / "diary").is_dir()


def test_what_cannot_be_removed_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot write"):
        remove_all_but([], tmp_path / "nowhere")

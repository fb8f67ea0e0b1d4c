"""One process at a time per state folder. The lock dies with its process; its text is for the message."""

import contextlib
import fcntl
import os
from pathlib import Path

from sumi.errors import StateLocked
from sumi.store.faults import explained


class FolderLock:
    def __init__(self, folder: Path, name: str = "lock") -> None:
        """``name``: for state that is a file among others, ``<file>.lock``."""
        path = folder / name
        with explained(path):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._file, 64, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            locked = folder if name == "lock" else path.with_suffix("")
            raise StateLocked(
                f"{locked} is in use by process {owner}: wait for it, or stop it, then run again"
            ) from None
        with contextlib.suppress(OSError):  # the lock holds on a full disk too, only without its text
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        os.close(self._file)


def lock_owner(folder: Path) -> int | None:
    """The process that is working on a state folder, if one is; found out without taking the lock from it."""
    path = folder.with_name(f"{folder.name}.lock") if folder.is_file() else folder / "lock"
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _owner(file)
    finally:
        os.close(file)


def _owner(file: int) -> int | None:
    text = os.pread(file, 64, 0)
    if not text.isdigit() or not _is_alive(int(text)):
        return None
    # The number may by now be another process's: only one that holds the lock is ours. Asked for last, as
    # whoever starts in this very moment would find the folder in use.
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(text)
    return None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

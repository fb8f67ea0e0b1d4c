"""Where browsers put what they need while they run. Goes with the run; what a killed one left, with the next.

A folder belongs to whoever holds the lock on the file in it, and the kernel takes a lock back when its holder
dies, however that happens.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "sumi-browser-"
_LOCK = "lock"


class Scratch:
    def __init__(self) -> None:
        clear_abandoned()
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        # Named only once it is locked: a folder without that name is not taken for an abandoned one.
        draft = Path(self.path, "lock.new")
        self._lock = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(Path(self.path, _LOCK))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def clear_abandoned() -> None:
    """Of this user only: nobody else's folders are touched, nor followed where links lead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink() and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(lock)
    return True

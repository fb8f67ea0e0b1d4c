"""One process at a time per state folder. The lock dies with its process; its text is for the message."""

import fcntl
import os
from pathlib import Path

from sumi.errors import StateLocked


class FolderLock:
    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._file, 64, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise StateLocked(
                f"{folder} is in use by process {owner}: wait for it, or stop it, then run again"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        os.close(self._file)

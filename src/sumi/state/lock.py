"""One process at a time per state folder. The lock dies with its process; its text says whose it is.

A lock is a file that is locked by the system, so it belongs to a file and not to a name. Whoever takes one
looks afterwards whether the name still leads to that file, and otherwise begins again: it may have been
removed, with its folder, by the process that held it before. Only the holder removes it, as its last step.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final, NamedTuple

from sumi.errors import StateLocked
from sumi.files.faults import explained

LOCK_NAME: Final = "lock"
# Whoever only looks, or was just killed, holds a lock for some milliseconds: no reason to refuse anybody.
_PATIENCE: Final = 20
_PATIENCE_SECONDS: Final = 0.01
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TEXT: Final = 256


class Holder(NamedTuple):
    process: int
    command: str = ""  # never with its arguments, which may hold a password
    since: float | None = None

    def __str__(self) -> str:
        when = "" if self.since is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        more = ", ".join(filter(None, (self.command, when and f"since {when}")))
        return f"process {self.process}" + (f" ({more})" if more else "")


class FolderLock:
    def __init__(self, folder: Path, name: str = LOCK_NAME, command: str = "sumi") -> None:
        """``name``: for state that is a file among others, ``<file>.lock``. ``command``: what to call us."""
        self.path = folder / name
        with explained(self.path):
            self._file: int | None = _taken(self.path)
        with contextlib.suppress(OSError):  # the lock holds on a full disk too, only without its text
            text = f"{os.getpid()}\n{time.time():.3f}\n{command}\n".encode()
            os.pwrite(self._file, text, 0)
            os.ftruncate(self._file, len(text))

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _taken(path: Path) -> int:
    for patience in reversed(range(_PATIENCE)):
        file = os.open(path, _OPEN, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return file
        except BlockingIOError:
            if not patience:
                holder = _written(file) or "another process"
                os.close(file)
                raise StateLocked(
                    f"{_locked_by(path)} is in use by {holder}: wait for it, or stop it, then run again"
                ) from None
            time.sleep(_PATIENCE_SECONDS)
        except BaseException:
            os.close(file)
            raise
        os.close(file)
    raise StateLocked(f"{_locked_by(path)} keeps being replaced: run again later")


def _locked_by(lock: Path) -> Path:
    return lock.parent if lock.suffix != ".lock" else lock.with_suffix("")


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def lock_holder(folder: Path) -> Holder | None:
    """Who is working on a state folder, if anybody is; found out without taking the lock from them."""
    path = folder.with_name(f"{folder.name}.lock") if folder.is_file() else folder / LOCK_NAME
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        holder = _written(file)
        return holder if holder is not None and _is_alive(holder.process) and _is_held(file) else None
    finally:
        os.close(file)


def lock_text(folder: Path) -> bytes:
    """What the last holder left: the same for as long as nobody else takes the lock."""
    try:
        return (folder / LOCK_NAME).read_bytes()
    except OSError:
        return b""


def lock_owner(folder: Path) -> int | None:
    """The process alone."""
    holder = lock_holder(folder)
    return None if holder is None else holder.process


def _written(file: int) -> Holder | None:
    """What the last holder wrote of itself; earlier versions wrote the process only."""
    lines = os.pread(file, _MOST_TEXT, 0).decode(errors="replace").split("\n")
    if not lines[0].isdigit():
        return None
    process, since, command, *_ = (*lines, "", "")
    try:
        return Holder(int(process), command, float(since))
    except ValueError:
        return Holder(int(process))


def _is_held(file: int) -> bool:
    """The number may by now be another process's: only one that holds the lock is ours. Asked for last, as
    whoever starts in this very moment has to try again."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True

"""One process at a time per state folder. The lock dies with its process; its text says whose it is.

A lock is a file that is locked by the system, so it belongs to a file and not to a name. Whoever takes one
looks afterwards whether the name still leads to that file, and otherwise begins again: it may have been
removed, with its folder, by the process that held it before. Only the holder removes it, as its last step.
"""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

from sumi.errors import StateLocked, StorageFailed, SumiError, UsageError
from sumi.files.disk_errors import explained

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


_TRIES: Final = 100


class Claim:
    """``home``: what of the job's goes with the state if the job cannot start; by default the state alone.
    ``option``: what a user names it with. ``leaves_something``: whether a start that failed did."""

    def __init__(
        self,
        state: Path,
        command: str,
        *,
        home: Path | None = None,
        option: str = "--output",
        name: str = LOCK_NAME,
        leaves_something: Callable[[], bool] = lambda: False,
    ) -> None:
        self._state = state
        self._home = home or state
        self._leaves_something = leaves_something
        self._made: list[Path] = []
        for tries_left in reversed(range(_TRIES)):
            try:
                self._made += make_folders(state, option)
                self.lock = FolderLock(state, name, command)
                break
            except SumiError as error:  # removed again by whoever had it, before we could lock it
                if not tries_left or not isinstance(error.__cause__, FileNotFoundError):
                    raise

    def __enter__(self) -> "Claim":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A job that could not start leaves nothing half-made behind."""
        try:
            if isinstance(error, UsageError) and self._state in self._made and not self._leaves_something():
                self._undo()
        finally:
            self.lock.release()

    def remove_if_new(self) -> None:
        """If it was made by us, and nothing came of it."""
        if self._state in self._made:
            self.remove_if_empty()

    def remove_if_empty(self) -> None:
        """With its lock, if nothing else is in it."""
        with suppress(OSError):
            self.lock.path.unlink(missing_ok=True)
            for folder in sorted({self._state, *self._made}, key=lambda path: -len(path.parts)):
                folder.rmdir()

    def _undo(self) -> None:
        with suppress(StorageFailed):
            remove_all_but([self.lock.path], self._home if self._home in self._made else self._state)
        self.remove_if_empty()


def make_folders(folder: Path, option: str = "--output") -> list[Path]:
    """Make a folder and its parents; returns those that were not there. ``option``: what names it."""
    made = []
    try:
        for path in reversed((folder, *folder.parents)):
            if not path.exists():
                with suppress(FileExistsError):  # by another process, meanwhile
                    path.mkdir()
                    made.append(path)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder {folder}: {error.strerror}; choose another one with {option}"
        ) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write to {folder}; choose another folder with {option}")
    return made


def remove_all_but(kept: Iterable[Path], folder: Path) -> None:
    """Everything below a folder except these files, and the folders that they are in."""
    stay = set(kept)
    above = {parent for path in stay for parent in path.parents}
    with explained(folder):
        for path in list(folder.iterdir()):
            if path in above and not path.is_symlink():
                remove_all_but(stay, path)
            elif path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path not in stay:
                path.unlink(missing_ok=True)

"""One process at a time per state folder. The lock ends with its process; its text says whose it is.

It is a file locked with ``flock``, so the lock belongs to a file and not to a name. After taking it, a
process checks that the name still leads to that file, and otherwise tries again: the previous holder may have
removed it with its folder. Only the holder removes the file, as its last step.

``Claim`` makes a job's folder and locks it before anything in it is touched. The lock file survives whatever
is removed meanwhile, by ``--fresh`` or by a start that failed; after it, only empty folders are removed.
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

from sumi.errors import NotWritable, StateLocked, StorageFailed, SumiError, UsageError
from sumi.files.disk_errors import explained

LOCK_NAME: Final = "lock"
# A reader, or a process that was just killed, holds a lock for some milliseconds: worth a few tries.
_PATIENCE: Final = 20
_PATIENCE_SECONDS: Final = 0.01
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TEXT: Final = 256


class Holder(NamedTuple):
    process: int
    command: str = ""  # without its arguments, which may contain a password
    since: float | None = None

    def __str__(self) -> str:
        when = "" if self.since is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        more = ", ".join(filter(None, (self.command, when and f"since {when}")))
        return f"process {self.process}" + (f" ({more})" if more else "")


class FolderLock:
    def __init__(self, folder: Path, name: str = LOCK_NAME, command: str = "sumi") -> None:
        """``name``: ``<file>.lock`` for a state that is a single file. ``command``: who holds the lock."""
        self.path = folder / name
        with explained(self.path):
            self._file: int | None = _taken(self.path)
        with contextlib.suppress(OSError):  # on a full disk the lock works, only without its text
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
    """The process that uses a state folder, if there is one; found without disturbing it."""
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
    """What the last holder wrote: unchanged as long as no other process takes the lock."""
    try:
        return (folder / LOCK_NAME).read_bytes()
    except OSError:
        return b""


def lock_owner(folder: Path) -> int | None:
    """The id of the process."""
    holder = lock_holder(folder)
    return None if holder is None else holder.process


def _written(file: int) -> Holder | None:
    """What the last holder wrote; earlier versions wrote the process id only."""
    lines = os.pread(file, _MOST_TEXT, 0).decode(errors="replace").split("\n")
    if not lines[0].isdigit():
        return None
    process, since, command, *_ = (*lines, "", "")
    try:
        return Holder(int(process), command, float(since))
    except ValueError:
        return Holder(int(process))


def _is_held(file: int) -> bool:
    """The process id may have been reused: only a process that holds the lock counts. Checked last, because a
    process that starts at this moment has to try again."""
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
    """``home``: the folder to remove if the job cannot start; by default the state folder. ``option``: how
    the user chose it. ``leaves_something``: whether a failed start left something worth keeping."""

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
            except SumiError as error:  # its previous holder removed it before we could lock it
                if not tries_left or not isinstance(error.__cause__, FileNotFoundError):
                    raise

    def __enter__(self) -> "Claim":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A job that could not start leaves nothing behind."""
        try:
            if isinstance(error, UsageError) and self._state in self._made and not self._leaves_something():
                self._undo()
        finally:
            self.lock.release()

    def remove_if_new(self) -> None:
        """If this claim made it."""
        if self._state in self._made:
            self.remove_if_empty()

    def remove_if_empty(self) -> None:
        """Remove the folder with its lock, if nothing else is in it."""
        with suppress(OSError):
            self.lock.path.unlink(missing_ok=True)
            for folder in sorted({self._state, *self._made}, key=lambda path: -len(path.parts)):
                folder.rmdir()

    def _undo(self) -> None:
        with suppress(StorageFailed):
            remove_all_but([self.lock.path], self._home if self._home in self._made else self._state)
        self.remove_if_empty()


def make_folders(folder: Path, option: str = "--output") -> list[Path]:
    """Make a folder and its parents; returns those that did not exist. ``option``: how the user chose it."""
    made = []
    try:
        for path in reversed((folder, *folder.parents)):
            if not path.exists():
                with suppress(FileExistsError):  # another process made it meanwhile
                    path.mkdir()
                    made.append(path)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise NotWritable(
            f"cannot make the folder {folder}: {error.strerror}; choose another one with {option}"
        ) from error
    if not os.access(folder, os.W_OK):
        raise NotWritable(f"cannot write to {folder}; choose another folder with {option}")
    return made


def remove_all_but(kept: Iterable[Path], folder: Path) -> None:
    """Remove everything below a folder except these files and folders, and the folders they are in."""
    stay = set(kept)
    above = {parent for path in stay for parent in path.parents}
    with explained(folder):
        for path in list(folder.iterdir()):
            if path in stay:
                continue
            if path in above and not path.is_symlink():
                remove_all_but(stay, path)
            elif path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

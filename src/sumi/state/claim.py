"""A folder that a job works in: made where it was missing, and locked before anything in it is touched.

The lock outlives whatever is removed meanwhile, a ``--fresh`` as well as a start that came to nothing. It
goes last, and after it only folders that are empty: whoever comes in at that moment has a lock of its own.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from sumi.errors import StorageFailed, SumiError, UsageError
from sumi.files.faults import explained
from sumi.state.lock import LOCK_NAME, FolderLock

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
                self._take_back()
        finally:
            self.lock.release()

    def unmake(self) -> None:
        """If it was made by us, and nothing came of it."""
        if self._state in self._made:
            self.vanish()

    def vanish(self) -> None:
        """With its lock, if nothing else is in it."""
        with suppress(OSError):
            self.lock.path.unlink(missing_ok=True)
            for folder in sorted({self._state, *self._made}, key=lambda path: -len(path.parts)):
                folder.rmdir()

    def _take_back(self) -> None:
        with suppress(StorageFailed):
            remove_all_but([self.lock.path], self._home if self._home in self._made else self._state)
        self.vanish()


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

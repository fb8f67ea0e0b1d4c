"""``--fresh``: remove what an earlier mirror wrote, except the lock, which is held meanwhile.

A mark is on the disk before anything is removed, so that after a kill the next run completes the removal
first instead of mistaking the rest for a mirror.
"""

from pathlib import Path

from sumi.assembly.parts import STATE_FOLDER
from sumi.errors import UsageError
from sumi.files.faults import explained
from sumi.state.claim import remove_all_but
from sumi.state.folder import FORMAT_NAME, sync_folder
from sumi.state.lock import LOCK_NAME

_MARK = "emptying"


def refuse_to_empty(home: Path) -> None:
    """Refuse a folder that is neither empty nor a mirror."""
    state = home / STATE_FOLDER
    is_ours = any((state / name).is_file() for name in (FORMAT_NAME, LOCK_NAME))
    if home.is_symlink() or (home.exists() and not is_ours and _has_something(home)):
        raise UsageError(f"{home} was not made by sumi mirror; choose another folder, or remove it yourself")


def was_being_emptied(home: Path) -> bool:
    return (home / STATE_FOLDER / _MARK).exists()


def empty(home: Path) -> None:
    """Call it with the lock held."""
    state = home / STATE_FOLDER
    mark = state / _MARK
    with explained(mark):
        mark.touch(mode=0o644)
    sync_folder(state)
    remove_all_but([state / LOCK_NAME, mark], home)
    with explained(mark):
        mark.unlink()


def _has_something(home: Path) -> bool:
    return not home.is_dir() or any(path != home / STATE_FOLDER for path in home.iterdir())

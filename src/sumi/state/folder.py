"""Which backend a state folder belongs to: ``format.json`` says so and is read before anything else.

``open_snapshot`` opens one read-only, without the lock.
"""

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sumi.errors import StateError, UsageError
from sumi.files.disk_errors import explained
from sumi.policy import FrontierPolicy, PacingPolicy, StateBackend
from sumi.ports import Snapshot

if TYPE_CHECKING:
    from sumi.state.database.store import FolderStore
    from sumi.state.journal import FilesStore

FORMAT_NAME = "format.json"
DATABASE_FORMAT = "postgresql"  # of a folder that stands for a job in a database
STATE_FOLDER = ".sumi"
WINDOW_FOLDER = ".sumi-window"  # logs and exports of the window, next to a job's own files
WORKSPACE_STATES = "state"  # in a workspace: the folder with the states of the crawler and the scraper
CAPTURES = "captures.sqlite"  # in a folder of captures: the database of all of them
# A reader requests nothing, so it has no spacing of its own to report.
LOOKING = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0))
_SQLITE = b"SQLite format 3\0"
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def holds_state(folder: Path) -> bool:
    return (folder / FORMAT_NAME).exists()


def claim_folder(folder: Path, backend: str, version: int, *, must_exist: bool = False) -> None:
    """Mark a new folder as this backend's; StateError if it belongs to another one, or to another version."""
    path = folder / FORMAT_NAME
    if not path.exists() and not must_exist:
        mark_folder(folder, backend, version)
        return
    owner, found = _read(path)
    if owner != backend:
        raise _of_another(folder, owner, backend)
    if found != version:
        raise StateError(f"{path} says format {found}, {_what_to_do(backend, found, version)}")


def _what_to_do(backend: str, found: object, version: int) -> str:
    """This version does not read older databases, but the one that wrote it can convert it to text files,
    which every version reads."""
    reads = f"this version of sumi reads format {version}"
    if isinstance(found, int) and found < version and backend != StateBackend.FILES:
        return (
            f"{reads}: with the older version that wrote it, copy it by "
            "`sumi state migrate --to files` and put the copy in its place, or start over with --fresh"
        )
    return f"{reads}: use the version that wrote it, or start over with --fresh"


def mark_folder(folder: Path, backend: str, version: int) -> None:
    """Atomically: a marker that a kill cut short would be refused by every later run."""
    path = folder / FORMAT_NAME
    text = f'{{"sumi-state": "{backend}", "format": {version}}}\n'
    unfinished = path.with_suffix(".tmp")
    with explained(path):
        with open(unfinished, "w", opener=own_file) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)


def backend_to_use(folder: Path, wanted: StateBackend | None) -> StateBackend:
    """That of the state in the folder, if there is any; StateError if the user asked for another one."""
    path = folder / FORMAT_NAME
    if not path.exists():
        return wanted or StateBackend.FILES
    owner = _read(path)[0]
    if owner not in set(StateBackend):
        raise StateError(
            f"{path} does not name the storage of the state: restore the file from a copy, "
            "or start over with --fresh"
        )
    if wanted is not None and wanted != owner:
        raise _of_another(folder, owner, wanted)
    return StateBackend(owner)


def _of_another(folder: Path, owner: str, backend: str) -> StateError:
    return StateError(
        f"{folder} was made with --state {owner}, not {backend}: omit --state to continue with {owner}, "
        "or convert it with `sumi state migrate`"
    )


def _read(path: Path) -> tuple[str, object]:
    try:
        said = _decoded(path)
    except (OSError, msgspec.MsgspecError):
        said = {}
    return str(said.get("sumi-state", "something unknown")), said.get("format")


def _decoded(path: Path) -> dict[str, str | int]:
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str | int])


def backend_of(folder: Path) -> str:
    try:
        marker = _decoded(folder / FORMAT_NAME)
    except (OSError, msgspec.MsgspecError):
        raise StateError(f"{folder} does not hold the state of a job: {FORMAT_NAME} cannot be read") from None
    return str(marker.get("sumi-state"))


def open_snapshot(folder: Path, now: float) -> Snapshot:
    backend = backend_of(folder)
    if backend == DATABASE_FORMAT:
        from sumi.state.cluster.linked import LinkedSnapshot

        return LinkedSnapshot(folder, now)
    return backend_named(backend).reading(folder, LOOKING, now)


def backend_named(name: str) -> "type[FilesStore | FolderStore]":
    """A database library is imported only if used: both take a sixth of the time to the first request."""
    match name:
        case StateBackend.FILES:
            from sumi.state.journal import FilesStore

            return FilesStore
        case StateBackend.SQLITE:
            from sumi.state.sqlite import SqliteStore

            return SqliteStore
        case StateBackend.LMDB:
            from sumi.state.lmdb import LmdbStore

            return LmdbStore
    raise UsageError(f"there is no backend {name}; there are {', '.join(StateBackend)}")


def refuse_to_replace(path: Path) -> None:
    """UsageError if a job may be using it: a database of ours, what belongs to one, or anything in the folder
    of a mirror, a capture or a workspace."""
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        owner = path.with_name(path.name.removesuffix(suffix) or path.name)
        if path.name.endswith(suffix) and is_database(owner):
            raise UsageError(f"{path} is a database or part of one, and is not replaced: name another file")
    real = path.resolve()
    for folder in (real, *real.parents):
        if folder.name == WINDOW_FOLDER:
            return
        if _is_of_a_job(folder):
            raise UsageError(f"{path} is in {folder}, the folder of a job: name a place outside it")


def _is_of_a_job(folder: Path) -> bool:
    states = (folder, folder / STATE_FOLDER, *(folder / WORKSPACE_STATES).glob("*"))
    return any((state / FORMAT_NAME).is_file() for state in states)


def is_database(place: Path) -> bool:
    """Whether a file is the database of a map. Any other file is not a damaged state, but no state at all."""
    try:
        with place.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def own_file(path: str, flags: int) -> int:
    """An ``opener``: only the owner may write to the file, whatever the umask is."""
    return os.open(path, flags | os.O_CLOEXEC, 0o644)


def exchange(one: Path, other: Path) -> None:
    """Swap the names of two folders, in one step if the system can do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    with explained(other):
        if hasattr(libc, "renameat2"):
            names = os.fsencode(one), os.fsencode(other)
            if not libc.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE):
                return
        between = other.with_name(f"{other.name}-between")
        os.rename(other, between)
        os.rename(one, other)
        os.rename(between, one)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    with explained(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

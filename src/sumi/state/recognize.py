"""Which backend made a state folder, and opening it to look: without the lock, changing nothing."""

from pathlib import Path

import msgspec

from sumi.errors import StateError, UsageError
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Snapshot
from sumi.state.indexed import FolderStore
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.lock import lock_owner
from sumi.state.sqlite import SqliteStore

STATE_FOLDER = ".sumi"
WORKSPACE_STATES = "state"  # in a workspace: the folder with the crawler's and the scraper's
FORMAT_NAME = "format.json"
CAPTURES = "captures.sqlite"  # in a folder of captures: the database of all of them

_SQLITE = b"SQLite format 3\0"

# Whoever only looks asks no host for anything: no spacing of its own to report.
LOOKING = FrontierPolicy(PacingPolicy(delay=0.0, manifest_delay=0.0))

BACKENDS: dict[str, type[FilesStore | FolderStore]] = {
    "files": FilesStore,
    "sqlite": SqliteStore,
    "lmdb": LmdbStore,
}

__all__ = [
    "STATE_FOLDER",
    "backend_named",
    "backend_of",
    "lock_owner",
    "open_snapshot",
    "refuse_to_replace",
    "state_folders",
]


def backend_of(folder: Path) -> str:
    try:
        marker = msgspec.json.decode((folder / FORMAT_NAME).read_bytes(), type=dict[str, str | int])
    except (OSError, msgspec.MsgspecError):
        raise StateError(f"{folder} does not hold the state of a job: {FORMAT_NAME} cannot be read") from None
    return str(marker.get("sumi-state"))


def open_snapshot(folder: Path, now: float) -> Snapshot:
    return backend_named(backend_of(folder)).reading(folder, LOOKING, now)


def backend_named(name: str) -> type[FilesStore | FolderStore]:
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name}; there are {', '.join(BACKENDS)}")
    return BACKENDS[name]


def state_folders(place: Path) -> list[Path]:
    """The state folders that a user may mean by a state folder, a job's home, or an output folder."""
    if (place / FORMAT_NAME).is_file() or is_database(place):
        return [place]
    homes = [place, *sorted(path for path in place.glob("*") if path.is_dir())]
    states = [*(home / STATE_FOLDER for home in homes), *sorted(place.glob(f"{WORKSPACE_STATES}/*"))]
    return [state for state in states if (state / FORMAT_NAME).is_file()]


def refuse_to_replace(path: Path) -> None:
    """A database of ours, or what lies beside one: a job may be at work on it."""
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        owner = path.with_name(path.name.removesuffix(suffix) or path.name)
        if path.name.endswith(suffix) and is_database(owner):
            raise UsageError(f"{path} is a database or part of one, and is not replaced: name another file")


def is_database(place: Path) -> bool:
    """Of a map. Any other file is not the state of a job, rather than a damaged one."""
    try:
        with place.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False

"""The jobs below a folder: mirrors, crawls, maps and captures.

Cheap: a few small files of each job are read, never its ledger. Folders that cannot be read are passed over,
a job that cannot be read says why in ``damage``, and each folder is looked at once, also if links lead to it.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

import apsw
import msgspec

from sumi.catalogue.captures import CaptureRow, capture_rows
from sumi.errors import SumiError
from sumi.policy import is_database as is_database_address
from sumi.state.folder import CAPTURES, FORMAT_NAME, STATE_FOLDER, WORKSPACE_STATES, is_database
from sumi.state.lock import lock_owner

Place: TypeAlias = str | PathLike[str]
_Value = TypeVar("_Value")

DEPTH: Final = 2  # OUTPUT/HOST, and one folder that holds several outputs
MANIFEST: Final = "_manifest.json"
_MOST_ENTRIES: Final = 10_000  # of one folder: a folder of jobs has fewer
_HEAD_BYTES: Final = 16 * 1024  # of a manifest, whose first lines describe the mirror
_MAP_ID: Final = b"SUMM"  # SQLite's application id
_MAP_ID_AT: Final = 68
_MAP_SUFFIXES: Final = (".db", ".sqlite", ".sqlite3")
_CRAWL_JOBS: Final = ("crawler", "scraper", "unified")


class JobKind(StrEnum):
    MIRROR = "mirror"
    CRAWL = "crawl"  # the crawler or the scraper of a workspace
    MAP = "map"
    CAPTURE = "capture"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    kind: JobKind
    name: str  # for people: the folder of a mirror, the id of a capture
    home: Path  # with the job's own files; of a map the folder of its database
    state: Path  # its state folder; of a map its database
    root: Path  # the folder whose search index covers it: output folder, workspace, store of captures
    target: str = ""  # the URLs that it was started with, if a file says so
    process: int | None = None  # that is working on it
    paused: bool = False
    ended: str = ""  # of a capture: how it ended
    damage: str = ""  # why it cannot be read

    @property
    def activity(self) -> str:
        """running, paused or stopped; ``sumi.inspection.status`` reads the ledger and knows more."""
        if self.process is None:
            return "stopped"
        return "paused" if self.paused else "running"


def find_jobs(*places: Place, depth: int = DEPTH) -> list[Job]:
    """The jobs that users may mean by these folders: an output folder, a job's home, its state, a workspace,
    a store of captures, the database of a map, a folder above them, or the address of a database. In order
    of their names."""
    seen: set[Path] = set()
    return [job for place in places for folder in _folders(place) for job in _jobs_in(folder, depth, seen)]


def _folders(place: Place) -> list[Path]:
    """One, or those of the jobs in a database."""
    if not isinstance(place, str) or not is_database_address(place):
        return [Path(place)]
    from sumi.catalogue.database_jobs import linked_folders

    return linked_folders(place)


def _jobs_in(place: Path, depth: int, seen: set[Path]) -> Iterator[Job]:
    real = _resolved(place)
    if real is None or real in seen:
        return
    seen.add(real)
    if place.is_file():
        yield from _map_at(place)
    elif _holds_state(place):
        yield _job_of_state(place)
    else:
        yield from _jobs_below(place, depth, seen)


def _jobs_below(folder: Path, depth: int, seen: set[Path]) -> Iterator[Job]:
    entries = _entries(folder)
    if _holds_state(folder / STATE_FOLDER):
        yield _job_of_state(folder / STATE_FOLDER)
        return  # below it are pages
    if CAPTURES in entries:
        yield from _captures_in(folder)
        return
    crawls = [state for state in _states_of_workspace(folder) if _holds_state(state)]
    yield from map(_crawl, crawls)
    for name in entries:
        if name.endswith(_MAP_SUFFIXES):
            yield from _map_at(folder / name)
        elif depth > 0 and not _is_inner(name, crawls) and (folder / name).is_dir():
            yield from _jobs_in(folder / name, depth - 1, seen)


def _is_inner(name: str, crawls: list[Path]) -> bool:
    return name.startswith(".") or (bool(crawls) and name == WORKSPACE_STATES)


def _states_of_workspace(folder: Path) -> list[Path]:
    states = folder / WORKSPACE_STATES
    return [states / name for name in _entries(states)]


def _job_of_state(state: Path) -> Job:
    home = Path(os.path.normpath(state.parent)) if state.name == STATE_FOLDER else state.parent
    store = home.resolve().parent.parent
    if (store / CAPTURES).is_file():
        row = next((row for row in _rows(store) if row.id == home.resolve().name), None)
        return _capture(store, row) if row is not None else _unlisted_capture(store, home)
    return _mirror(home, state) if state.name == STATE_FOLDER else _crawl(state)


def _mirror(home: Path, state: Path) -> Job:
    return Job(
        kind=JobKind.MIRROR,
        name=home.resolve().name,
        home=home,
        state=state,
        root=home.parent,
        target=_source_url(home / MANIFEST),
        process=_owner(state),
        paused=(home / "pause.mirror").is_file(),
    )


def _crawl(state: Path) -> Job:
    home = state.parent.parent
    return Job(
        kind=JobKind.CRAWL,
        name=f"{home.resolve().name}/{state.name}",
        home=home,
        state=state,
        root=home,
        process=_owner(state),
        paused=any((home / f"pause.{job}").is_file() for job in _CRAWL_JOBS),
    )


def _map_at(place: Path) -> Iterator[Job]:
    # Not a pipe, which would be waited for.
    if not place.is_file() or not is_database(place) or not _is_map(place):
        return
    yield Job(
        kind=JobKind.MAP,
        name=place.name,
        home=place.parent,
        state=place,
        root=place.parent,
        process=_owner(place),
        paused=(place.parent / "pause.map").is_file(),
    )


def _captures_in(store: Path) -> Iterator[Job]:
    try:
        rows = capture_rows(store / CAPTURES)
    except SumiError as error:
        yield Job(
            kind=JobKind.CAPTURE,
            name=store.resolve().name,
            home=store,
            state=store / CAPTURES,
            root=store,
            damage=str(error),
        )
        return
    for row in rows:
        yield _capture(store, row)


def _capture(store: Path, row: CaptureRow) -> Job:
    home = store / "jobs" / row.id
    return Job(
        kind=JobKind.CAPTURE,
        name=row.id,
        home=home,
        state=home / STATE_FOLDER,
        root=store,
        target=", ".join(row.base_urls),
        process=_owner(store) if row.is_under_way else None,
        paused=row.status == "paused",
        ended="interrupted" if row.is_under_way else row.status,
    )


def _unlisted_capture(store: Path, home: Path) -> Job:
    return Job(
        kind=JobKind.CAPTURE,
        name=home.resolve().name,
        home=home,
        state=home / STATE_FOLDER,
        root=store,
        damage=f"{store / CAPTURES} does not list it",
    )


def _rows(store: Path) -> list[CaptureRow]:
    try:
        return capture_rows(store / CAPTURES)
    except SumiError:
        return []


# ── small reads ────────────────────────────────────────────────────────────────────────────────────────────


def _entries(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, _MOST_ENTRIES))
    except OSError:
        return []


def _resolved(place: Path) -> Path | None:
    try:
        return place.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links; a name with a NUL
        return None


def _holds_state(folder: Path) -> bool:
    try:
        return (folder / FORMAT_NAME).is_file()
    except (OSError, ValueError):
        return False


def _owner(state: Path) -> int | None:
    try:
        return lock_owner(state)
    except (OSError, SumiError):
        return None


def _is_map(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            found = file.read(_MAP_ID_AT + len(_MAP_ID))[_MAP_ID_AT:]
    except OSError:
        return False
    return found == _MAP_ID or (not any(found) and _is_map_in_log(place))


def _is_map_in_log(place: Path) -> bool:
    """What the first run of a map has written may still be in its log only."""
    if not Path(f"{place}-wal").is_file():
        return False
    try:
        with closing(apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READONLY)) as database:
            return bool(database.pragma("application_id") == int.from_bytes(_MAP_ID))
    except apsw.Error:
        return False


def _source_url(manifest: Path) -> str:
    return _head_value(manifest, b'"source_url"', str) or ""


class MirrorCounts(NamedTuple):
    pages: int
    failed: int


def mirror_counts(state: Path) -> MirrorCounts | None:
    """From the manifest of the mirror with this state; None if it has none yet."""
    manifest = state.parent / MANIFEST
    pages = _head_value(manifest, b'"total_pages"', int)
    failed = _head_value(manifest, b'"failed"', int)
    return None if pages is None or failed is None else MirrorCounts(pages, failed)


def _head_value(manifest: Path, wanted: bytes, kind: type[_Value]) -> _Value | None:
    """From the first lines of a manifest, each of which has one key."""
    try:
        with manifest.open("rb") as file:
            lines = file.read(_HEAD_BYTES).split(b"\n")
    except OSError:
        return None
    for line in lines:
        key, _, value = line.rstrip(b",").partition(b": ")
        if key == wanted:
            try:
                return msgspec.json.decode(value, type=kind)
            except msgspec.MsgspecError:
                return None
    return None

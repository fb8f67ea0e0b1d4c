"""A workspace: the folder in which a crawl and its scraper keep everything.

A marker file identifies the folder as a workspace and lists which files in it belong to the job, by name or
pattern. A reset removes only those, and only in a folder with a marker, so that a typo never deletes a home
directory or the user's own notes.
"""

import contextlib
import os
import os.path
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from sumi.errors import OutputRefused, StorageFailed, UsageError
from sumi.files.safe_files import SafeFolder
from sumi.jobs.pipeline.config import PATHS, PATHS_BY_BACKEND, CrawlConfig, path_pattern
from sumi.scope.profiles import ProfileName
from sumi.state.folder import WINDOW_FOLDER

MARKER: Final = ".sumi-workspace"
_VERSION: Final = 1
_LOCK: Final = "lock"
_RESETTING: Final = ".sumi-emptying"


class OwnedPaths(msgspec.Struct, frozen=True):
    """Which paths of a workspace belong to the job. All are relative, with "/"."""

    folders: tuple[str, ...]  # created at the start, and kept by a reset
    written: tuple[str, ...]  # glob patterns of the files that a reset removes
    kept: tuple[str, ...] = ()  # the user's files, even if a pattern matches them


class _Marker(msgspec.Struct, frozen=True, rename="kebab"):
    sumi_workspace: int
    folders: tuple[str, ...] = ()
    written: tuple[str, ...] = ()  # empty in a marker of an earlier version
    kept: tuple[str, ...] = ()


def configure(place: Path, owned: OwnedPaths, files: Mapping[str, str]) -> list[str]:
    """Make ``place`` a workspace with these folders and, unless they exist, these files (relative paths).

    Returns what was created. Calling it again creates what is missing and changes nothing else.
    """
    known = _marker_of(place)
    if known is None and _is_taken(place):
        raise UsageError(f"{place} is not a workspace, and not empty; give an empty or a new folder")
    return _create(place, known, owned, files)


def adopt(place: Path, owned: OwnedPaths) -> None:
    """Like ``configure``, for a job that starts without it.

    Does nothing if one of its folders holds other files: the job runs, but cannot be reset.
    """
    known = _marker_of(place)
    tops = {PurePosixPath(folder).parts[0] for folder in owned.folders}
    if known is not None or not any(_is_taken(place / top) for top in tops):
        _create(place, known, owned, {})


def _create(place: Path, known: "_Marker | None", owned: OwnedPaths, files: Mapping[str, str]) -> list[str]:
    wanted = _with(known or _Marker(_VERSION), owned)
    new = [folder for folder in wanted.folders if not (place / folder).is_dir()]
    root = SafeFolder(place)
    try:
        # The marker first: whatever happens next, the workspace can be completed or reset.
        if known != wanted:
            root.write_atomic(MARKER, msgspec.json.encode(wanted) + b"\n")
        _make_folders(place, wanted.folders)
        for name, text in files.items():
            if not root.exists(name):
                root.write_atomic(name, text.encode())
                new.append(name)
    finally:
        root.close()
    return new


def _with(marker: _Marker, owned: OwnedPaths) -> _Marker:
    """Paths of earlier configurations belong to the job, too."""
    return _Marker(
        _VERSION,
        tuple(sorted({*marker.folders, *owned.folders})),
        tuple(sorted({*marker.written, *owned.written})),
        tuple(sorted({*marker.kept, *owned.kept})),
    )


# ── reset ──────────────────────────────────────────────────────────────────────────────────────────────────


def job_locks(place: Path, owned: OwnedPaths) -> list[Path]:
    """The locks of every process that may run or start here; the lock files need not exist. Raises UsageError
    if ``place`` is not a workspace."""
    marker = _listed(place, owned)
    patterns = [PurePosixPath(pattern) for pattern in marker.written]
    locks = [pattern for pattern in patterns if pattern.name == _LOCK]
    found = {path for pattern in locks for path in _matching(place, pattern.parts)}
    return sorted(found | {place / pattern for pattern in locks if _is_state(pattern.parent)})


def _is_state(folder: PurePosixPath) -> bool:
    """Whether a job may start in it: not a draft, a copy or a state that was set aside."""
    is_plain = not any(mark in str(folder) for mark in "*?[")
    return is_plain and not folder.name.startswith(".") and not folder.name.endswith(("-rebuilt", "moving"))


def job_files(place: Path, owned: OwnedPaths) -> Iterator[Path]:
    """What a reset removes: the files listed by the marker and by ``owned``, except locks, which their
    holders remove. Follows no links.

    Raises UsageError if ``place`` is not a workspace.
    """
    marker = _listed(place, owned)
    kept = {place / MARKER, *(place / name for name in marker.kept)}
    for pattern in marker.written:
        for path in _matching(place, PurePosixPath(pattern).parts):
            if path not in kept and path.name != _LOCK:
                yield path


def _listed(place: Path, owned: OwnedPaths) -> _Marker:
    marker = _with(_must_be_workspace(place), owned)
    for top in sorted({PurePosixPath(pattern).parts[0] for pattern in marker.written}):
        if (place / top).is_symlink():
            raise OutputRefused(
                f"{place / top} is a symbolic link, and its target does not belong to the job"
            )
    return marker


def empty(place: Path, owned: OwnedPaths) -> int:
    """Remove ``job_files`` and the folders that this leaves empty; returns the number of files."""
    marker = _with(_must_be_workspace(place), owned)
    stay = {place}
    for folder in marker.folders:
        stay.update((place / folder, *(place / folder).parents))
    count = 0
    mark = place / _RESETTING
    try:
        mark.touch(mode=0o644)
        left: set[Path] = set()
        for path in job_files(place, owned):
            path.unlink(missing_ok=True)
            left.add(path.parent)
            count += 1
        _remove_if_empty(left, stay)
    except OSError as error:
        raise StorageFailed(f"cannot empty {place}: {error.strerror}; fix this and try again") from None
    _make_folders(place, marker.folders)
    mark.unlink(missing_ok=True)
    return count


def refuse_half_reset(place: Path) -> None:
    """A job must not run on the remains of a reset that was killed."""
    if (place / _RESETTING).exists():
        raise UsageError(
            f"a sumi workspace reset was interrupted in {place}, which is half empty: reset it again first"
        )


def _matching(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    """Files, links and the like that match a pattern per path component."""
    name, rest = parts[0], parts[1:]
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if fnmatchcase(entry.name, name)]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageFailed(f"cannot look into {folder}: {error.strerror}; fix this and try again") from None
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if rest and is_folder:
            yield from _matching(Path(entry.path), rest)
        elif not rest and not is_folder:
            yield Path(entry.path)


def _remove_if_empty(folders: set[Path], stay: set[Path]) -> None:
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        for emptied in (folder, *folder.parents):
            if emptied in stay:
                break
            try:
                emptied.rmdir()
            except OSError:  # it contains something that is not the job's
                break


def _make_folders(place: Path, folders: Iterable[str]) -> None:
    """One component at a time, so that no symbolic link leads elsewhere."""
    for folder in folders:
        path = place
        for name in PurePosixPath(folder).parts:
            path = path / name
            with contextlib.suppress(FileExistsError):
                path.mkdir()
            if path.is_symlink() or not path.is_dir():
                raise OutputRefused(f"{path} is a link or a file where a folder belongs; remove it")


def _is_taken(place: Path) -> bool:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        return True
    return place.exists() and any(path.name != WINDOW_FOLDER for path in place.iterdir())


def _must_be_workspace(place: Path) -> _Marker:
    marker = _marker_of(place)
    if marker is None:
        raise UsageError(f"{place} is not a workspace of Sumi, so nothing in it was touched")
    return marker


def has_list(place: Path) -> bool:
    """Whether the marker lists the job's files: one of an earlier version does not."""
    return bool(_must_be_workspace(place).written)


def _marker_of(place: Path) -> _Marker | None:
    try:
        marker = msgspec.json.decode((place / MARKER).read_bytes(), type=_Marker)
    except (OSError, msgspec.MsgspecError):
        return None
    # The file may have been edited: no name in it may lead out of the workspace or match everything.
    names = (*marker.folders, *marker.written, *marker.kept)
    safe = all(_is_below(PurePosixPath(name)) for name in names) and all(map(_tells_apart, marker.written))
    return marker if safe and marker.sumi_workspace == _VERSION else None


def _tells_apart(pattern: str) -> bool:
    """Whether it matches some files rather than all."""
    return PurePosixPath(pattern).name.strip("*?") != ""


def _is_below(folder: PurePosixPath) -> bool:
    return bool(folder.parts) and not folder.is_absolute() and ".." not in folder.parts


# ── the layout of a workspace, by default or by a configuration ──────────────────────────────────────────


# Keys whose path is a folder that is created even if empty. For all others the parent folder is created.
_FOLDERS = frozenset({"spool.dir", "store.root"})
_SEEDS: Final = "seeds_file"  # the only path that belongs to the user, not the job
_SEEDS_HEAD: Final = "# Start URLs, one per line. Lines that start with # are ignored.\n"
_DEFAULT_SEEDS: Final = {
    ProfileName.GITHUB: f"{_SEEDS_HEAD}https://github.com/topics\nhttps://github.com/trending\n",
    ProfileName.GENERIC: f"{_SEEDS_HEAD}# https://docs.example.org/\n",
}
# What the job writes below a path, as glob patterns.
_DIGIT, _HEX = "[0-9]", "[0-9a-f]"
_SHARD = f"{_HEX * 2}/{_HEX * 2}"
_IN_SPOOL = (f"discoveries-{_DIGIT * 10}.jsonl",)  # other names belong to other programs
_IN_ARCHIVE = (
    f"{_SHARD}/{_HEX * 4}*.html",
    f"{_SHARD}/{_HEX * 4}*.html.zst",
    f"{_SHARD}/.{_HEX * 4}*.html*.tmp",
    f"dictionaries/{_DIGIT}*-{_HEX}*.zdict",
    f"dictionaries/.{_DIGIT}*-{_HEX}*.zdict*.tmp",
)
_IN_INDEX = ("data.mdb", "lock.mdb")
_IN_STATE = (
    "format.json",
    "format.tmp",
    "lock",
    f"journal-{_DIGIT}*.log",
    "state.sqlite",
    "state.sqlite-*",
    "state.lmdb",
    "state.lmdb-lock",
)
# A state, the remains of copying it that a kill left, and what a repair set aside.
_STATES = ("{}", "{}/moving", ".{}.unfinished", "{}-rebuilt", f"{{}}-damaged-{_DIGIT}*")
_SCRAPERS = ("scraper", "scraper.sqlite", "scraper.lmdb")
# What each of the processes keeps of its run in the workspace itself (``engine.traces``).
_TRACES = tuple(
    f"{job}.{name}"
    for job in ("crawler", "scraper", "unified")
    for name in ("activity.jsonl", "activity.jsonl.tmp", "now.json", "now.json.tmp")
)


class Layout(msgspec.Struct, frozen=True):
    workspace: Path
    owned: OwnedPaths
    files: dict[str, str]  # to create unless they exist


def default_places(workspace: Path, key: str) -> tuple[Path, ...]:
    """The default paths of a setting, of all backends."""
    default = next(str(setting.default) for setting in PATHS if setting.path == key)
    return tuple(workspace / path for path in (default, *PATHS_BY_BACKEND[key].values()))


def default_layout(workspace: Path) -> Layout:
    paths = {setting.path: str(setting.default) for setting in PATHS}
    patterns = {key: path_pattern(path) for key, path in paths.items()}
    return _layout(Path(os.path.abspath(workspace)), paths, patterns, ProfileName.GITHUB)


def layout_of(config: CrawlConfig) -> Layout:
    paths = {
        setting.path: str(attrgetter(setting.path)(config).relative_to(config.workspace)) for setting in PATHS
    }
    return _layout(config.workspace, paths, config.patterns, config.profile)


def _layout(workspace: Path, paths: dict[str, str], patterns: dict[str, str], profile: ProfileName) -> Layout:
    own = {key: path for key, path in paths.items() if key != _SEEDS}
    folders = {path if key in _FOLDERS else os.path.dirname(path) for key, path in own.items()}
    written = {*_TRACES, *(each for key in own for each in _written_at(key, patterns[key]))}
    owned = OwnedPaths(
        folders=tuple(sorted(folders - {""})),
        written=tuple(sorted(filter(_tells_apart, written))),
        kept=(paths[_SEEDS],),
    )
    return Layout(workspace, owned, {paths[_SEEDS]: _DEFAULT_SEEDS[profile]})


def _written_at(key: str, path: str) -> tuple[str, ...]:
    match key:
        case "spool.dir":
            return _below(path, _IN_SPOOL)
        case "store.root":
            return _below(path, _IN_ARCHIVE)
        case "frontier.db_path":
            return _states(path)
        case "index.db_path":
            return (*_file(path), *_below(path, _IN_INDEX))
    return _file(path)


def _file(path: str) -> tuple[str, ...]:
    """A file, and the draft that a kill left of rewriting it."""
    folder, name = os.path.split(path)
    return path, os.path.join(folder, f".{name}.tmp")


def _below(folder: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{folder}/{pattern}" for pattern in patterns)


def _states(path: str) -> tuple[str, ...]:
    """The states of the crawler and, beside it, the scraper."""
    folder, name = os.path.split(path)
    places = [os.path.join(folder, form.format(each)) for each in (name, *_SCRAPERS) for form in _STATES]
    return tuple(pattern for place in places for pattern in _below(place, _IN_STATE))

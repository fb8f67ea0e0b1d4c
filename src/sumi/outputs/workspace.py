"""A workspace: the folder that a crawl and its scraper keep everything in.

A marker file says that a folder is one, and which of the folders in it are the job's. Only those are ever
emptied, and only in a folder with a marker, so that a slip of the keyboard costs nobody a home directory.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from sumi.errors import OutputRefused, StorageFailed, UsageError
from sumi.outputs.safe_files import SafeFolder

MARKER: Final = ".sumi-workspace"
_VERSION: Final = 1


class _Marker(msgspec.Struct, frozen=True, rename="kebab"):
    sumi_workspace: int
    folders: tuple[str, ...] = ()  # relative, with "/"


def configure(place: Path, folders: Iterable[str], files: Mapping[str, str]) -> list[str]:
    """Make ``place`` a workspace with these folders and, unless they are there, these files (relative paths).

    Returns what is new. Doing it again adds what is missing and changes nothing else.
    """
    known = _marker_of(place)
    if known is None and _is_taken(place):
        raise UsageError(
            f"{place} is not a workspace, and not empty; give an empty folder, or one that is not there yet"
        )
    return _establish(place, known, folders, files)


def adopt(place: Path, folders: Iterable[str]) -> None:
    """What ``configure`` does, for a job that begins without it: unless a folder of its is somebody else's.

    Then the job works all the same, and nobody can reset it.
    """
    known = _marker_of(place)
    tops = {PurePosixPath(folder).parts[0] for folder in folders}
    if known is not None or not any(_is_taken(place / top) for top in tops):
        _establish(place, known, folders, {})


def _establish(
    place: Path, known: "_Marker | None", folders: Iterable[str], files: Mapping[str, str]
) -> list[str]:
    wanted = tuple(sorted({*folders, *(known.folders if known else ())}))
    new = [folder for folder in wanted if not (place / folder).is_dir()]
    root = SafeFolder(place)
    try:
        # The marker first: whatever happens next, what was begun can be taken up or reset.
        if known is None or known.folders != wanted:
            root.write_atomic(MARKER, msgspec.json.encode(_Marker(_VERSION, wanted)) + b"\n")
        _make_folders(place, wanted)
        for name, text in files.items():
            if not root.exists(name):
                root.write_atomic(name, text.encode())
                new.append(name)
    finally:
        root.close()
    return new


def job_folders(place: Path) -> tuple[Path, ...]:
    """The outermost of the workspace's own folders. Raises UsageError where ``place`` is no workspace."""
    marker = _marker_of(place)
    if marker is None:
        raise UsageError(f"{place} is not a workspace of Sumi's, so nothing in it was touched")
    tops = sorted({PurePosixPath(folder).parts[0] for folder in marker.folders})
    for top in tops:
        if (place / top).is_symlink():
            raise OutputRefused(f"{place / top} is a symbolic link, and what it leads to is not the job's")
    return tuple(place / top for top in tops)


def count_files(folders: Iterable[Path]) -> int:
    return sum(len(names) for folder in folders for _, _, names in os.walk(folder))


def empty(place: Path) -> None:
    """Remove everything in the workspace's own folders, and make these anew. No link is followed."""
    for folder in job_folders(place):
        try:
            _empty(folder)
        except OSError as error:
            raise StorageFailed(f"cannot empty {folder}: {error.strerror}; see to it and try again") from None
    marker = _marker_of(place)
    _make_folders(place, marker.folders if marker else ())


def _empty(folder: Path) -> None:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def _make_folders(place: Path, folders: Iterable[str]) -> None:
    """Step by step, so that no link on the way leads elsewhere."""
    for folder in folders:
        path = place
        for name in PurePosixPath(folder).parts:
            path = path / name
            with contextlib.suppress(FileExistsError):
                path.mkdir()
            if path.is_symlink() or not path.is_dir():
                raise OutputRefused(f"{path} is a link or a file where a folder belongs; remove it")


def _is_taken(place: Path) -> bool:
    return place.is_symlink() or (place.exists() and (not place.is_dir() or any(place.iterdir())))


def _marker_of(place: Path) -> _Marker | None:
    try:
        marker = msgspec.json.decode((place / MARKER).read_bytes(), type=_Marker)
    except (OSError, msgspec.MsgspecError):
        return None
    # Anybody may have edited the file: no name in it may lead out of the workspace, or mean all of it.
    safe = all(_is_below(PurePosixPath(folder)) for folder in marker.folders)
    return marker if safe and marker.sumi_workspace == _VERSION else None


def _is_below(folder: PurePosixPath) -> bool:
    return bool(folder.parts) and not folder.is_absolute() and ".." not in folder.parts

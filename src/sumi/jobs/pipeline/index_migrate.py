"""A page index carried to its other form, whole or not at all."""

import shutil
from itertools import islice
from pathlib import Path

from sumi.errors import UsageError
from sumi.jobs.pipeline.page_index import index_records, open_page_index
from sumi.state.claim import make_folders
from sumi.state.lock import FolderLock
from sumi.state.migrate import COMMAND, give_its_name

_FORMS = ("files", "lmdb")
_BATCH = 10_000
_LMDB_FILE = "data.mdb"


def is_page_index(place: Path) -> bool:
    """Files of lines are known by their name: any other file may be the database of a map."""
    return (place.suffix == ".jsonl" and place.is_file()) or _is_lmdb(place)


def migrate_index(source: Path, target: Path, form: str) -> int:
    """Returns the number of pages carried over."""
    if form not in _FORMS:
        raise UsageError(f"a page index is kept in {' or '.join(_FORMS)}, not in {form}")
    make_folders(target.parent, "TO")
    unfinished = target.with_name(f".{target.name}.unfinished")
    lock = FolderLock(target.parent, f"{unfinished.name}.lock", COMMAND)
    try:
        _remove(unfinished)  # of an earlier try that was killed
        try:
            count = _copy(source, unfinished, form)
            give_its_name(unfinished, target)
        except BaseException:
            _remove(unfinished)
            raise
    finally:
        lock.path.unlink(missing_ok=True)
        lock.release()
    return count


def _is_lmdb(place: Path) -> bool:
    return (place / _LMDB_FILE).is_file()


def _copy(source: Path, target: Path, form: str) -> int:
    records = index_records(source, in_lmdb=_is_lmdb(source))
    index = open_page_index(target, in_lmdb=form == "lmdb")
    count = 0
    try:
        index.put([])  # an empty index is one, too
        while batch := list(islice(records, _BATCH)):
            index.put(batch)
            count += len(batch)
    finally:
        index.close()
    return count


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)

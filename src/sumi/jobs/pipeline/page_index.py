"""The page index: for each URL what is archived of it, as a JSON object. In LMDB, or a file of JSON lines.

It is a copy of what the ledger of a run knows, for other programs. One process puts records; readers
change nothing. Each URL has one record whenever a run has begun or ended: in the file, a page that changes
during a run has another line until that run ends, or the next begins, and the last one counts.
"""

import os
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import lmdb
import msgspec

from sumi.errors import StateError, StorageFailed, UsageError
from sumi.files.disk_errors import explained
from sumi.files.growing_file import GrowingFile
from sumi.jobs.pipeline.ledger_copies import identity, is_up_to_date_page, second_of, was_not_modified
from sumi.ports import UrlRecord
from sumi.state.folder import sync_folder
from sumi.state.lock import FolderLock, make_folders
from sumi.state.migrate import COMMAND, move_into_place

MAP_BYTES = 256 * 1024 * 1024
LONGEST_KEY = 511  # LMDB's own limit


class IndexRecord(msgspec.Struct, frozen=True):
    """One page that is archived. The names and their order are part of the format."""

    url: str
    sha256: str
    stored_path: str
    etag: str | None
    last_modified: str | None
    timestamp: int


class PageIndex(Protocol):
    def put(self, records: Sequence[IndexRecord]) -> None:
        """In one step, durable on return; the last record of a URL counts."""
        ...

    def present(self) -> Iterator[IndexRecord]:
        """What need not be put again after a kill; nothing where putting it again changes nothing."""
        ...

    def close(self) -> None: ...


class _UrlAlone(msgspec.Struct):
    url: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(IndexRecord).decode
_decode_url = msgspec.json.Decoder(_UrlAlone).decode


def open_page_index(path: Path, *, in_lmdb: bool) -> PageIndex:
    """For the one process that puts records."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return LmdbPageIndex(path) if in_lmdb else JsonlPageIndex(path)


def index_records(path: Path, *, in_lmdb: bool) -> Iterator[IndexRecord]:
    """The last record of every URL, in no order that matters; a run may be putting more meanwhile."""
    if in_lmdb:
        with _opened(path, readonly=True) as env, env.begin() as tx:
            for value in tx.cursor().iternext(keys=False):
                yield _decode(value)
        return
    for line in last_lines(path, _url_of):
        try:
            yield _decode(line)
        except msgspec.MsgspecError:  # a line that is not ours costs only itself
            continue


class JsonlPageIndex:
    """Appended to. What later records replaced is left out at both ends of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = GrowingFile(path)
        self._file.cut_torn_end()
        without_superseded(path, _url_of)
        self._has_grown = False

    def put(self, records: Sequence[IndexRecord]) -> None:
        self._has_grown = True
        self._file.append([_encode(record) for record in records])

    def present(self) -> Iterator[IndexRecord]:
        return index_records(self._path, in_lmdb=False) if self._path.exists() else iter(())

    def close(self) -> None:
        if self._has_grown:
            with suppress(StorageFailed):  # a full disk, which the run has told of: the next run does it
                without_superseded(self._path, _url_of)


class LmdbPageIndex:
    """Key: the URL. Value: the record as JSON."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._env = _opened(path, readonly=False)

    def put(self, records: Sequence[IndexRecord]) -> None:
        items = [(_key(record.url), _encode(record)) for record in records]
        try:
            while True:
                try:
                    with self._env.begin(write=True) as tx:
                        tx.cursor().putmulti(items)
                except lmdb.MapFullError:
                    self._env.set_mapsize(2 * self._env.info()["map_size"])
                else:
                    return
        except lmdb.Error as error:
            raise StorageFailed(f"{self._path}: {error}; check the disk, then run again") from error

    def present(self) -> Iterator[IndexRecord]:
        return iter(())

    def close(self) -> None:
        self._env.close()


def _opened(path: Path, *, readonly: bool) -> lmdb.Environment:
    if path.is_symlink():
        raise StateError(f"{path} is a symbolic link: remove it, or use another folder")
    try:
        return lmdb.open(
            str(path),
            map_size=MAP_BYTES,
            readahead=False,
            mode=0o644,
            readonly=readonly,
            create=not readonly,
        )
    except lmdb.Error as error:
        raise StorageFailed(f"{path}: {error}; check the disk, then run again") from error


def _url_of(line: bytes) -> str | None:
    try:
        return _decode_url(line).url
    except msgspec.MsgspecError:
        return None


def _key(url: str) -> bytes:
    """The URL itself where it fits; no shorter URL can be the same, as none holds a NUL."""
    key = url.encode("utf-8", "replace")
    if len(key) <= LONGEST_KEY:
        return key
    digest = sha256(key).hexdigest().encode()
    return key[: LONGEST_KEY - len(digest) - 1] + b"\0" + digest


class IndexCopy:
    """The page index as a copy of the ledger."""

    name = "index"
    mark = ""

    def __init__(self, index: PageIndex) -> None:
        self._index = index

    def present(self, mark: str) -> set[int]:
        return {identity(record.url, record.timestamp) for record in self._index.present()}

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        kept = [record for record in records if is_up_to_date_page(record) and not was_not_modified(record)]
        if kept:
            self._index.put([_index_record(record) for record in kept])


def _index_record(record: UrlRecord) -> IndexRecord:
    facts = record.facts
    return IndexRecord(
        url=record.url,
        sha256=facts.raw or "",
        stored_path=facts.path or "",
        etag=facts.etag,
        last_modified=facts.last_modified,
        timestamp=second_of(record),
    )


# ── a file of lines, each about something: the last line about each thing ────────────────────────────────


# Subjects looked at together: some 30 MB, however many lines there are.
_SHARE: Final = 250_000
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def last_lines(path: Path, subject_of: Callable[[bytes], str | None]) -> Iterator[bytes]:
    """In their order. Lines without a subject are left out."""
    with path.open("rb") as file:  # once: meanwhile another file may get its name
        yield from _unmarked(file, _superseded(file, subject_of))


def without_superseded(path: Path, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> None:
    """Write the file anew, durably, if any of its lines no longer counts."""
    with explained(path):
        if not path.exists():
            return
        with path.open("rb") as file:
            marks = _superseded(file, subject_of, share)
            if any(marks):
                _replace(path, _unmarked(file, marks))


def _superseded(file: BinaryIO, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> bytearray:
    """A mark for each line: 1 where a later one is about the same, or it is about nothing.

    Subjects are known by 64 bits: of a million, the chance that two are taken for one is one in 10^7. A
    million lines take 1.5 s."""
    marks, keys = bytearray(), array("q")
    for line in file:
        subject = subject_of(line)
        marks.append(subject is None)
        keys.append(hash(subject))
    shares = 1 + len(keys) // share
    for mine in range(shares):
        latest: dict[int, int] = {}
        for number, key in enumerate(keys):
            if key % shares == mine and not marks[number]:
                before = latest.get(key)
                if before is not None:
                    marks[before] = 1
                latest[key] = number
    return marks


def _unmarked(file: BinaryIO, marks: bytearray) -> Iterator[bytes]:
    """As far as the file was looked at: it may have grown since."""
    file.seek(0)
    for mark, line in zip(marks, file, strict=False):
        if not mark:
            yield line


def _replace(path: Path, lines: Iterator[bytes]) -> None:
    draft = path.with_name(f".{path.name}.tmp")
    descriptor = os.open(draft, _NEW_FILE, 0o644)
    with open(descriptor, "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(draft, path.stat().st_mode)
    draft.replace(path)
    sync_folder(path.parent)


# ── an index carried to its other form, whole or not at all ──────────────────────────────────────────────


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
            move_into_place(unfinished, target)
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

"""The page index: what is archived of each URL, as JSON objects in LMDB or in a file of JSON lines.

It is a copy of the ledger for other programs. One process writes; readers change nothing. When a run starts
and when it ends, each URL has one record. During a run, the file gets another line for a page that changed,
and the last line counts.
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
    """An archived page. The names and their order are part of the format."""

    url: str
    sha256: str
    stored_path: str
    etag: str | None
    last_modified: str | None
    timestamp: int


class PageIndex(Protocol):
    def put(self, records: Sequence[IndexRecord]) -> None:
        """Atomic, and durable on return; the last record of a URL counts."""
        ...

    def present(self) -> Iterator[IndexRecord]:
        """Records that need not be put again after a kill; none if putting them again changes nothing."""
        ...

    def close(self) -> None: ...


class _UrlAlone(msgspec.Struct):
    url: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(IndexRecord).decode
_decode_url = msgspec.json.Decoder(_UrlAlone).decode


def open_page_index(path: Path, *, in_lmdb: bool) -> PageIndex:
    """For the one process that writes."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return LmdbPageIndex(path) if in_lmdb else JsonlPageIndex(path)


def index_records(path: Path, *, in_lmdb: bool) -> Iterator[IndexRecord]:
    """The last record of every URL, in any order; a run may be writing meanwhile."""
    if in_lmdb:
        with _opened(path, readonly=True) as env, env.begin() as tx:
            for value in tx.cursor().iternext(keys=False):
                yield _decode(value)
        return
    for line in last_lines(path, _url_of):
        try:
            yield _decode(line)
        except msgspec.MsgspecError:  # a damaged line costs only itself
            continue


class JsonlPageIndex:
    """Appends lines. Superseded lines are removed when a run starts and when it ends."""

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
            with suppress(StorageFailed):  # the disk is full, which was reported: the next run will do it
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
    """The URL, or its beginning and a hash if it is too long. No URL contains a NUL, so keys never
    collide."""
    key = url.encode("utf-8", "replace")
    if len(key) <= LONGEST_KEY:
        return key
    url_sha256 = sha256(key).hexdigest().encode()
    return key[: LONGEST_KEY - len(url_sha256) - 1] + b"\0" + url_sha256


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


# ── a file of lines that each have a subject, of which the last one counts ───────────────────────────────


# Subjects held in memory at once: some 30 MB, however many lines there are.
_SHARE: Final = 250_000
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def last_lines(path: Path, subject_of: Callable[[bytes], str | None]) -> Iterator[bytes]:
    """The last line of each subject, in file order. Lines without a subject are left out."""
    with path.open("rb") as file:  # opened once: the file may be replaced meanwhile
        yield from _unmarked(file, _superseded(file, subject_of))


def without_superseded(path: Path, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> None:
    """Rewrite the file, durably, if any of its lines is superseded."""
    with explained(path):
        if not path.exists():
            return
        with path.open("rb") as file:
            marks = _superseded(file, subject_of, share)
            if any(marks):
                _replace(path, _unmarked(file, marks))


def _superseded(file: BinaryIO, subject_of: Callable[[bytes], str | None], share: int = _SHARE) -> bytearray:
    """A mark for each line: 1 if a later line has the same subject, or if it has none.

    Subjects are compared by 64-bit hashes: among a million, the chance of a collision is one in 10^7. A
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
    """Lines beyond the marks are left out: the file may have grown since."""
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


# ── sumi state migrate: an index copied to another backend, completely or not at all ─────────────────────


_BACKENDS = ("files", "lmdb")
_BATCH = 10_000
_LMDB_FILE = "data.mdb"


def is_page_index(place: Path) -> bool:
    """A file of lines is recognised by its suffix: other files may be the database of a map."""
    return (place.suffix == ".jsonl" and place.is_file()) or _is_lmdb(place)


def migrate_index(source: Path, target: Path, backend: str) -> int:
    """Returns the number of pages copied."""
    if backend not in _BACKENDS:
        raise UsageError(f"a page index is kept in {' or '.join(_BACKENDS)}, not in {backend}")
    make_folders(target.parent, "TO")
    unfinished = target.with_name(f".{target.name}.unfinished")
    lock = FolderLock(target.parent, f"{unfinished.name}.lock", COMMAND)
    try:
        _remove(unfinished)  # left by an earlier attempt that was killed
        try:
            count = _copy(source, unfinished, backend)
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


def _copy(source: Path, target: Path, backend: str) -> int:
    records = index_records(source, in_lmdb=_is_lmdb(source))
    index = open_page_index(target, in_lmdb=backend == "lmdb")
    count = 0
    try:
        index.put([])  # creates an empty index if there are no records
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

"""The page index: for each URL what is archived of it, as a JSON object. In LMDB, or a file of JSON lines.

It is a copy of what the ledger of a run knows, for other programs. One process puts records; whoever reads
changes nothing. Each URL has one record whenever a run has begun or ended: in the file, a page that changes
during a run has another line until that run ends, or the next begins, and the last one counts.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import lmdb
import msgspec

from sumi.errors import StateError, StorageFailed
from sumi.files.faults import explained
from sumi.files.growing_file import GrowingFile
from sumi.jobs.pipeline.last_lines import last_lines, without_superseded

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
        except msgspec.MsgspecError:  # somebody else's line costs only itself
            continue


class JsonlPageIndex:
    """Appended to. What later records replaced is left out at both ends of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = GrowingFile(path)
        self._file.mend()
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

"""The page index: for each URL what is archived of it, as a JSON object. In LMDB, or a file of JSON lines.

It is a copy of what the ledger of a run knows, for other programs: records are put again and again as pages
come anew, and the last one counts.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import lmdb
import msgspec

from sumi.errors import StateError, StorageFailed
from sumi.store.files.faults import explained
from sumi.store.growing_file import GrowingFile

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

    def get(self, url: str) -> IndexRecord | None: ...

    def records(self) -> Iterator[IndexRecord]:
        """The last record of every URL, in no order that matters."""
        ...

    def close(self) -> None: ...


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(IndexRecord).decode


def open_page_index(path: Path, *, in_lmdb: bool) -> PageIndex:
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return LmdbPageIndex(path) if in_lmdb else JsonlPageIndex(path)


class JsonlPageIndex:
    """Appended to; read as a whole only by those who ask."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        deque(self._file.whole_lines(), 0)  # a torn end is cut off before anything follows it

    def put(self, records: Sequence[IndexRecord]) -> None:
        self._file.append([_encode(record) for record in records])

    def get(self, url: str) -> IndexRecord | None:
        found = [record for _, record in self._numbered() if record.url == url]
        return found[-1] if found else None

    def records(self) -> Iterator[IndexRecord]:
        last = {hash(record.url): number for number, record in self._numbered()}
        for number, record in self._numbered():
            if last[hash(record.url)] == number:
                yield record

    def close(self) -> None:
        """Nothing is kept open."""

    def _numbered(self) -> Iterator[tuple[int, IndexRecord]]:
        for number, line in enumerate(self._file.whole_lines()):
            with contextlib.suppress(msgspec.MsgspecError):  # somebody else's line costs only itself
                yield number, _decode(line)


class LmdbPageIndex:
    """Key: the URL. Value: the record as JSON."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.is_symlink():
            raise StateError(f"{path} is a symbolic link: remove it, or use another folder")
        try:
            self._env = lmdb.open(str(path), map_size=MAP_BYTES, readahead=False, mode=0o644)
        except lmdb.Error as error:
            raise StorageFailed(f"{path}: {error}; check the disk, then run again") from error

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

    def get(self, url: str) -> IndexRecord | None:
        with self._env.begin() as tx:
            value = tx.get(_key(url))
        return None if value is None else _decode(value)

    def records(self) -> Iterator[IndexRecord]:
        with self._env.begin() as tx:
            for value in tx.cursor().iternext(keys=False):
                yield _decode(value)

    def close(self) -> None:
        self._env.close()


def _key(url: str) -> bytes:
    """The URL itself where it fits; no shorter URL can be the same, as none holds a NUL."""
    key = url.encode("utf-8", "replace")
    if len(key) <= LONGEST_KEY:
        return key
    from hashlib import sha256

    digest = sha256(key).hexdigest().encode()
    return key[: LONGEST_KEY - len(digest) - 1] + b"\0" + digest

"""Rows in LMDB: one environment, a sub-database per table or index.

Durability. Each commit syncs its pages before it writes the meta page that makes them current
(``sync=True``); in batch mode it does not wait for that last page (``metasync=False``). A power cut may then
undo the last commit, but cannot damage the file. Leaving out the first sync as well (``MDB_NOSYNC``) would be
several times faster, but is not safe: unless the file system keeps the order of writes, which common ones do
not, the meta page could reach the disk before the pages that it points to. ``writemap`` is off for the same
reason, and because a stray write in this process could reach the file.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice, starmap
from pathlib import Path
from typing import ClassVar

import lmdb
import msgspec

from sumi.errors import StateDamaged, StateError, StorageFailed
from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.ports import RobotsRecord
from sumi.state.database.rows import (
    AttemptRow,
    Change,
    HostRow,
    OpenHost,
    Rank,
    Row,
    Totals,
    chain_of,
    url_key,
)
from sumi.state.database.store import FolderStore
from sumi.state.entries import State
from sumi.state.lmdb.packing import (
    Packed,
    pack_id,
    pack_moment,
    pack_rank,
    pack_row,
    packed_id_of_rank,
    packed_kind,
    packed_outcome,
    unpack_id,
    unpack_moment,
    unpack_rank,
    unpack_row,
    waits_with_facts,
)
from sumi.state.lmdb.queues import (
    MOST_STALE,
    REMOVED_AT_ONCE,
    Behind,
    QueueEntry,
    StaleEntries,
    becomes_stale,
    queue_entry_of,
    queue_key,
)

MAP_BYTES = 64 * 1024 * 1024  # doubled whenever it is full
# Pages of the file that were read count as our memory until the file is mapped again; the system keeps them
# cached anyway. Looking up how many there are takes ten microseconds, a write takes milliseconds.
MOST_MAPPED_BYTES = 128 * 1024 * 1024
TOTALS_KEY = b"totals"
STALE_SINCE_KEY = b"left since"  # the attempt before the first stale entry; absent if there is none
WAITING, DELAYED, SETTLED = State.WAITING.value, State.DELAYED.value, State.SETTLED.value
BEHIND = State.BEHIND.value

_STATM = "/proc/self/statm"
_SHARED = 2  # its third number: resident pages that are a file's
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_encode = msgspec.msgpack.Encoder().encode
_decode_totals = msgspec.msgpack.Decoder(Totals).decode
_decode_attempt = msgspec.msgpack.Decoder(tuple[int, int, float, str, str]).decode
_decode_host = msgspec.msgpack.Decoder(HostRow).decode
_decode_note = msgspec.msgpack.Decoder(tuple[str, str]).decode
_decode_robots = msgspec.msgpack.Decoder(RobotsRecord).decode


class LmdbRows:
    most_stale: ClassVar[int] = MOST_STALE
    removed_at_once: ClassVar[int] = REMOVED_AT_ONCE

    def __init__(
        self,
        path: Path,
        *,
        strict: bool,
        readonly: bool = False,
        map_bytes: int = MAP_BYTES,
        most_mapped: int = MOST_MAPPED_BYTES,
    ) -> None:
        self._path = path
        self._readonly = readonly
        self._most_mapped = most_mapped
        if path.is_symlink():
            raise StateError(f"{path} is a symbolic link: remove it, or use another folder")
        with self._errors_translated():
            self._env = lmdb.open(
                str(path),
                subdir=False,
                map_size=map_bytes,
                max_dbs=10,
                sync=True,
                metasync=strict,
                readahead=False,  # keys are all over the file; reading their neighbours does not help
                mode=0o644,
                readonly=readonly,
                create=not readonly,
            )
            self._env.reader_check()  # readers that died would keep old pages from being reused
            opened = partial(self._env.open_db, create=not readonly)
            self._urls = opened(b"urls")  # id → row
            self._keys = opened(b"keys")  # key of the URL → id; so URLs may be longer than LMDB's keys
            # key of the host → ranks of its waiting rows, sorted
            self._queues = opened(b"queues", dupsort=True, dupfixed=True)
            self._delays = opened(b"delays")  # time, id → nothing
            self._behind = Behind(opened)
            self._attempts = opened(b"attempts")  # serial → attempt
            self._hosts = opened(b"hosts")  # key of the host → politeness
            self._robots = opened(b"robots")  # key of the origin → robots.txt
            self._notes = opened(b"notes")  # key of the name → name and text
            self._counts = opened(b"counts")  # the totals, and since when there are stale entries
        with self._reading() as tx:
            last = tx.cursor(self._attempts)
            last_attempt = unpack_id(last.key()) if last.last() else 0
            found = {} if readonly else self._find_stale(tx)
            self._stale = StaleEntries(found, last_attempt, self.most_stale, self.removed_at_once)
        self._is_uncommitted = False  # a write has begun and was not committed: memory is ahead of the file

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def find(self, urls: Sequence[str]) -> list[Row]:
        with self._reading() as tx:
            ids = [row_id for _, row_id in tx.cursor(self._keys).getmulti([url_key(url) for url in urls])]
            found = [unpack_row(*item) for item in tx.cursor(self._urls).getmulti(ids)]
        wanted = set(urls)
        for row in found:
            if row.url not in wanted:
                raise StateDamaged(f"{self._path}: the row of {row.url[:200]} carries another URL's key")
        return found

    def queue(self, host: str, start: Rank, limit: int) -> list[Rank]:
        with self._reading() as tx, tx.cursor(self._queues) as cursor:
            if not cursor.set_range_dup(queue_key(host), pack_rank(start)):
                return []
            ranks, stale = map(unpack_rank, cursor.iternext_dup()), self._stale.entries
            return list(islice((rank for rank in ranks if rank[3] not in stale), limit))

    def queued(self, places: Sequence[tuple[str, int]]) -> list[Row]:
        with self._reading() as tx:
            found = tx.cursor(self._urls).getmulti([pack_id(row_id) for _, row_id in places])
        if len(found) < len(places):
            raise StateDamaged(f"{self._path}: a queue names a row that does not exist")
        with self._errors_translated():
            return [
                unpack_row(row_id, row, host) for (host, _), (row_id, row) in zip(places, found, strict=True)
            ]

    def due(self, now: float, limit: int) -> list[Row]:
        with self._reading() as tx:
            first = islice(self._delayed(tx), limit)
            return [self._get(tx, pack_id(row_id)) for when, row_id in first if when <= now]

    def next_due(self) -> float | None:
        with self._reading() as tx:
            return next((when for when, _ in self._delayed(tx)), None)

    def first_due(self) -> Iterable[tuple[str, float]]:
        first: dict[str, float] = {}
        with self._reading() as tx:
            for when, row_id in self._delayed(tx):
                first.setdefault(self._get(tx, pack_id(row_id)).host, when)
        return first.items()

    def behind(self, host: str, is_page: bool, limit: int) -> list[Row]:
        with self._reading() as tx:
            return [self._get(tx, pack_id(row_id)) for row_id in self._behind.of(tx, host, is_page, limit)]

    def first_behind(self) -> Iterable[tuple[str, bool, float]]:
        with self._reading() as tx:
            lanes = self._behind.lanes(tx)
            return [(self._get(tx, pack_id(first)).host, is_page, due) for is_page, due, first, _ in lanes]

    def open_sitemaps(self) -> Iterable[Row]:
        pending = frozenset({Outcome.PENDING})
        with self._reading() as tx, tx.cursor(self._urls) as cursor:
            found = (item for item in cursor.iternext() if packed_kind(item[1]) == Kind.SITEMAP)
            return [unpack_row(*item) for item in found if _is_of(item[1], pending)]

    def page(self, after: int, limit: int, outcomes: frozenset[Outcome] | None) -> list[Row]:
        return self._page(after, limit, lambda packed: outcomes is None or _is_of(packed, outcomes))

    def page_waiting_again(self, after: int, limit: int) -> list[Row]:
        return self._page(after, limit, waits_with_facts)

    def _page(self, after: int, limit: int, is_wanted: Callable[[Packed], bool]) -> list[Row]:
        with self._reading() as tx, tx.cursor(self._urls) as cursor:
            if not cursor.set_range(pack_id(after + 1)):
                return []
            items = (item for item in cursor.iternext() if is_wanted(item[1]))
            return list(starmap(unpack_row, islice(items, limit)))

    def attempts(self) -> Iterable[AttemptRow]:
        with self._reading() as tx:
            yield from self._attempts_after(tx, 0)

    def attempts_of(self, row: Row) -> list[AttemptRow]:
        with self._reading() as tx:

            def attempt(serial: int) -> AttemptRow | None:
                packed = tx.get(pack_id(serial), db=self._attempts)
                return None if packed is None else AttemptRow(serial, *_decode_attempt(packed))

            return chain_of(row, attempt)

    def settled_since(self, serial: int) -> list[str]:
        with self._reading() as tx:
            ids = dict.fromkeys(attempt.id for attempt in self._attempts_after(tx, serial))
            rows = (self._get(tx, pack_id(row_id)) for row_id in ids)
            return [row.url for row in rows if row.state == SETTLED]

    def totals(self) -> Totals:
        with self._reading() as tx:
            packed = tx.get(TOTALS_KEY, db=self._counts)
            return Totals() if packed is None else _decode_totals(packed)

    def open_hosts(self) -> Iterable[OpenHost]:
        with self._reading() as tx, tx.cursor(self._queues) as cursor:
            # A reader, perhaps beside a writer, finds out what is stale now.
            stale = self._find_stale(tx) if self._readonly else self._stale.entries
            ended = Counter(host for host, _ in stale.values())
            waiting = [
                OpenHost(self._get(tx, packed_id_of_rank(first)).host, count, 0)
                for host, first in cursor.iternext_nodup(values=True)
                if (count := cursor.count() - ended[bytes(host)])
            ]
            delayed = Counter(self._get(tx, pack_id(row_id)).host for _, row_id in self._delayed(tx))
            for _, _, first, count in self._behind.lanes(tx):
                delayed[self._get(tx, pack_id(first)).host] += count
            return waiting + [OpenHost(host, 0, n) for host, n in delayed.items()]

    def hosts(self) -> Iterable[HostRow]:
        with self._reading() as tx, tx.cursor(self._hosts) as cursor:
            return [_decode_host(packed) for packed in cursor.iternext(keys=False)]

    def robots(self, origin: str) -> RobotsRecord | None:
        with self._reading() as tx:
            packed = tx.get(url_key(origin), db=self._robots)
            return None if packed is None else _decode_robots(packed)

    def all_robots(self) -> Iterable[RobotsRecord]:
        with self._reading() as tx, tx.cursor(self._robots) as cursor:
            return [_decode_robots(packed) for packed in cursor.iternext(keys=False)]

    def note(self, key: str) -> str | None:
        with self._reading() as tx:
            packed = tx.get(url_key(key), db=self._notes)
            return None if packed is None else _decode_note(packed)[1]

    def notes(self) -> Iterable[tuple[str, str]]:
        with self._reading() as tx, tx.cursor(self._notes) as cursor:
            return [_decode_note(packed) for packed in cursor.iternext(keys=False)]

    def _get(self, tx: lmdb.Transaction, row_id: Packed) -> Row:
        packed = tx.get(row_id, db=self._urls)
        if packed is None:
            raise StateDamaged(f"{self._path}: an index names row {unpack_id(row_id)}, which does not exist")
        return unpack_row(row_id, packed)

    def _delayed(self, tx: lmdb.Transaction) -> Iterator[tuple[float, int]]:
        return map(unpack_moment, tx.cursor(self._delays).iternext(values=False))

    def _attempts_after(self, tx: lmdb.Transaction, serial: int) -> Iterator[AttemptRow]:
        cursor = tx.cursor(self._attempts)
        if cursor.set_range(pack_id(serial + 1)):
            for key, packed in cursor.iternext():
                yield AttemptRow(unpack_id(key), *_decode_attempt(packed))

    def _find_stale(self, tx: lmdb.Transaction) -> dict[int, QueueEntry]:
        """Rows that are settled but still in a queue."""
        since = tx.get(STALE_SINCE_KEY, db=self._counts)
        if since is None:
            return {}
        stale: dict[int, QueueEntry] = {}
        with tx.cursor(self._queues) as cursor:
            for attempt in self._attempts_after(tx, unpack_id(since)):
                row = self._get(tx, pack_id(attempt.id))
                place = queue_entry_of(row)
                if row.state == SETTLED and cursor.set_key_dup(*place):
                    stale[row.id] = place
        return stale

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    def write(self, change: Change) -> None:
        with self._errors_translated():
            self._is_uncommitted = True
            since = self._stale.note(change)
            removed = self._stale.take()
            while True:
                try:
                    with self._env.begin(write=True) as tx:
                        self._put(tx, change)
                        self._remove_stale(tx, removed, since)
                except lmdb.MapFullError:
                    self._remap(2)
                else:
                    break
            self._is_uncommitted = False
            if mapped_bytes() > self._most_mapped:
                self._remap(1)

    def _remap(self, times: int) -> None:
        """With this many times the size. No reader may be active, and none is: calls never overlap."""
        self._env.set_mapsize(times * self._env.info()["map_size"])

    def _put(self, tx: lmdb.Transaction, change: Change) -> None:
        self._insert(tx, change.inserted)
        tx.cursor(self._urls).putmulti([(pack_id(new.id), pack_row(new)) for _, new in change.updated])
        for old, new in change.updated:
            if not becomes_stale(old, new):
                self._remove_from_index(tx, old)
                self._add_to_index(tx, new)
        attempts = [(pack_id(attempt.serial), _encode(attempt[1:])) for attempt in change.attempts]
        tx.cursor(self._attempts).putmulti(attempts, append=True)
        for host in change.hosts:
            tx.put(url_key(host.host), _encode(host), db=self._hosts)
        for record in change.robots:
            tx.put(url_key(record.origin), _encode(record), db=self._robots)
        for key, value in change.notes:
            tx.put(url_key(key), _encode((key, value)), db=self._notes)
        if change.totals is not None:
            tx.put(TOTALS_KEY, _encode(change.totals), db=self._counts)

    def _remove_stale(self, tx: lmdb.Transaction, places: list[QueueEntry], since: int | None) -> None:
        for host, rank in places:
            tx.delete(host, rank, db=self._queues)
        if places and self._stale.since_last_removal is not None:
            since = self._stale.since_last_removal
        if since is not None:
            tx.put(STALE_SINCE_KEY, pack_id(since), db=self._counts)

    def _insert(self, tx: lmdb.Transaction, rows: list[Row]) -> None:
        tx.cursor(self._urls).putmulti([(pack_id(row.id), pack_row(row)) for row in rows], append=True)
        # Sorted, so that neighbouring keys are on pages that are already loaded.
        tx.cursor(self._keys).putmulti(sorted((url_key(row.url), pack_id(row.id)) for row in rows))
        waiting = [(queue_key(row.host), pack_rank(row.rank)) for row in rows if row.state == WAITING]
        tx.cursor(self._queues).putmulti(sorted(waiting))
        for row in rows:
            if row.state in (DELAYED, BEHIND):  # a foreign sitemap, or imported from another store
                self._add_to_index(tx, row)

    def _add_to_index(self, tx: lmdb.Transaction, row: Row) -> None:
        if row.state == WAITING:
            tx.put(queue_key(row.host), pack_rank(row.rank), db=self._queues)
        elif row.state == DELAYED and row.due is not None:
            tx.put(pack_moment(row.due, row.id), b"", db=self._delays)
        elif row.state == BEHIND:
            self._behind.put(tx, row)

    def _remove_from_index(self, tx: lmdb.Transaction, row: Row) -> None:
        if row.state == WAITING:
            tx.delete(queue_key(row.host), pack_rank(row.rank), db=self._queues)
        elif row.state == DELAYED and row.due is not None:
            tx.delete(pack_moment(row.due, row.id), db=self._delays)
        elif row.state == BEHIND:
            self._behind.remove(tx, row)

    def sync_unlocked(self) -> None:
        """Nothing can be synced without the lock: commits write to the same file."""

    def sync(self) -> None:
        with self._errors_translated():
            self._env.sync(True)

    def close(self) -> None:
        # If this fails, the next run finds them as after a kill. After a failed write some of these are not
        # settled, and without an entry in their queue they would never be fetched.
        if self._stale.entries and not self._is_uncommitted:
            with suppress(lmdb.Error), self._env.begin(write=True) as tx:
                self._remove_stale(tx, sorted(self._stale.entries.values()), None)
                tx.delete(STALE_SINCE_KEY, db=self._counts)
        self._env.close()

    @contextmanager
    def _reading(self) -> Iterator[lmdb.Transaction]:
        with self._errors_translated(), self._env.begin() as tx:
            yield tx

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        try:
            yield
        except (
            lmdb.CorruptedError,
            lmdb.InvalidError,
            lmdb.PageNotFoundError,
            msgspec.MsgspecError,
        ) as error:
            raise StateDamaged(
                f"{self._path} is damaged ({error}): restore it from a copy, or start over with --fresh"
            ) from error
        except lmdb.VersionMismatchError as error:
            raise StateError(f"{self._path} was written by another version of LMDB ({error})") from error
        except lmdb.Error as error:
            raise StorageFailed(f"{self._path}: {error}; check the disk, then run again") from error


class LmdbStore(FolderStore):
    """The frontier in an LMDB environment: a memory-mapped file of sorted keys."""

    backend = "lmdb"
    format = 2
    file_name = "state.lmdb"
    rows_type = LmdbRows


def _is_of(packed: Packed, outcomes: frozenset[Outcome]) -> bool:
    return (packed_outcome(packed) or Outcome.PENDING) in outcomes


def mapped_bytes() -> int:
    """Resident memory of this process that belongs to mapped files; 0 if the system does not say."""
    try:
        with open(_STATM, "rb") as file:
            return int(file.read().split()[_SHARED]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0

"""Rows in SQLite.

One connection reads, writes and checkpoints, so nothing ever waits for a lock and the write-ahead log is
reset by its only user. Commits go to that log without a sync (``synchronous=NORMAL``): they survive the
process at once, and a power cut after ``sync``. A power cut may undo the last commits, each as a whole; it
cannot damage the file, because the log is checksummed and synced before anything is copied from it.
"""

import os
from array import array
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import apsw
import msgspec

from sumi.errors import StateDamaged, StateError
from sumi.files.sqlite_file import open_sqlite, sqlite_errors, transaction
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
from sumi.state.sqlite import sql

FIRST_CACHE_KIB = 8 * 1024  # plus the next for each known URL
CACHED_BYTES_PER_URL = 64
CACHE_KIB = 64 * 1024  # at most: the tree of a million keys fits, so that random inserts stay in memory
# The log is checkpointed when it has this many pages: by ``sync``, which runs outside the event loop. If that
# is not called, a commit does it once the log is four times as long. Not smaller: with ten thousand hosts, a
# quarter of this costs 3 µs more CPU time per page, and four times as many writes.
LOG_PAGES = 16_384


class SqliteRows:
    schema: ClassVar[str] = sql.SCHEMA
    application_id: ClassVar[int] = sql.APPLICATION_ID
    user_version: ClassVar[int] = sql.USER_VERSION
    cache_kib: ClassVar[int] = CACHE_KIB
    first_cache_kib: ClassVar[int] = FIRST_CACHE_KIB

    def __init__(self, path: Path, *, strict: bool, readonly: bool = False) -> None:
        self._path = path
        self._log_pages = 0
        self._log: int | None = None
        with self._errors_translated():
            self._db = open_sqlite(path, readonly=readonly)
            if not readonly:
                self._prepare_writing(strict=strict)
            self._check_schema()
            if not readonly:
                self._db.execute(sql.INDEX_BEHIND)
                if self._cache_kib < self.cache_kib:
                    self._fit_cache(self._db.execute(sql.LAST_ID).get or 0)

    def _prepare_writing(self, *, strict: bool) -> None:
        self._db.pragma("journal_mode", "WAL")
        self._db.pragma("synchronous", "FULL" if strict else "NORMAL")
        self._cache_kib = 0
        self._fit_cache(0)
        self._db.set_wal_hook(self._logged)
        if not self._db.execute("SELECT count(*) FROM sqlite_schema").get:
            self._db.execute(f"BEGIN IMMEDIATE; {self.schema} COMMIT")
        self._log = _open_log(self._path)

    def _fit_cache(self, known: int) -> None:
        """Keys are looked up all over their tree; everything else is read and written near the end."""
        wanted = min(self.cache_kib, self.first_cache_kib + known * CACHED_BYTES_PER_URL // 1024)
        if 4 * wanted > 5 * self._cache_kib:
            self._cache_kib = wanted
            self._db.pragma("cache_size", -wanted)

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def find(self, urls: Sequence[str]) -> list[Row]:
        with self._errors_translated():
            found = [*map(Row._make, self._db.executemany(sql.FIND, [(url_key(url),) for url in urls]))]
        wanted = set(urls)
        for row in found:
            if row.url not in wanted:
                raise StateDamaged(f"{self._path}: the row of {row.url[:200]} carries another URL's key")
        return found

    def queue(self, host: str, start: Rank, limit: int) -> list[Rank]:
        with self._errors_translated():
            ranks: list[Any] = self._db.execute(sql.QUEUE, (host, *start, limit)).fetchall()
            return ranks

    def queued(self, places: Sequence[tuple[str, int]]) -> list[Row]:
        if not places:
            return []
        rows = self._rows(sql.QUEUED, (apsw.carray(array("q", [row_id for _, row_id in places])),))
        if len(rows) < len(places):
            raise StateDamaged(f"{self._path}: a queue names a row that does not exist")
        return rows

    def due(self, now: float, limit: int) -> list[Row]:
        return self._rows(sql.DUE, (now, limit))

    def next_due(self) -> float | None:
        with self._errors_translated():
            due: float | None = self._db.execute(sql.NEXT_DUE).get
            return due

    def first_due(self) -> Iterable[tuple[str, float]]:
        with self._errors_translated():
            return [(host, due) for host, due in self._db.execute(sql.FIRST_DUE)]

    def behind(self, host: str, is_page: bool, limit: int) -> list[Row]:
        return self._rows(sql.BEHIND_OF, (host, is_page, limit))

    def first_behind(self) -> Iterable[tuple[str, bool, float]]:
        with self._errors_translated():
            found = self._db.execute(sql.FIRST_BEHIND)
            return [(host, bool(is_page), due) for host, is_page, due in found]

    def open_sitemaps(self) -> Iterable[Row]:
        return self._rows(sql.OPEN_SITEMAPS, ())

    def page(self, after: int, limit: int, outcomes: frozenset[Outcome] | None) -> list[Row]:
        if outcomes is None:
            return self._rows(sql.PAGE, (after, limit))
        return self._rows(sql.PAGE_OF_OUTCOMES, (after, msgspec.json.encode(outcomes).decode(), limit))

    def page_waiting_again(self, after: int, limit: int) -> list[Row]:
        return self._rows(sql.PAGE_WAITING_AGAIN, (after, limit))

    def attempts(self) -> Iterable[AttemptRow]:
        with self._errors_translated():
            yield from map(AttemptRow._make, self._db.execute(sql.ALL_ATTEMPTS))

    def attempts_of(self, row: Row) -> list[AttemptRow]:
        with self._errors_translated():
            return chain_of(row, self._attempt)

    def _attempt(self, serial: int) -> AttemptRow | None:
        for found in self._db.execute(sql.ATTEMPT, (serial,)):
            return AttemptRow._make(found)
        return None

    def settled_since(self, serial: int) -> list[str]:
        with self._errors_translated():
            return [url for (url,) in self._db.execute(sql.SETTLED_SINCE, (serial,))]

    def totals(self) -> Totals:
        with self._errors_translated():
            json: str | None = self._db.execute(sql.GET_TOTALS).get
        try:
            return msgspec.json.decode(json, type=Totals) if json else Totals()
        except msgspec.MsgspecError as error:
            raise StateDamaged(f"{self._path}: its totals cannot be read: {error}") from None

    def open_hosts(self) -> Iterable[OpenHost]:
        with self._errors_translated():
            waiting = [OpenHost(host, n, 0) for host, n in self._db.execute(sql.COUNT_WAITING)]
            later = (*self._db.execute(sql.COUNT_DELAYED), *self._db.execute(sql.COUNT_BEHIND))
            return waiting + [OpenHost(host, 0, n) for host, n in later]

    def hosts(self) -> Iterable[HostRow]:
        with self._errors_translated():
            return [HostRow._make(row) for row in self._db.execute(sql.GET_HOSTS)]

    def robots(self, origin: str) -> RobotsRecord | None:
        with self._errors_translated():
            for row in self._db.execute(sql.GET_ROBOTS, (origin,)):
                return RobotsRecord(*row)
        return None

    def all_robots(self) -> Iterable[RobotsRecord]:
        with self._errors_translated():
            return [RobotsRecord(*row) for row in self._db.execute(sql.ALL_ROBOTS)]

    def note(self, key: str) -> str | None:
        with self._errors_translated():
            value: str | None = self._db.execute(sql.GET_NOTE, (key,)).get
            return value

    def notes(self) -> Iterable[tuple[str, str]]:
        with self._errors_translated():
            return [(key, value) for key, value in self._db.execute(sql.ALL_NOTES)]

    def _rows(self, statement: str, bindings: tuple[object, ...]) -> list[Row]:
        with self._errors_translated():
            return list(map(Row._make, self._db.execute(statement, bindings)))

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    def write(self, change: Change) -> None:
        with self._errors_translated():
            with transaction(self._db):
                self._put(change)
            if self._log_pages > 4 * LOG_PAGES:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _put(self, change: Change) -> None:
        self._put_urls(change.inserted, change.updated)
        many = self._db.executemany
        if change.attempts:
            many(sql.ADD_ATTEMPT, change.attempts)
        if change.hosts:
            many(sql.PUT_HOST, change.hosts)
        for r in change.robots:
            self._db.execute(sql.PUT_ROBOTS, (r.origin, r.status, r.body, r.fetched_at, r.trouble))
        if change.notes:
            many(sql.PUT_NOTE, change.notes)
        if change.totals is not None:
            self._db.execute(sql.PUT_TOTALS, (msgspec.json.encode(change.totals).decode(),))

    def _put_urls(self, inserted: list[Row], updated: list[tuple[Row, Row]]) -> None:
        many = self._db.executemany
        if inserted:
            many(sql.INSERT, [(*row, url_key(row.url)) for row in inserted])
            self._fit_cache(inserted[-1].id)
        # The first three fields (id, url, host) never change, and most others do not when a page ends. Each
        # statement ends with the id.
        ended = [(*new[9:], new.id) for old, new in updated if old[3:9] == new[3:9]]
        if ended:
            many(sql.END, ended)
        if len(ended) < len(updated):
            many(sql.UPDATE, [(*new[3:], new.id) for old, new in updated if old[3:9] != new[3:9]])

    def sync_unlocked(self) -> None:
        """The log, through a descriptor of our own. It may have grown meanwhile, which does no harm."""
        with self._errors_translated():
            if self._log is not None:
                os.fdatasync(self._log)

    def sync(self) -> None:
        with self._errors_translated():
            if self._log_pages > LOG_PAGES:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)
        with self._errors_translated():
            self._db.close()

    def _logged(self, _db: apsw.Connection, _schema: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    # ── opening ────────────────────────────────────────────────────────────────────────────────────────

    def _check_schema(self) -> None:
        made_by, version = self._db.pragma("application_id"), self._db.pragma("user_version")
        if made_by != self.application_id:
            raise StateError(f"{self._path} is the database of another program or job: use another name")
        if version != self.user_version:
            raise StateError(
                f"{self._path} has version {version}, this version of sumi reads {self.user_version}: "
                "use the version that wrote it, or start over with --fresh"
            )

    def _errors_translated(self) -> AbstractContextManager[None]:
        return sqlite_errors(self._path, "start over with --fresh")


class SqliteStore(FolderStore):
    """The frontier in one SQLite file, which any SQLite tool can read."""

    backend = "sqlite"
    format = 2
    file_name = "state.sqlite"
    rows_type = SqliteRows


def _open_log(path: Path) -> int:
    """The write-ahead log through a descriptor of our own, to sync it from another thread.

    SQLite holds no locks on this file, so closing our descriptor drops none. The file exists, because the
    connection has read the schema by now, and is kept as long as the connection.
    """
    return os.open(f"{path}-wal", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)

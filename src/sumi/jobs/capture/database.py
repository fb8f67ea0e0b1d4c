"""The SQLite database of a capture folder: jobs, their pages, failures, and contents by their SHA-256.

A page belongs to one job; contents are shared by all. The cache of a later job are the pages of earlier ones,
by URL or by address, the youngest first.

Each write is a transaction that survives the death of the process; ``sync`` makes it survive a power cut. One
process writes at a time, the one that holds the folder's lock; others may read meanwhile.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import apsw
import msgspec

from sumi.errors import StateError
from sumi.files.sqlite_file import open_sqlite, sqlite_errors, transaction
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage, StoredDigest
from sumi.parse.page.raw import unpacked

SqlValue: TypeAlias = str | int | float | bytes | None
Write: TypeAlias = Callable[[], None]
Keys: TypeAlias = Sequence[str | None]  # four; see ``CapturedPage.vary_key``

PAGES_AT_ONCE = 200
MOST_CONTENT_BYTES = 1024**3  # the largest --max-body
# Pages of the write-ahead log (64 MiB) after which a writer stops for a checkpoint. With SQLite's default of
# 1000, a capture of 2,000 pages waited for the disk 116 times; ``sync`` does nearly all of it in a thread.
WAL_PAGES = 16_384


# ── schema and statements ──────────────────────────────────────────────────────────────────────────────────

# ruff: noqa: S608 - only our own column names are put together here

APPLICATION_ID: Final = 0x53756D43  # "SumC"
USER_VERSION: Final = 3

_SALT = """
CREATE TABLE salt(value BLOB NOT NULL) STRICT;
INSERT INTO salt VALUES (randomblob(16));
"""
SCHEMA: Final = f"""
CREATE TABLE jobs(
  id TEXT PRIMARY KEY, base_urls TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL,
  settings TEXT NOT NULL, started REAL, ended REAL, pages_found INTEGER NOT NULL,
  pages_processed INTEGER NOT NULL, pages_failed INTEGER NOT NULL, queue_size INTEGER NOT NULL
) STRICT;
CREATE TABLE pages(
  number INTEGER PRIMARY KEY,
  job TEXT NOT NULL, url TEXT NOT NULL, address TEXT NOT NULL, text TEXT NOT NULL, body TEXT, title TEXT,
  base INTEGER NOT NULL, depth INTEGER NOT NULL, status INTEGER NOT NULL, content_type TEXT, etag TEXT,
  last_modified TEXT, rendered TEXT, fresh_for REAL, cached TEXT NOT NULL,
  fetched_at REAL NOT NULL, duplicate_of TEXT, asked_with TEXT, simhash TEXT,
  UNIQUE(job, url)
) STRICT;
CREATE INDEX pages_by_url ON pages(url, fetched_at);
CREATE INDEX pages_by_address ON pages(address, fetched_at) WHERE address <> url;
CREATE INDEX duplicates ON pages(job, duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE TABLE failures(
  job TEXT NOT NULL, url TEXT NOT NULL, error TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY(job, url)
) STRICT, WITHOUT ROWID;
CREATE TABLE contents(hash TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE digests(body TEXT NOT NULL, terms TEXT NOT NULL, data BLOB NOT NULL, UNIQUE(body, terms)) STRICT;
{_SALT}
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={USER_VERSION};
"""
# From version 2, which did not store how its pages were requested.
UPGRADE: Final = f"ALTER TABLE pages ADD COLUMN asked_with TEXT; {_SALT} PRAGMA user_version={USER_VERSION}"
UPGRADABLE: Final = 2

JOB_COLUMNS: Final = ", ".join(CaptureJob.__struct_fields__)
PAGE_COLUMNS: Final = ", ".join(CapturedPage.__struct_encode_fields__)


def _marks(columns: str) -> str:
    return ", ".join("?" * (columns.count(",") + 1))


PUT_JOB: Final = f"INSERT OR REPLACE INTO jobs({JOB_COLUMNS}) VALUES ({_marks(JOB_COLUMNS)})"
GET_JOB: Final = f"SELECT {JOB_COLUMNS} FROM jobs WHERE id = ?"
ALL_JOBS: Final = f"SELECT {JOB_COLUMNS} FROM jobs ORDER BY created, id"
# Not REPLACE: a page that is put again keeps its number, and so its place among the alternates.
PUT_PAGE: Final = (
    f"INSERT INTO pages(job, {PAGE_COLUMNS}) VALUES (?, {_marks(PAGE_COLUMNS)}) "
    "ON CONFLICT(job, url) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in CapturedPage.__struct_encode_fields__[1:])
)
# A page comes before its duplicates, which wait for it to be settled.
PAGES: Final = (
    f"SELECT number, {PAGE_COLUMNS} FROM pages "
    "WHERE job = ? AND number > ? AND duplicate_of IS NULL ORDER BY number LIMIT ?"
)
SIMHASHES: Final = (
    "SELECT url, simhash FROM pages "
    "WHERE job = ? AND duplicate_of IS NULL AND simhash IS NOT NULL ORDER BY number"
)
PAGE_URLS: Final = "SELECT url FROM pages WHERE job = ?"
DROP_PAGE: Final = "DELETE FROM pages WHERE job = ? AND url = ?"
COUNT_PAGES: Final = "SELECT count(*) FROM pages WHERE job = ? AND duplicate_of IS NULL"
COUNT_BASES: Final = (
    "SELECT base, count(*) FROM pages WHERE job = ? AND duplicate_of IS NULL GROUP BY base ORDER BY base"
)
COUNT_LEVELS: Final = "SELECT cached, count(*) FROM pages WHERE job = ? GROUP BY cached"
ALTERNATES: Final = "SELECT url FROM pages WHERE job = ? AND duplicate_of = ? ORDER BY number"
NAME_GROUP: Final = (
    "UPDATE pages SET duplicate_of = nullif(?1, url) "
    "WHERE job = ?2 AND url IN (SELECT value FROM json_each(?3))"
)
# A page that came second has no title of its own.
TAKE_TITLE: Final = (
    "UPDATE pages SET title = (SELECT title FROM pages WHERE job = ?2 AND url = ?3) "
    "WHERE job = ?2 AND url = ?1 AND title IS NULL"
)
# A key that is None matches nothing: NULL is IN no list.
_SAME_KEY = "asked_with IN (?2, ?3, ?4, ?5)"
CACHED: Final = (
    f"SELECT {PAGE_COLUMNS} FROM pages WHERE url = ?1 AND {_SAME_KEY} ORDER BY fetched_at DESC LIMIT 1"
)
CACHED_AT: Final = (
    f"SELECT * FROM (SELECT {PAGE_COLUMNS} FROM pages WHERE url = ?1 AND address = ?1 AND {_SAME_KEY} "
    "ORDER BY fetched_at DESC LIMIT 1) "
    f"UNION ALL SELECT * FROM (SELECT {PAGE_COLUMNS} FROM pages WHERE address = ?1 AND address <> url "
    f"AND {_SAME_KEY} ORDER BY fetched_at DESC LIMIT 1) ORDER BY fetched_at DESC LIMIT 1"
)
SALT: Final = "SELECT value FROM salt"

ANY_PAGE: Final = "SELECT 1 FROM pages LIMIT 1"

PUT_FAILURE: Final = "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)"
DROP_FAILURE: Final = "DELETE FROM failures WHERE job = ? AND url = ?"
FAILURES: Final = "SELECT url, error, at FROM failures WHERE job = ? ORDER BY at, url"

PUT_CONTENT: Final = "INSERT OR IGNORE INTO contents VALUES (?, ?)"
GET_CONTENT: Final = "SELECT data FROM contents WHERE hash = ?"
HAS_CONTENT: Final = "SELECT 1 FROM contents WHERE hash = ?"
PUT_DIGEST: Final = "INSERT OR REPLACE INTO digests VALUES (?, ?, ?)"
GET_DIGEST: Final = "SELECT data FROM digests WHERE body = ? AND terms = ?"

DROP_JOB: Final = (
    "DELETE FROM jobs WHERE id = ?1; DELETE FROM pages WHERE job = ?1; DELETE FROM failures WHERE job = ?1"
)
# Without indexes: they would have to be updated with every page, and only this needs them.
DROP_UNUSED: Final = (
    "DELETE FROM contents WHERE hash NOT IN (SELECT text FROM pages) "
    "AND hash NOT IN (SELECT body FROM pages WHERE body IS NOT NULL); "
    "DELETE FROM digests WHERE body NOT IN (SELECT body FROM pages WHERE body IS NOT NULL)"
)


class CaptureDatabase:
    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._path = path
        self._log: int | None = None
        self._carrier: apsw.Connection | None = None
        with self._errors_explained():
            self._db = open_sqlite(path, readonly=readonly)
            if self._version == UPGRADABLE and self._is_ours:
                _upgrade(path)
            if not readonly:
                self._db.pragma("journal_mode", "WAL")
                self._db.pragma("synchronous", "NORMAL")
                self._db.pragma("wal_autocheckpoint", WAL_PAGES)
                if not self._db.execute("SELECT count(*) FROM sqlite_schema").get:
                    self._db.execute(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT")
                self._log = os.open(f"{path}-wal", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC)
                self._carrier = open_sqlite(path, readonly=False)
            self._check_schema()

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)
        with self._errors_explained():
            if self._carrier is not None:
                self._carrier.close()
            self._db.close()

    def sync(self) -> None:
        """Slow: call it in a thread. Writers are not blocked meanwhile."""
        with self._errors_explained():
            if self._log is not None:
                os.fdatasync(self._log)
            if self._carrier is not None:
                self._carrier.wal_checkpoint()

    # ── jobs ───────────────────────────────────────────────────────────────────────────────────────────

    def put_job(self, job: CaptureJob) -> None:
        bases = msgspec.json.encode(job.base_urls).decode()
        row = msgspec.structs.astuple(job)
        with self.transaction():
            self._db.execute(PUT_JOB, (row[0], bases, *row[2:]))

    def job(self, job_id: str) -> CaptureJob | None:
        return next((_job(row) for row in self._rows(GET_JOB, (job_id,))), None)

    def jobs(self) -> list[CaptureJob]:
        """Oldest first."""
        return [_job(row) for row in self._rows(ALL_JOBS, ())]

    def delete_job(self, job_id: str) -> None:
        """With its pages, and the contents that no other job uses."""
        with self.transaction():
            self._db.execute(DROP_JOB, (job_id,) * 3)
            self._db.execute(DROP_UNUSED)

    # ── pages ──────────────────────────────────────────────────────────────────────────────────────────

    def put_contents(
        self, contents: Sequence[tuple[str, bytes]], digests: Sequence[StoredDigest] = ()
    ) -> None:
        """Packed contents by the SHA-256 of the unpacked ones, and their digests."""
        if not contents and not digests:
            return
        with self.transaction():
            self._db.executemany(PUT_CONTENT, contents)
            self._db.executemany(PUT_DIGEST, digests)

    def put_page(self, job_id: str, page: CapturedPage) -> None:
        with self.transaction():
            self._db.execute(PUT_PAGE, (job_id, *_values(page)))

    def put_failure(self, job_id: str, failure: FailedPage) -> None:
        with self.transaction():
            self._db.execute(PUT_FAILURE, (job_id, *_values(failure)))

    def drop_failure(self, job_id: str, url: str) -> None:
        with self.transaction():
            self._db.execute(DROP_FAILURE, (job_id, url))

    def drop_pages(self, job_id: str, urls: Iterable[str]) -> None:
        with self.transaction():
            self._db.executemany(DROP_PAGE, [(job_id, url) for url in urls])

    def name_group(self, job_id: str, first: str, page: str, urls: Sequence[str]) -> None:
        """Of these URLs with the text of ``first``, ``page`` is the page and the others are its names."""
        with self.transaction():
            self._db.execute(TAKE_TITLE, (page, job_id, first))
            self._db.execute(NAME_GROUP, (page, job_id, msgspec.json.encode(urls).decode()))

    def pages(self, job_id: str) -> Iterator[CapturedPage]:
        """Without duplicates, in the order in which they were captured."""
        after = 0
        while rows := self._rows(PAGES, (job_id, after, PAGES_AT_ONCE)):
            for row in rows:
                yield _page(row[1:])
            after = rows[-1][0]

    def alternates(self, job_id: str, page: CapturedPage) -> tuple[str, ...]:
        """Every URL of a page: its own, then those with the same text in the order they were captured."""
        rows = self._rows(ALTERNATES, (job_id, page.url))
        return (page.url, *(url for (url,) in rows))

    def simhashes(self, job_id: str) -> list[tuple[str, int]]:
        """In the order of ``pages``."""
        return [(url, int(text, 16)) for url, text in self._rows(SIMHASHES, (job_id,))]

    def page_urls(self, job_id: str) -> set[str]:
        return {url for (url,) in self._rows(PAGE_URLS, (job_id,))}

    def count_pages(self, job_id: str) -> int:
        return int(self._rows(COUNT_PAGES, (job_id,))[0][0])

    def count_by_base(self, job_id: str) -> dict[int, int]:
        return dict(self._rows(COUNT_BASES, (job_id,)))

    def count_by_level(self, job_id: str) -> dict[CacheLevel, int]:
        return {CacheLevel(level): count for level, count in self._rows(COUNT_LEVELS, (job_id,))}

    def failures(self, job_id: str) -> list[FailedPage]:
        return [FailedPage(*row) for row in self._rows(FAILURES, (job_id,))]

    # ── the cache ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def has_pages(self) -> bool:
        return bool(self._rows(ANY_PAGE, ()))

    @property
    def salt(self) -> bytes:
        """Random, chosen when the folder was created."""
        return bytes(self._rows(SALT, ())[0][0])

    def cached(self, url: str, keys: Keys) -> CapturedPage | None:
        """The youngest copy of a page in any job that was requested with one of these vary keys."""
        return next((_page(row) for row in self._rows(CACHED, (url, *keys))), None)

    def cached_at(self, address: str, keys: Keys) -> CapturedPage | None:
        """The same by the URL that was requested."""
        return next((_page(row) for row in self._rows(CACHED_AT, (address, *keys))), None)

    def has_content(self, sha256: str) -> bool:
        return bool(self._rows(HAS_CONTENT, (sha256,)))

    def content(self, sha256: str) -> bytes | None:
        """Unpacked; None if it is missing or damaged."""
        rows = self._rows(GET_CONTENT, (sha256,))
        return unpacked(rows[0][0], MOST_CONTENT_BYTES) if rows else None

    def digest(self, body_sha256: str, request_hash: str) -> bytes | None:
        """The data of a ``StoredDigest``."""
        rows = self._rows(GET_DIGEST, (body_sha256, request_hash))
        return rows[0][0] if rows else None

    # ── the database itself ────────────────────────────────────────────────────────────────────────────

    def _rows(self, statement: str, bindings: Sequence[SqlValue]) -> list[tuple[Any, ...]]:
        with self._errors_explained():
            return list(self._db.execute(statement, bindings))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes within succeed or none does; a nested transaction is part of the outer one."""
        with self._errors_explained(), transaction(self._db):
            yield

    @property
    def _is_ours(self) -> bool:
        return bool(self._db.pragma("application_id") == APPLICATION_ID)

    @property
    def _version(self) -> int:
        return int(str(self._db.pragma("user_version")))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads within see the same state, whatever others write meanwhile."""
        with self._errors_explained():
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            with self._errors_explained():
                self._db.execute("ROLLBACK")

    def _check_schema(self) -> None:
        if not self._is_ours:
            raise StateError(f"{self._path} is the database of another program: use another --captures")
        if self._version != USER_VERSION:
            raise StateError(
                f"{self._path} has version {self._version}, this version of sumi reads {USER_VERSION}: "
                "use the version that wrote it, or another --captures"
            )

    def _errors_explained(self) -> AbstractContextManager[None]:
        return sqlite_errors(self._path, "use another --captures")


_JOB_FIELDS = CaptureJob.__struct_fields__
_LEVEL = CapturedPage.__struct_fields__.index("cached")


def _values(row: CapturedPage | FailedPage) -> tuple[SqlValue, ...]:
    return msgspec.structs.astuple(row)


def _job(row: Sequence[SqlValue]) -> CaptureJob:
    named = dict(zip(_JOB_FIELDS, row, strict=True))
    named["base_urls"] = msgspec.json.decode(str(named["base_urls"]))
    return msgspec.convert(named, CaptureJob)


def _page(row: tuple[Any, ...]) -> CapturedPage:
    values = list(row)
    values[_LEVEL] = CacheLevel(values[_LEVEL])
    return CapturedPage(*values)


def _upgrade(path: Path) -> None:
    """Works while a process of the earlier version is running: that writes only the columns it knows."""
    db = open_sqlite(path, readonly=False)
    try:
        db.execute("BEGIN IMMEDIATE")
        if db.pragma("user_version") == UPGRADABLE:  # no other process has upgraded it meanwhile
            db.execute(UPGRADE)
        db.execute("COMMIT")
    finally:
        db.close()


class BatchWriter:
    """Puts all writes of one turn of the event loop into one transaction: pages come in bursts, and a
    transaction takes as long as writing a page's rows.

    ``last`` is called once per transaction, after the other writes.
    """

    def __init__(self, database: CaptureDatabase, last: Write) -> None:
        self._database = database
        self._last = last
        self._waiting: list[tuple[Write, asyncio.Future[None]]] = []

    async def do(self, write: Write) -> None:
        """Returns when it is written. Raises what writing raised; then nothing of this turn was written."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._write_all)
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append((write, written))
        await written

    def _write_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            with self._database.transaction():
                for write, _ in waiting:
                    write()
                self._last()
        except Exception as error:  # noqa: BLE001 - raised in the tasks that wait for the write
            for _, written in waiting:
                if not written.done():
                    written.set_exception(error)
            return
        for _, written in waiting:
            if not written.done():
                written.set_result(None)

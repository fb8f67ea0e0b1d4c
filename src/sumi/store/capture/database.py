"""The database of a capture folder: jobs, their pages, failures, and contents by their SHA-256.

Each write is a transaction that outlives the process at once; ``sync`` makes it outlive a power cut. One
process writes at a time, the one that holds the folder's lock; others may read meanwhile.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import msgspec

from sumi.errors import StateDamaged, StateError, StateLocked, StorageFailed
from sumi.parse.raw import unpacked
from sumi.store.capture import sql
from sumi.store.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage

SqlValue: TypeAlias = str | int | float | bytes | None

BUSY_MS = 5000
PAGES_AT_ONCE = 200
MOST_CONTENT_BYTES = 1024**3  # what --max-body allows at most


class CaptureDatabase:
    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._path = path
        self._log: int | None = None
        with self._trouble_named():
            self._db = _open(path, readonly=readonly)
            if not readonly:
                self._db.pragma("journal_mode", "WAL")
                self._db.pragma("synchronous", "NORMAL")
                if not self._db.execute("SELECT count(*) FROM sqlite_schema").get:
                    self._db.execute(f"BEGIN IMMEDIATE; {sql.SCHEMA} COMMIT")
                self._log = os.open(f"{path}-wal", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC)
            self._check_schema()

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)
        with self._trouble_named():
            self._db.close()

    def sync(self) -> None:
        """Slow: call it in a thread."""
        with self._trouble_named():
            if self._log is not None:
                os.fdatasync(self._log)

    # ── jobs ───────────────────────────────────────────────────────────────────────────────────────────

    def put_job(self, job: CaptureJob) -> None:
        with self._transaction():
            self._put_job(job)

    def job(self, job_id: str) -> CaptureJob | None:
        return next((_job(row) for row in self._rows(sql.GET_JOB, (job_id,))), None)

    def jobs(self) -> list[CaptureJob]:
        """Oldest first."""
        return [_job(row) for row in self._rows(sql.ALL_JOBS, ())]

    def delete_job(self, job_id: str) -> None:
        """With its pages, and the contents that no other job has."""
        with self._transaction():
            self._db.execute(sql.DROP_JOB, (job_id,) * 3)
            self._db.execute(sql.DROP_UNUSED)

    # ── pages ──────────────────────────────────────────────────────────────────────────────────────────

    def put_contents(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Packed ones, by the hash of what they hold."""
        with self._transaction():
            self._db.executemany(sql.PUT_CONTENT, contents)

    def put_page(self, job: CaptureJob, page: CapturedPage) -> None:
        """The page, and how its job stands with it."""
        with self._transaction():
            self._db.execute(sql.PUT_PAGE, (job.id, *_values(page)))
            self._db.execute(sql.DROP_FAILURE, (job.id, page.url))
            self._put_job(job)

    def put_failure(self, job: CaptureJob, failure: FailedPage) -> None:
        with self._transaction():
            self._db.execute(sql.PUT_FAILURE, (job.id, *_values(failure)))
            self._put_job(job)

    def drop_pages(self, job_id: str, urls: Iterable[str]) -> None:
        with self._transaction():
            self._db.executemany(sql.DROP_PAGE, [(job_id, url) for url in urls])

    def pages(self, job_id: str) -> Iterator[CapturedPage]:
        """Those of their own text, in the order in which they came."""
        after = 0
        while rows := self._rows(sql.PAGES, (job_id, after, PAGES_AT_ONCE)):
            for row in rows:
                yield _page(row[1:])
            after = rows[-1][0]

    def alternates(self, job_id: str, page: CapturedPage) -> tuple[str, ...]:
        """Every URL of a page: its own first, then those of the same text, in the order of their finding."""
        rows = self._rows(sql.ALTERNATES, (job_id, page.text, page.url))
        return (page.url, *(url for (url,) in rows))

    def page_urls(self, job_id: str) -> set[str]:
        return {url for (url,) in self._rows(sql.PAGE_URLS, (job_id,))}

    def count_pages(self, job_id: str) -> int:
        return int(self._rows(sql.COUNT_PAGES, (job_id,))[0][0])

    def count_failures(self, job_id: str) -> int:
        return int(self._rows(sql.COUNT_FAILURES, (job_id,))[0][0])

    def count_by_base(self, job_id: str) -> dict[int, int]:
        return dict(self._rows(sql.COUNT_BASES, (job_id,)))

    def count_by_level(self, job_id: str) -> dict[CacheLevel, int]:
        return {CacheLevel(level): count for level, count in self._rows(sql.COUNT_LEVELS, (job_id,))}

    def failures(self, job_id: str) -> list[FailedPage]:
        return [FailedPage(*row) for row in self._rows(sql.FAILURES, (job_id,))]

    # ── what earlier jobs left ─────────────────────────────────────────────────────────────────────────

    @property
    def has_pages(self) -> bool:
        return bool(self._rows(sql.ANY_PAGE, ()))

    def cached(self, url: str) -> CapturedPage | None:
        """The youngest copy of a page, of whichever job."""
        return next((_page(row) for row in self._rows(sql.CACHED, (url,))), None)

    def cached_at(self, address: str) -> CapturedPage | None:
        """The same by what was requested."""
        return next((_page(row) for row in self._rows(sql.CACHED_AT, (address,))), None)

    def has_content(self, digest: str) -> bool:
        return bool(self._rows(sql.HAS_CONTENT, (digest,)))

    def content(self, digest: str) -> bytes | None:
        """Unpacked; None if it is not there or damaged."""
        rows = self._rows(sql.GET_CONTENT, (digest,))
        return unpacked(rows[0][0], MOST_CONTENT_BYTES) if rows else None

    # ── the database itself ────────────────────────────────────────────────────────────────────────────

    def _put_job(self, job: CaptureJob) -> None:
        bases = msgspec.json.encode(job.base_urls).decode()
        self._db.execute(sql.PUT_JOB, [*(msgspec.structs.asdict(job) | {"base_urls": bases}).values()])

    def _rows(self, statement: str, bindings: Sequence[SqlValue]) -> list[tuple[Any, ...]]:
        with self._trouble_named():
            return list(self._db.execute(statement, bindings))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._trouble_named():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _check_schema(self) -> None:
        made_by, version = self._db.pragma("application_id"), self._db.pragma("user_version")
        if made_by != sql.APPLICATION_ID:
            raise StateError(f"{self._path} is the database of another program: use another --store")
        if version != sql.USER_VERSION:
            raise StateError(
                f"{self._path} has version {version}, this version of sumi reads {sql.USER_VERSION}: "
                "use the version that wrote it, or another --store"
            )

    @contextmanager
    def _trouble_named(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise StateDamaged(
                f"{self._path} is damaged ({error}): restore it from a copy, or use another --store"
            ) from error
        except apsw.BusyError as error:
            raise StateLocked(f"{self._path} is in use by another program ({error})") from error
        except (apsw.Error, OSError) as error:
            raise StorageFailed(f"{self._path}: {error}; check the disk, then run again") from error


_JOB_FIELDS = CaptureJob.__struct_fields__


def _values(row: CapturedPage | FailedPage) -> tuple[SqlValue, ...]:
    return msgspec.structs.astuple(row)


def _job(row: Sequence[SqlValue]) -> CaptureJob:
    named = dict(zip(_JOB_FIELDS, row, strict=True))
    named["base_urls"] = msgspec.json.decode(str(named["base_urls"]))
    return msgspec.convert(named, CaptureJob)


def _page(row: Sequence[SqlValue]) -> CapturedPage:
    named = dict(zip(CapturedPage.__struct_fields__, row, strict=True))
    return msgspec.convert(named | {"must_ask": bool(named["must_ask"])}, CapturedPage)


def _open(path: Path, *, readonly: bool) -> apsw.Connection:
    access = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    # SQLite's refusal of symbolic links includes the folders above, which are the user's own business.
    name = os.path.join(os.path.realpath(path.parent), path.name)
    db = apsw.Connection(name, flags=access | apsw.SQLITE_OPEN_NOFOLLOW)
    db.set_busy_timeout(BUSY_MS)
    db.pragma("mmap_size", 0)  # an I/O error of a mapped file is a signal that ends the process
    return db

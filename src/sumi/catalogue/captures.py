"""The database of a store of captures, as others than its own job read it: jobs, pages, texts."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec

from sumi.errors import StateDamaged
from sumi.files.sqlite_file import open_sqlite

_APPLICATION_ID: Final = 0x53756D43  # "SumC"
_UNDER_WAY: Final = ("pending", "in_progress", "paused")
_JOBS: Final = "SELECT id, base_urls, status, created, pages_processed FROM jobs ORDER BY created, id"
_PAGES: Final = (
    "SELECT number, url, text, title, fetched_at, content_type, address, body, length(data) "
    "FROM pages LEFT JOIN contents ON hash = text "
    "WHERE job = ? AND number > ? AND duplicate_of IS NULL ORDER BY number LIMIT 200"
)
_DUPLICATES: Final = (
    "SELECT number, url, duplicate_of FROM pages "
    "WHERE job = ? AND number > ? AND duplicate_of IS NOT NULL ORDER BY number LIMIT 200"
)
_CONTENT: Final = "SELECT data FROM contents WHERE hash = ?"


class CaptureRow(msgspec.Struct, frozen=True):
    id: str
    base_urls: tuple[str, ...]
    status: str
    created: float
    pages: int

    @property
    def is_under_way(self) -> bool:
        """According to the record; its process may have died since."""
        return self.status in _UNDER_WAY


class CapturedText(msgspec.Struct, frozen=True, array_like=True):
    url: str
    sha256: str
    title: str | None
    fetched_at: float
    content_type: str | None
    address: str
    body: str | None  # SHA-256 of the response body; None if that is not stored
    packed_bytes: int


def capture_rows(database: Path) -> list[CaptureRow]:
    """Oldest first. Raises StateDamaged."""
    with open_captures(database) as captures:
        return captures.jobs()


class CaptureReader:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def jobs(self) -> list[CaptureRow]:
        return [
            CaptureRow(job, msgspec.json.decode(str(bases), type=tuple[str, ...]), status, created, pages)
            for job, bases, status, created, pages in self._rows(_JOBS, ())
        ]

    def pages(self, job_id: str) -> Iterator[CapturedText]:
        """Without duplicates, in the order in which they were captured."""
        after = 0
        while rows := self._rows(_PAGES, (job_id, after)):
            for _, *values, packed_bytes in rows:
                yield msgspec.convert((*values, packed_bytes or 0), CapturedText)
            after = rows[-1][0]

    def duplicates(self, job_id: str) -> Iterator[tuple[str, str]]:
        """URLs with the text of another page, and that page's."""
        after = 0
        while rows := self._rows(_DUPLICATES, (job_id, after)):
            for after, url, other in rows:  # noqa: B007 - the last one counts
                yield url, other

    def hold_moment(self) -> None:
        """Everything that is read from now on is as it was then, whatever a capture writes meanwhile."""
        self._db.execute("BEGIN")
        self._db.execute("SELECT 1 FROM jobs").fetchone()

    def packed(self, sha256: str) -> bytes | None:
        """A text as one zstd frame."""
        rows = self._rows(_CONTENT, (sha256,))
        return bytes(rows[0][0]) if rows else None

    def _rows(self, statement: str, bindings: tuple[str | int, ...]) -> list[tuple[Any, ...]]:
        return list(self._db.execute(statement, bindings))


@contextmanager
def open_captures(database: Path) -> Iterator[CaptureReader]:
    """Read only; a capture may be writing."""
    try:
        with closing(open_sqlite(database, readonly=True)) as db:
            if db.pragma("application_id") != _APPLICATION_ID:
                raise StateDamaged(f"{database} is the database of another program")
            yield CaptureReader(db)
    except (apsw.Error, msgspec.MsgspecError) as error:
        raise StateDamaged(f"{database} cannot be read: {error}") from error

"""The pages of several jobs as they were at one moment, in a stable order, whatever their number.

They are kept in a temporary database rather than in memory. Of a URL that several jobs have, the copy that
was fetched last counts.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from sumi.catalogue.pages import CapturedPage, Form
from sumi.policy import Preset
from sumi.urls import normalize

_SCHEMA: Final = """
CREATE TABLE page(
  number INTEGER PRIMARY KEY, job INTEGER NOT NULL, url TEXT NOT NULL UNIQUE, at REAL NOT NULL,
  is_file INTEGER NOT NULL, path TEXT NOT NULL, name TEXT UNIQUE, size INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE INDEX page_path ON page(job, path);
CREATE TABLE alias(url TEXT PRIMARY KEY, target TEXT NOT NULL) WITHOUT ROWID;
"""
_PUT: Final = """
INSERT INTO page(job, url, at, is_file, path, size, data) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(url) DO UPDATE SET job=excluded.job, at=excluded.at, is_file=excluded.is_file,
  path=excluded.path, size=excluded.size, data=excluded.data WHERE excluded.at > at
"""
_ROW: Final = "SELECT number, job, name, data FROM page "
_AT_ONCE: Final = 200
_MOST_HOPS: Final = 32  # from an alias to a page; this also ends a circle
_CACHE_KIB: Final = 16 * 1024


class Listed(NamedTuple):
    number: int  # pages count in the order in which they were found
    job: int
    name: str  # of its file in the export, where the format gives it one
    page: CapturedPage


class Listing:
    def __init__(self) -> None:
        self._db = apsw.Connection("")  # a file without a name: gone with the process, however that ends
        self._db.pragma("cache_size", -_CACHE_KIB)
        self._db.pragma("journal_mode", "OFF")
        self._db.execute(_SCHEMA)
        self._decode = msgspec.msgpack.Decoder(CapturedPage).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def close(self) -> None:
        self._db.close()

    # ── filled ─────────────────────────────────────────────────────────────────────────────────────────

    def add(self, job: int, pages: list[CapturedPage]) -> None:
        with self._db:
            self._db.executemany(
                _PUT,
                [
                    (
                        job,
                        page.url,
                        page.fetched_at,
                        page.form is Form.FILE,
                        page.path,
                        page.size,
                        self._encode(page),
                    )
                    for page in pages
                ],
            )

    def add_aliases(self, aliases: list[tuple[str, str]]) -> None:
        with self._db:
            self._db.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", aliases)

    def keep_since(self, since: float) -> None:
        """Forget pages that were last changed before."""
        rows = self._db.execute("SELECT number, data FROM page WHERE NOT is_file")
        old = [(number,) for number, data in rows if _changed_at(self._decode(_blob(data))) < since]
        with self._db:
            self._db.executemany("DELETE FROM page WHERE number = ?", old)

    def rename(self, names: list[tuple[str, int]]) -> None:
        """Names of files by the numbers of their pages."""
        with self._db:
            self._db.executemany("UPDATE page SET name = ? WHERE number = ?", names)

    # ── read ───────────────────────────────────────────────────────────────────────────────────────────

    def pages(self) -> Iterator[Listed]:
        """In the order in which they were found."""
        yield from self._in_order("number", "NOT is_file", -1)

    def by_url(self) -> Iterator[Listed]:
        """In the order of their URLs, by code point: the same for every run that found the same pages."""
        yield from self._in_order("url", "NOT is_file", "")

    def by_name(self) -> Iterator[Listed]:
        """In the order of the names of their files."""
        yield from self._in_order("name", "NOT is_file AND name IS NOT NULL", "")

    def files(self) -> Iterator[Listed]:
        yield from self._in_order("url", "is_file", "")

    def count(self) -> int:
        return self._number("SELECT count(*) FROM page WHERE NOT is_file")

    def size(self, *, with_files: bool) -> int:
        """About as many bytes as all pages have, and the files, where they are wanted."""
        return self._number(
            f"SELECT coalesce(sum(size), 0) FROM page WHERE is_file <= {int(with_files)}"  # noqa: S608
        )

    def sites(self) -> int:
        """How many hosts there are pages of."""
        found: set[str] = set()
        for listed in self.pages():
            found.add(listed.page.url.split("/", 3)[2] if "://" in listed.page.url else "")
            if len(found) > 1:
                break
        return len(found)

    def find(self, url: str) -> Listed | None:
        """The page or file of a URL without a fragment, through redirects and duplicates."""
        for _ in range(_MOST_HOPS):
            rows = list(self._db.execute(_ROW + "WHERE url = ?", (url,)))
            if rows:
                return self._listed(rows[0])
            aliases = list(self._db.execute("SELECT target FROM alias WHERE url = ?", (url,)))
            if not aliases:
                return None
            url = str(aliases[0][0])
        return None

    def find_target(self, target: str) -> tuple[Listed | None, str]:
        """What an absolute link leads to, and its fragment."""
        address, _, fragment = target.partition("#")
        url = normalize(address, Preset.MIRROR)
        return (None if url is None else self.find(url)), fragment

    def url_of_path(self, job: int, path: str) -> str | None:
        """The page or file that a job keeps under a path."""
        rows = list(self._db.execute("SELECT url FROM page WHERE job = ? AND path = ?", (job, path)))
        return str(rows[0][0]) if rows else None

    def _in_order(self, key: str, condition: str, after: str | int) -> Iterator[Listed]:
        """In slices, so that others may write between them."""
        statement = f"SELECT number, job, name, data, {key} FROM page WHERE {condition} AND {key} > ? ORDER BY {key} LIMIT {_AT_ONCE}"  # noqa: S608, E501 - of our own words
        while rows := list(self._db.execute(statement, (after,))):
            for row in rows:
                yield self._listed(row)
            after = rows[-1][-1]

    def _listed(self, row: tuple[Any, ...]) -> Listed:
        return Listed(row[0], row[1], row[2] or "", self._decode(row[3]))

    def _number(self, statement: str) -> int:
        return int(next(iter(self._db.execute(statement)))[0])


def _changed_at(page: CapturedPage) -> float:
    return page.fetched_at if page.changed_at is None else page.changed_at


def _blob(data: object) -> bytes:
    return data if isinstance(data, bytes) else b""

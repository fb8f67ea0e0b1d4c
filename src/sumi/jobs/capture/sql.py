"""The statements of a capture database.

A page belongs to its job alone; contents are shared by all. What a later job finds in its cache are the pages
of earlier ones, by URL or by address, the youngest first.
"""
# ruff: noqa: S608 - what is put together here are our own names of columns

from typing import Final

from sumi.jobs.capture.rows import CapturedPage, CaptureJob

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
# From version 2, which did not know what its pages were asked for with.
UPGRADE: Final = f"ALTER TABLE pages ADD COLUMN asked_with TEXT; {_SALT} PRAGMA user_version={USER_VERSION}"
UPGRADABLE: Final = 2

JOB_COLUMNS: Final = ", ".join(CaptureJob.__struct_fields__)
PAGE_COLUMNS: Final = ", ".join(CapturedPage.__struct_fields__)


def _marks(columns: str) -> str:
    return ", ".join("?" * (columns.count(",") + 1))


PUT_JOB: Final = f"INSERT OR REPLACE INTO jobs({JOB_COLUMNS}) VALUES ({_marks(JOB_COLUMNS)})"
GET_JOB: Final = f"SELECT {JOB_COLUMNS} FROM jobs WHERE id = ?"
ALL_JOBS: Final = f"SELECT {JOB_COLUMNS} FROM jobs ORDER BY created, id"
# Not REPLACE: a page that is put again keeps its number, and with it its place among the alternates.
PUT_PAGE: Final = (
    f"INSERT INTO pages(job, {PAGE_COLUMNS}) VALUES (?, {_marks(PAGE_COLUMNS)}) "
    "ON CONFLICT(job, url) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in CapturedPage.__struct_fields__[1:])
)
# A kept page comes before its duplicates: those wait for it to be settled.
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
# Of the forms that are asked for, None is none: it is IN no list.
_ALIKE = "asked_with IN (?2, ?3, ?4, ?5)"
CACHED: Final = (
    f"SELECT {PAGE_COLUMNS} FROM pages WHERE url = ?1 AND {_ALIKE} ORDER BY fetched_at DESC LIMIT 1"
)
CACHED_AT: Final = (
    f"SELECT * FROM (SELECT {PAGE_COLUMNS} FROM pages WHERE url = ?1 AND address = ?1 AND {_ALIKE} "
    "ORDER BY fetched_at DESC LIMIT 1) "
    f"UNION ALL SELECT * FROM (SELECT {PAGE_COLUMNS} FROM pages WHERE address = ?1 AND address <> url "
    f"AND {_ALIKE} ORDER BY fetched_at DESC LIMIT 1) ORDER BY fetched_at DESC LIMIT 1"
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
# By sets that are made for it: indexes for this alone would be written with every page.
DROP_UNUSED: Final = (
    "DELETE FROM contents WHERE hash NOT IN (SELECT text FROM pages) "
    "AND hash NOT IN (SELECT body FROM pages WHERE body IS NOT NULL); "
    "DELETE FROM digests WHERE body NOT IN (SELECT body FROM pages WHERE body IS NOT NULL)"
)

"""``.sumi-search/index.sqlite``: the words of pages and where their sections are, never the texts.

Derived from what was captured, so a damaged, missing or older one is built again. Readers never block; one
process at a time writes.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from sumi.corpus.indexed_text import IndexedPage, path_words
from sumi.errors import NotWritable, OutputRefused, StateDamaged, StorageFailed, UsageError

FOLDER: Final = ".sumi-search"
DATABASE: Final = "index.sqlite"
SCHEMA_NUMBER: Final = 2  # of the schema and of what is put into it
_APPLICATION_ID: Final = 0x53756D53  # "SumS"
_BUSY_MS: Final = 30_000
_FTS: Final = (
    "USING fts5(site, title, heads, lead, body, content='', contentless_delete=1, "
    'tokenize="unicode61 remove_diacritics 2")'
)
_GATHERED: Final = 8 * 1024 * 1024  # bytes of words before they are written: fewer, larger pieces
_SCHEMA: Final = f"""
CREATE TABLE source(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT NOT NULL,
  stamp TEXT NOT NULL, updated_at REAL NOT NULL, failed REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE site(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, host TEXT NOT NULL, ending TEXT NOT NULL DEFAULT '',
  UNIQUE(source, host)
) STRICT;
CREATE TABLE page(
  id INTEGER PRIMARY KEY, site INTEGER NOT NULL, url TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL,
  mark TEXT NOT NULL, sha256 TEXT NOT NULL, text_sha256 TEXT NOT NULL, form TEXT NOT NULL,
  tokens INTEGER NOT NULL, fetched_at REAL NOT NULL, fidelity REAL, link_share REAL NOT NULL,
  about TEXT NOT NULL, UNIQUE(site, url)
) STRICT;
CREATE INDEX page_url ON page(url);
CREATE TABLE section(
  id INTEGER PRIMARY KEY, page INTEGER NOT NULL, ord INTEGER NOT NULL, level INTEGER NOT NULL,
  anchor TEXT NOT NULL, heading TEXT NOT NULL, trail TEXT NOT NULL, start INTEGER NOT NULL,
  length INTEGER NOT NULL, tokens INTEGER NOT NULL, code REAL NOT NULL
) STRICT;
CREATE INDEX section_page ON section(page, ord);
CREATE VIRTUAL TABLE section_fts {_FTS};
CREATE VIRTUAL TABLE page_fts {_FTS};
CREATE VIRTUAL TABLE page_terms USING fts5vocab(page_fts, row);
INSERT INTO section_fts(section_fts, rank) VALUES ('hashsize', {_GATHERED});
INSERT INTO page_fts(page_fts, rank) VALUES ('hashsize', {_GATHERED});
PRAGMA application_id={_APPLICATION_ID};
PRAGMA user_version={SCHEMA_NUMBER};
"""  # noqa: S608 - our own numbers


class PageEntry(NamedTuple):
    """What is stored of a page beside its words. ``about`` is what its text was made with, for pages that
    are converted again whenever they are read."""

    url: str
    path: str
    title: str
    mark: str  # changes whenever what is indexed would
    sha256: str
    text_sha256: str
    form: str
    fetched_at: float
    fidelity: float | None
    about: str = ""


class SearchIndex:
    """``note``: why it was rebuilt, if an index was there."""

    def __init__(self, root: Path, *, readonly: bool = False) -> None:
        self.root = root
        self.note = ""
        self.path = root / FOLDER / DATABASE
        if (root / FOLDER).is_symlink():
            raise OutputRefused(f"{root / FOLDER} is a symbolic link: remove it, then search again")
        try:
            self.db = self._opened(readonly)
        except apsw.Error as error:
            raise _explained(self.path, error) from error
        self._inode = os.stat(self.path).st_ino

    def _opened(self, readonly: bool) -> apsw.Connection:
        try:
            return self._connect(readonly)
        except (apsw.CorruptError, apsw.NotADBError, _OtherVersion) as error:
            if readonly:
                raise StateDamaged(
                    f"{self.path} cannot be read ({error}): sumi index makes it again"
                ) from None
            self.note = f"{self.path} {_reason(error)}, so it is rebuilt"
            self.remove()
            return self._connect(readonly)

    def _connect(self, readonly: bool) -> apsw.Connection:
        if not readonly:
            with _folder_explained(self.path.parent):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = (
            apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        name = os.path.join(os.path.realpath(self.path.parent), self.path.name)
        db = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            db.set_busy_timeout(_BUSY_MS)
            db.pragma("mmap_size", 0)  # an I/O error in a mapped file is a signal that ends the process
            db.pragma("cache_size", -16_384)
            if not readonly:
                _prepare(db)
            _check(db)
        except BaseException:
            db.close()
            raise
        return db

    def remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{ending}")

    def close(self) -> None:
        self.db.close()

    @property
    def is_there(self) -> bool:
        """False if its file was removed, or replaced by another, since it was opened."""
        try:
            return os.stat(self.path).st_ino == self._inode
        except OSError:
            return False

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def rows(self, statement: str, bindings: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return list(self.db.execute(statement, tuple(bindings)))
        except apsw.Error as error:
            raise _explained(self.path, error) from error

    def marks(self, source: int) -> dict[str, tuple[int, str]]:
        """The id and mark of each page, by URL."""
        rows = self.rows(
            "SELECT p.url, p.id, p.mark FROM page p JOIN site s ON s.id = p.site WHERE s.source = ?",
            (source,),
        )
        return {url: (page, mark) for url, page, mark in rows}

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All or nothing."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.db.execute("COMMIT")
            except BaseException:
                if not self.db.get_autocommit():
                    self.db.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            raise _explained(self.path, error) from error

    def source_id(self, key: str, kind: str, name: str) -> int:
        self.db.execute(
            "INSERT INTO source(key, kind, name, stamp, updated_at) VALUES (?, ?, ?, '', 0) "
            "ON CONFLICT(key) DO UPDATE SET kind = excluded.kind, name = excluded.name",
            (key, kind, name),
        )
        return int(self.rows("SELECT id FROM source WHERE key = ?", (key,))[0][0])

    def site_id(self, source: int, host: str) -> int:
        self.db.execute("INSERT OR IGNORE INTO site(source, host) VALUES (?, ?)", (source, host))
        return int(self.rows("SELECT id FROM site WHERE source = ? AND host = ?", (source, host))[0][0])

    def put_page(self, site: int, entry: PageEntry, shown: IndexedPage, title: str) -> None:
        """``title``: without what the titles of the site share."""
        self.db.execute(
            "INSERT INTO page(site, url, path, title, mark, sha256, text_sha256, form, tokens, fetched_at, "
            "fidelity, link_share, about) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(
                    site,
                    entry.url,
                    entry.path,
                    title,
                    entry.mark,
                    entry.sha256,
                    entry.text_sha256,
                    entry.form,
                ),
                *(shown.tokens, entry.fetched_at, entry.fidelity, shown.link_share, entry.about),
            ),
        )
        page = self.db.last_insert_rowid()
        named = f"{title} {' '.join(path_words(entry.url))}"
        words = (page, site_token(site), named, shown.heads, shown.lead, shown.body)
        self.db.execute(_PUT_WORDS.format("page_fts"), words)
        for number, section in enumerate(shown.sections):
            self.db.execute(
                "INSERT INTO section(page, ord, level, anchor, heading, trail, start, length, tokens, code) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (page, number, *section[:-1]),
            )
            row = (self.db.last_insert_rowid(), site_token(site), named, section.trail, "", section.body)
            self.db.execute(_PUT_WORDS.format("section_fts"), row)

    def drop_pages(self, pages: Iterable[int]) -> None:
        for page in pages:
            sections = [row[0] for row in self.rows("SELECT id FROM section WHERE page = ?", (page,))]
            for section in sections:
                self.db.execute("DELETE FROM section_fts WHERE rowid = ?", (section,))
            self.db.execute("DELETE FROM section WHERE page = ?", (page,))
            self.db.execute("DELETE FROM page_fts WHERE rowid = ?", (page,))
            self.db.execute("DELETE FROM page WHERE id = ?", (page,))

    def drop_source(self, source: int) -> None:
        self.drop_pages([page for page, _ in self.marks(source).values()])
        self.db.execute("DELETE FROM site WHERE source = ?", (source,))
        self.db.execute("DELETE FROM source WHERE id = ?", (source,))


_PUT_WORDS: Final = "INSERT INTO {}(rowid, site, title, heads, lead, body) VALUES (?, ?, ?, ?, ?, ?)"


def site_token(site: int) -> str:
    """The word by which FTS finds the pages of a site, in a column of its own."""
    return f"s{site}"


class _OtherVersion(Exception):
    pass


def _prepare(db: apsw.Connection) -> None:
    db.pragma("auto_vacuum", 1)  # pages that merging leaves free would stay a tenth of the file
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", 1)
    db.execute("BEGIN IMMEDIATE")
    try:
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:  # type: ignore[index]
            db.execute(_SCHEMA)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _check(db: apsw.Connection) -> None:
    found = db.pragma("application_id"), db.pragma("user_version")
    if found != (_APPLICATION_ID, SCHEMA_NUMBER):
        raise _OtherVersion("another version of Sumi wrote it")


def _reason(error: Exception) -> str:
    return "was written by another version of Sumi" if isinstance(error, _OtherVersion) else "is damaged"


class IndexDamaged(StateDamaged):
    pass


def _explained(path: Path, error: apsw.Error) -> Exception:
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return IndexDamaged(f"{path} is damaged: sumi index --rebuild makes it again")
    if isinstance(error, apsw.CantOpenError):
        return UsageError(f"{path} cannot be opened: sumi index makes it, if its folder can be written to")
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError)):
        return NotWritable(f"{path} cannot be written: make its folder writable, or copy it elsewhere")
    return StorageFailed(f"{path}: {error}")


@contextmanager
def _folder_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritable(f"cannot make the folder {folder} for the search index: {error.strerror}") from None

"""``history.sqlite`` and ``texts-000001.pack``: runs, the versions of pages, and each text once.

A text is addressed by its SHA-256 and appended before the row that names its place, so bytes that a kill left
without a row are ignored. Every read is checked by that hash. One process writes, the one that holds the lock
of the job; others may read meanwhile.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import apsw

from sumi.errors import OutputRefused, StateDamaged, StateError
from sumi.files.safe_files import SafeFolder
from sumi.files.sqlite_file import open_sqlite, sqlite_errors, transaction
from sumi.history.rows import Head, HistoryRun, PageChange, Version
from sumi.history.text_frames import LONGEST_CHAIN, WORTH, WholeFrames, delta_frame, opened

DATABASE: Final = "history.sqlite"
PACK_BYTES: Final = 256 * 1024 * 1024  # a pack of this size is full
WAL_PAGES: Final = 16_384  # 64 MiB: most runs empty the log once, at their end
APPLICATION_ID: Final = 0x53756D48  # "SumH"
USER_VERSION: Final = 1

# A page's row has what its last version says, so that a run looks up one row per page.
SCHEMA: Final = f"""
CREATE TABLE run(
  id INTEGER PRIMARY KEY, job TEXT NOT NULL, started_at REAL NOT NULL, ended_at REAL, status TEXT,
  added INTEGER, changed INTEGER, moved INTEGER, gone INTEGER
) STRICT;
CREATE TABLE page(
  id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, versions INTEGER NOT NULL, live INTEGER NOT NULL,
  sha256 BLOB, revision TEXT
) STRICT;
CREATE TABLE version(
  seq INTEGER PRIMARY KEY, page INTEGER NOT NULL, number INTEGER NOT NULL, run INTEGER NOT NULL,
  at REAL NOT NULL, kind TEXT NOT NULL, sha256 BLOB, previous BLOB, title TEXT, fidelity REAL,
  raw_sha256 TEXT, added INTEGER, removed INTEGER, minor INTEGER NOT NULL, other TEXT,
  UNIQUE(page, number)
) STRICT;
CREATE INDEX version_run ON version(run);
CREATE TABLE text(
  sha256 BLOB PRIMARY KEY, pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
  size INTEGER NOT NULL, base BLOB, chain INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={USER_VERSION};
"""
_MOST_FRAMES = 10 * LONGEST_CHAIN  # chains grow beyond their limit while packs are rewritten
_PACK = re.compile(r"texts-(\d{6})\.pack")
_VERSION = (
    "SELECT v.seq, p.url, v.number, v.run, v.at, v.kind, v.sha256, v.previous, v.title, v.fidelity, "
    "v.added, v.removed, v.minor, v.other FROM version v JOIN page p ON p.id = v.page "
)
# Older versions wrote "complete" for a run that ended, whatever failed in it.
_RUN = (
    "SELECT id, job, started_at, ended_at, CASE status WHEN 'complete' THEN 'finished' ELSE status END, "
    "added, changed, moved, gone FROM run "
)
# Rows of texts whose bytes are not all there: a power cut may have taken the end of a pack.
_CUT_OFF = "DELETE FROM text WHERE pack = ? AND start + length > ?"


class History:
    """Reading needs no lock; writing does."""

    def __init__(self, folder: Path, *, readonly: bool = True, pack_bytes: int = PACK_BYTES) -> None:
        self.folder = folder
        self._database = folder / DATABASE
        self._whole_frames = WholeFrames()
        self._pack_bytes = pack_bytes
        if folder.is_symlink():
            raise OutputRefused(f"{folder} is a symbolic link: remove it and run the same command again")
        self._files = SafeFolder(folder)
        try:
            with self.errors_explained():
                self._db = open_sqlite(self._database, readonly=readonly)
                if not readonly:
                    self._prepare()
                self._check_schema()
        except BaseException:
            self._files.close()
            raise
        self._pack = self._packs()[-1] if self._packs() else 1
        if not readonly:
            self._forget_cut_off_texts()

    def close(self) -> None:
        self._files.close()
        with self.errors_explained():
            self._db.close()

    def sync(self) -> None:
        """What was written so far survives a power cut. Slow: call it in a thread."""
        self._files.sync()
        if not self._files.syncs_at_once:
            with self.errors_explained():
                log = os.open(f"{self._database}-wal", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fdatasync(log)
                finally:
                    os.close(log)

    # ── runs ───────────────────────────────────────────────────────────────────────────────────────────

    def last_run(self, job: str) -> HistoryRun | None:
        rows = self.rows(_RUN + "WHERE job = ? ORDER BY id DESC LIMIT 1", (job,))
        return HistoryRun(*rows[0]) if rows else None

    def runs(self, limit: int = -1) -> list[HistoryRun]:
        """The newest first."""
        return [HistoryRun(*row) for row in self.rows(_RUN + "ORDER BY id DESC LIMIT ?", (limit,))]

    def begin_run(self, job: str, now: float) -> int:
        self.execute("INSERT INTO run(job, started_at) VALUES (?, ?)", (job, now))
        return self._db.last_insert_rowid()

    def end_run(self, run: int, now: float, status: str) -> None:
        """Also recognises moved pages: gone from one URL, added with the same text under another."""
        with self.transaction():
            self._pair_moved(run)
            self.execute(
                "UPDATE run SET ended_at = ?1, status = ?2, "
                "added = (SELECT count(*) FROM version WHERE run = ?3 AND kind IN ('added', 'back') "
                "  AND other IS NULL), "
                "changed = (SELECT count(*) FROM version WHERE run = ?3 AND kind = 'changed'), "
                "moved = (SELECT count(*) FROM version WHERE run = ?3 AND kind = 'moved'), "
                "gone = (SELECT count(*) FROM version WHERE run = ?3 AND kind = 'gone') WHERE id = ?3",
                (now, status, run),
            )
        with self.errors_explained():
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _pair_moved(self, run: int) -> None:
        added: dict[bytes, list[tuple[int, str]]] = {}
        for seq, url, digest in self.rows(
            "SELECT v.seq, p.url, v.sha256 FROM version v JOIN page p ON p.id = v.page "
            "WHERE v.run = ? AND v.kind = 'added' AND v.other IS NULL ORDER BY v.seq DESC",
            (run,),
        ):
            added.setdefault(digest, []).append((seq, url))
        for seq, url, digest in self.rows(
            "SELECT v.seq, p.url, v.previous FROM version v JOIN page p ON p.id = v.page "
            "WHERE v.run = ? AND v.kind = 'gone' ORDER BY v.seq",
            (run,),
        ):
            if added.get(digest):
                new_seq, new_url = added[digest].pop()
                self.execute("UPDATE version SET kind = 'moved', other = ? WHERE seq = ?", (new_url, seq))
                self.execute("UPDATE version SET other = ? WHERE seq = ?", (url, new_seq))
        # A redirect names its target; that page, if it is new, is the moved one and not another.
        for source, target in self.rows(
            "SELECT p.url, v.other FROM version v JOIN page p ON p.id = v.page "
            "WHERE v.run = ? AND v.kind = 'moved' AND v.other IS NOT NULL",
            (run,),
        ):
            self.execute(
                "UPDATE version SET other = ? WHERE run = ? AND kind = 'added' AND other IS NULL "
                "AND page = (SELECT id FROM page WHERE url = ?)",
                (source, run, target),
            )

    # ── pages and versions ─────────────────────────────────────────────────────────────────────────────

    def head(self, url: str) -> Head | None:
        """What the last version of a page says."""
        rows = self.rows("SELECT id, versions, live, sha256, revision FROM page WHERE url = ?", (url,))
        return Head(*rows[0]) if rows else None

    def set_revision(self, head: Head, revision: str | None) -> None:
        self.execute("UPDATE page SET revision = ? WHERE id = ?", (revision, head.id))

    def add_version(self, version: Version, revision: str | None, raw_sha256: str | None = None) -> None:
        """``version.seq`` and ``number`` are given here."""
        with self.transaction():
            page, number = self.rows(
                "INSERT INTO page(url, versions, live, sha256, revision) VALUES (?1, 1, ?2, ?3, ?4) "
                "ON CONFLICT(url) DO UPDATE SET versions = versions + 1, live = ?2, sha256 = ?3, "
                "revision = ?4 RETURNING id, versions",
                (version.url, version.is_there, version.sha256 or version.previous, revision),
            )[0]
            self.execute(
                "INSERT INTO version(page, number, run, at, kind, sha256, previous, title, fidelity, "
                "raw_sha256, added, removed, minor, other) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    page,
                    number,
                    version.run,
                    version.at,
                    version.kind,
                    version.sha256,
                    version.previous,
                    version.title,
                    version.fidelity,
                    raw_sha256,
                    version.added,
                    version.removed,
                    int(version.minor),
                    version.other,
                ),
            )

    def versions(self, url: str) -> list[Version]:
        """The oldest first."""
        return self._versions("WHERE p.url = ? ORDER BY v.number", (url,))

    def changes(self, *, since: float = 0.0, run: int | None = None, limit: int = -1) -> list[Version]:
        """Versions of all pages, the newest first."""
        only = "" if run is None else "AND v.run = ?2 "
        return self._versions(
            f"WHERE v.at >= ?1 {only}ORDER BY v.seq DESC LIMIT ?{2 if run is None else 3}",
            (since, limit) if run is None else (since, run, limit),
        )

    def changed_after(self, seq: int) -> Iterator[PageChange]:
        """Each page with versions after ``seq``, by URL."""
        pages = self.rows(
            "SELECT DISTINCT p.id, p.url FROM version v JOIN page p ON p.id = v.page WHERE v.seq > ? "
            "ORDER BY p.url",
            (seq,),
        )
        for page, url in pages:
            last = self._versions("WHERE v.page = ? ORDER BY v.number DESC LIMIT 1", (page,))[0]
            before = self._versions(
                "WHERE v.page = ? AND v.seq <= ? ORDER BY v.number DESC LIMIT 1", (page, seq)
            )
            first = self.rows("SELECT min(number) FROM version WHERE page = ?", (page,))[0][0]
            yield PageChange(url, before[0] if before else None, last, pruned=not before and first > 1)

    def last_seq(self) -> int:
        return int(self.rows("SELECT coalesce(max(seq), 0) FROM version", ())[0][0])

    def live_urls(self) -> Iterator[str]:
        for (url,) in self.rows("SELECT url FROM page WHERE live ORDER BY id", ()):
            yield url

    def count_live(self) -> int:
        return int(self.rows("SELECT count(*) FROM page WHERE live", ())[0][0])

    def similar_urls(self, part: str, most: int = 3) -> list[str]:
        rows = self.rows(
            "SELECT url FROM page WHERE instr(url, ?) ORDER BY length(url) LIMIT ?", (part, most)
        )
        return [url for (url,) in rows]

    def _versions(self, where: str, bindings: Sequence[Any]) -> list[Version]:
        rows = self.rows(_VERSION + where, bindings)
        return [Version(*(*row[:12], bool(row[12]), row[13])) for row in rows]

    # ── texts ──────────────────────────────────────────────────────────────────────────────────────────

    def has_text(self, digest: bytes) -> bool:
        return bool(self.rows("SELECT 1 FROM text WHERE sha256 = ?", (digest,)))

    def add_text(self, digest: bytes, text: bytes, base: bytes | None = None) -> None:
        """Nothing if it is there already. ``base``: the hash of a text that is likely to be similar."""
        if self.has_text(digest):
            return
        frame, base, chain = self._framed(text, base)
        name = _pack_name(self._pack)
        start = self._files.append(name, frame)
        self.execute(
            "INSERT INTO text VALUES (?, ?, ?, ?, ?, ?, ?)",
            (digest, self._pack, start, len(frame), len(text), base, chain),
        )
        if start + len(frame) >= self._pack_bytes:
            self.start_pack()

    def start_pack(self) -> int:
        """The number of the new one."""
        self._files.stop_appending(_pack_name(self._pack))
        self._pack += 1
        return self._pack

    def _framed(self, text: bytes, base: bytes | None) -> tuple[bytes, bytes | None, int]:
        whole = self._whole_frames.pack(text)
        if base is None:
            return whole, None, 0
        chain = self._chain(base)
        before = None if chain >= LONGEST_CHAIN else self.text(base)
        if before is not None:
            delta = delta_frame(text, before)
            if len(delta) <= len(whole) * WORTH:
                return delta, base, chain + 1
        return whole, None, 0

    def _chain(self, digest: bytes) -> int:
        rows = self.rows("SELECT chain FROM text WHERE sha256 = ?", (digest,))
        return int(rows[0][0]) if rows else 0

    def text(self, digest: bytes) -> bytes | None:
        """None if it is not there, or damaged, or if one that it depends on is."""
        frames: list[bytes] = []
        wanted: bytes | None = digest
        while wanted is not None:
            rows = self.rows("SELECT pack, start, length, base FROM text WHERE sha256 = ?", (wanted,))
            if not rows or len(frames) > _MOST_FRAMES:
                return None
            pack, start, length, wanted = rows[0]
            frame = self._files.read_range(_pack_name(pack), start, length)
            if frame is None or len(frame) != length:
                return None
            frames.append(frame)
        text: bytes | None = None
        for number, frame in enumerate(reversed(frames)):
            text = opened(frame, text)
            if text is None and number < len(frames):
                return None
        return text if text is not None and sha256(text).digest() == digest else None

    def pack_of(self, digest: bytes) -> str | None:
        rows = self.rows("SELECT pack FROM text WHERE sha256 = ?", (digest,))
        return _pack_name(rows[0][0]) if rows else None

    def stored_bytes(self) -> int:
        """The size of all pack files."""
        found = (self._files.status(_pack_name(number)) for number in self._packs())
        return sum(status.st_size for status in found if status is not None)

    def remove_unused_packs(self) -> None:
        """Packs that no row names, except the one to append to."""
        used = {pack for (pack,) in self.rows("SELECT DISTINCT pack FROM text", ())}
        for number in self._packs():
            if number not in used and number != self._pack:
                self._files.remove(_pack_name(number))

    def _packs(self) -> list[int]:
        return sorted(int(match[1]) for match in map(_PACK.fullmatch, self._files.names("")) if match)

    def _forget_cut_off_texts(self) -> None:
        """Only the packs that were appended to last can be short; the pages' next versions are whole then."""
        for (pack,) in self.rows("SELECT DISTINCT pack FROM text ORDER BY pack DESC LIMIT 2", ()):
            status = self._files.status(_pack_name(pack))
            self.execute(_CUT_OFF, (pack, 0 if status is None else status.st_size))

    # ── the database itself ────────────────────────────────────────────────────────────────────────────

    def rows(self, statement: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self.errors_explained():
            return list(self._db.execute(statement, bindings))

    def execute(self, statement: str, bindings: Sequence[Any]) -> None:
        with self.errors_explained():
            self._db.execute(statement, bindings)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes within succeed or none does; a nested one is part of the outer."""
        with self.errors_explained(), transaction(self._db):
            yield

    def _prepare(self) -> None:
        # The last connection would empty its log when it closes, also after the disk has failed.
        self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._db.pragma("synchronous", "OFF")  # a new history has nothing to lose
        self._db.pragma("journal_mode", "WAL")
        self._db.pragma("wal_autocheckpoint", WAL_PAGES)
        if not self._db.execute("SELECT count(*) FROM sqlite_schema").get:
            self._db.execute(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT")
        self._db.pragma("synchronous", "NORMAL")

    def _check_schema(self) -> None:
        path = self._database
        if self._db.pragma("application_id") != APPLICATION_ID:
            raise StateDamaged(f"{path} is no history of Sumi")
        found = self._db.pragma("user_version")
        if found != USER_VERSION:
            raise StateError(
                f"{path} has version {found}, this version of sumi reads {USER_VERSION}: use the version "
                "that wrote it, or --no-history"
            )

    def errors_explained(self) -> AbstractContextManager[None]:
        return sqlite_errors(self._database, "remove it")


def _pack_name(number: int) -> str:
    return f"texts-{number:06}.pack"


def history_violations(folder: Path) -> Iterator[str]:
    """For ``sumi state check --deep``: each text that cannot be read, in words; none without a history."""
    if not (folder / DATABASE).is_file():
        return
    try:
        store = History(folder)
    except StateError as error:
        yield str(error)
        return
    try:
        readable: dict[bytes, bool] = {}
        for version in reversed(store.changes()):
            digest = version.sha256
            if digest is None:
                continue
            if digest not in readable:
                readable[digest] = store.text(digest) is not None
            if not readable[digest]:
                where = store.pack_of(digest)
                yield (
                    f"{version.url}: the text of its version {version.number} is "
                    + (f"damaged in {folder.name}/{where}" if where else "missing from its history")
                )
    finally:
        store.close()

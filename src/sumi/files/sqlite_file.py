"""SQLite databases as Sumi opens them, with errors as sentences that say what to do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from sumi.errors import StateDamaged, StateLocked, StorageFailed
from sumi.files.disk_errors import disk_error

BUSY_MS = 5000  # a reader in another process may block a write for a moment


def open_sqlite(path: Path, *, readonly: bool) -> apsw.Connection:
    access = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    # SQLite would also refuse symbolic links among the parent folders, which are the user's choice.
    name = os.path.join(os.path.realpath(path.parent), path.name)
    db = apsw.Connection(name, flags=access | apsw.SQLITE_OPEN_NOFOLLOW)
    db.set_busy_timeout(BUSY_MS)
    db.pragma("mmap_size", 0)  # an I/O error in a mapped file is a signal that ends the process
    return db


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All writes within succeed or none does; a nested transaction is part of the outer one."""
    is_within_another = db.in_transaction
    if is_within_another:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def sqlite_errors(path: Path, instead: str) -> Iterator[None]:
    """``instead``: what can be done about a damaged database besides restoring it."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StateDamaged(f"{path} is damaged ({error}): restore it from a copy, or {instead}") from error
    except apsw.BusyError as error:
        raise StateLocked(f"{path} is in use by another program ({error})") from error
    except apsw.FullError as error:
        raise StorageFailed(
            f"no space left to write {path}: free some and run the same command again to continue"
        ) from error
    except OSError as error:
        raise disk_error(error, path) from error
    except apsw.Error as error:
        raise StorageFailed(
            f"cannot use {path} ({error}): check the disk, then run the same command again to continue"
        ) from error

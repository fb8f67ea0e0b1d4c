"""The frontier in one SQLite file, which any SQLite tool can read."""

from pathlib import Path

from sumi.state.indexed import FolderStore
from sumi.state.indexed.rows import Rows
from sumi.state.sqlite.rows import SqliteRows

FILE_NAME = "state.sqlite"

__all__ = ["SqliteStore"]


class SqliteStore(FolderStore):
    backend = "sqlite"
    format = 2

    @staticmethod
    def open_rows(folder: Path, *, strict: bool) -> Rows:
        return SqliteRows(folder / FILE_NAME, strict=strict)

    @staticmethod
    def look_at_rows(folder: Path) -> Rows:
        return SqliteRows(folder / FILE_NAME, strict=False, readonly=True)

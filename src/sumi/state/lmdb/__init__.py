"""The frontier in an LMDB environment: a memory-mapped file of sorted keys."""

from pathlib import Path

from sumi.state.indexed import FolderStore
from sumi.state.indexed.rows import Rows
from sumi.state.lmdb.rows import LmdbRows

FILE_NAME = "state.lmdb"

__all__ = ["LmdbStore"]


class LmdbStore(FolderStore):
    backend = "lmdb"
    format = 2

    @staticmethod
    def open_rows(folder: Path, *, strict: bool) -> Rows:
        return LmdbRows(folder / FILE_NAME, strict=strict)

    @staticmethod
    def look_at_rows(folder: Path) -> Rows:
        return LmdbRows(folder / FILE_NAME, strict=False, readonly=True)

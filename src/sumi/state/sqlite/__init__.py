"""The frontier in one SQLite file, which any SQLite tool can read."""

from sumi.state.sqlite.rows import SqliteStore

__all__ = ["SqliteStore"]

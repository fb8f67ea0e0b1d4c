"""The frontier in an LMDB environment: a memory-mapped file of sorted keys."""

from sumi.state.lmdb.rows import LmdbStore

__all__ = ["LmdbStore"]

"""``sumi history prune``: forgets old versions and rewrites the packs without their texts."""

import time
from pathlib import Path
from typing import NamedTuple

from sumi.history.store import History

# Each page keeps its last version before the limit: later ones are compared with it.
_OLD = """
DELETE FROM version WHERE seq IN (
  SELECT v.seq FROM version v WHERE v.at < ?1 AND EXISTS (
    SELECT 1 FROM version later WHERE later.page = v.page AND later.number > v.number AND later.at <= ?1
  )
)
"""
_OF_GONE = "SELECT sha256 FROM page WHERE sha256 IS NOT NULL"  # a page that comes back is compared with it
# Texts of a page after each other, so that each has its base before it.
_ORDER = (
    "SELECT v.sha256, (SELECT o.sha256 FROM version o WHERE o.page = v.page AND o.number < v.number "
    "AND o.sha256 IS NOT NULL ORDER BY o.number DESC LIMIT 1) "
    "FROM version v WHERE v.sha256 IS NOT NULL ORDER BY v.page, v.number"
)


class Pruned(NamedTuple):
    folder: Path
    versions: int  # that were forgotten
    bytes_before: int
    bytes_after: int
    lost: int  # texts that could not be read, and are left out


def prune(folder: Path, keep_seconds: float, now: float | None = None) -> Pruned:
    """The caller holds the lock of the job. A kill leaves the history as it was, or as it is to be."""
    store = History(folder, readonly=False)
    try:
        before, versions = store.stored_bytes(), _count(store)
        limit = (time.time() if now is None else now) - keep_seconds
        lost = 0
        with store.transaction():
            store.execute(_OLD, (limit,))
            gone = versions - _count(store)
            if gone:
                lost = _rewrite(store)
        store.sync()
        store.remove_unused_packs()
        return Pruned(folder, gone, before, store.stored_bytes(), lost)
    finally:
        store.close()


def _count(store: History) -> int:
    return int(store.rows("SELECT count(*) FROM version", ())[0][0])


def _rewrite(store: History) -> int:
    """Every text that is still named, into new packs, as a delta of what is now before it. A text depends
    only on those that were rewritten before, so there is no circle."""
    bases: dict[bytes, bytes | None] = {}
    for digest, base in store.rows(_ORDER, ()):
        bases.setdefault(digest, base)
    for (digest,) in store.rows(_OF_GONE, ()):
        bases.setdefault(digest, None)
    first = store.start_pack()
    written: set[bytes] = set()
    for digest, base in bases.items():
        text = store.text(digest)
        if text is not None:
            store.execute("DELETE FROM text WHERE sha256 = ?", (digest,))
            store.add_text(digest, text, base if base in written else None)
            written.add(digest)
    store.execute("DELETE FROM text WHERE pack < ?", (first,))
    return len(bases) - len(written)

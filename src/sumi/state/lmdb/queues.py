"""The queues in LMDB: their stale entries, and the lanes of retries.

When a page is settled, its entry stays in its host's queue and is stale: removing it at once would write two
pages of the file for each, as every host has its own. When there are ``MOST_STALE``, they are removed in the
order of the file, some with each commit. After a kill they are found again by the attempts since the first of
them, at ten microseconds each.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

import lmdb

from sumi.model import Kind
from sumi.state.database.rows import Change, Row, url_key
from sumi.state.entries import State
from sumi.state.lmdb.packing import pack_moment, pack_rank, unpack_moment

MOST_STALE = 32_768
REMOVED_AT_ONCE = 2048  # up to as many pages of 4 KiB, which are in memory until they are written
WAITING, SETTLED = State.WAITING.value, State.SETTLED.value
QueueEntry: TypeAlias = tuple[bytes, bytes]  # the key of its host, and its rank

# The key of a host's queue, needed when a page is found and when it ends; some 4 MB.
queue_key = lru_cache(maxsize=20_000)(url_key)


def queue_entry_of(row: Row) -> QueueEntry:
    return queue_key(row.host), pack_rank(row.rank)


def becomes_stale(old: Row, new: Row) -> bool:
    """Whether it was settled by an attempt, by which it is found again."""
    return old.state == WAITING and new.state == SETTLED and new.latest > old.latest


class StaleEntries:
    """``entries``: those that were found on opening, by row id. ``last_attempt``: of the whole state."""

    def __init__(
        self, entries: dict[int, QueueEntry], last_attempt: int, most: int, removed_at_once: int
    ) -> None:
        self.entries = entries
        self._last_attempt = last_attempt
        self._most = most
        self._removed_at_once = removed_at_once
        self._to_remove: list[int] = []  # rows whose entries are being removed, the next one last
        self._since = 0  # the last attempt when that began; entries that become stale later stay

    def note(self, change: Change) -> int | None:
        """Note whose entries become stale; returns the attempt before the first, if there were none yet."""
        had_none, first = not self.entries, None
        for old, new in change.updated:
            if becomes_stale(old, new):
                self.entries[new.id] = queue_entry_of(old)
                first = min(first or new.latest, new.latest)
                self._last_attempt = max(self._last_attempt, new.latest)
            elif new.state == WAITING:
                self.entries.pop(new.id, None)  # it is waiting again, with the same entry
        if len(self.entries) >= self._most and not self._to_remove:
            self._to_remove = sorted(self.entries, key=self.entries.__getitem__, reverse=True)
            self._since = self._last_attempt
        return first - 1 if had_none and first is not None else None

    def take(self) -> list[QueueEntry]:
        """The next ones to remove from the file."""
        count = self._removed_at_once
        some, self._to_remove = self._to_remove[-count:], self._to_remove[:-count]
        # Not those that wait again. If one waited again and is settled since, its last entry counts.
        places = (self.entries.pop(row_id, None) for row_id in reversed(some))
        return [place for place in places if place is not None]

    @property
    def since_last_removal(self) -> int | None:
        """Once no entry is left to remove: the attempt after which all remaining ones became stale."""
        return None if self._to_remove else self._since


OTHERS, PAGES = b"\0", b"\1"  # the last byte of a lane's key


class Behind:
    """Earlier versions had no such table; a reader of their files finds it empty."""

    def __init__(self, open_table: Callable[..., Any]) -> None:
        self._table = None
        try:
            self._table = open_table(b"behind", dupsort=True, dupfixed=True)
        except lmdb.NotFoundError:
            return

    def put(self, tx: lmdb.Transaction, row: Row) -> None:
        tx.put(
            self._lane(row.host, row.kind == Kind.PAGE), pack_moment(row.due or 0.0, row.id), db=self._table
        )

    def remove(self, tx: lmdb.Transaction, row: Row) -> None:
        tx.delete(
            self._lane(row.host, row.kind == Kind.PAGE), pack_moment(row.due or 0.0, row.id), db=self._table
        )

    def of(self, tx: lmdb.Transaction, host: str, is_page: bool, limit: int) -> list[int]:
        """The ids of the first retries."""
        if self._table is None:
            return []
        cursor = tx.cursor(self._table)
        if not cursor.set_key(self._lane(host, is_page)):
            return []
        return [unpack_moment(packed)[1] for packed in islice(cursor.iternext_dup(), limit)]

    def lanes(self, tx: lmdb.Transaction) -> Iterator[tuple[bool, float, int, int]]:
        """For each lane: whether it holds pages, when its first retry is due, its id, and their number."""
        if self._table is not None:
            cursor = tx.cursor(self._table)
            for lane, first in cursor.iternext_nodup(values=True):
                yield (bytes(lane)[-1:] == PAGES, *unpack_moment(first), cursor.count())

    def _lane(self, host: str, is_page: bool) -> bytes:
        return queue_key(host) + (PAGES if is_page else OTHERS)

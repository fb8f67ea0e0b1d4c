"""Retries in LMDB: for each host a lane of pages and one of everything else, sorted by due time."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import lmdb

from sumi.model import Kind
from sumi.state.database.rows import Row
from sumi.state.lmdb.packing import pack_moment, unpack_moment

OTHERS, PAGES = b"\0", b"\1"  # the last byte of a lane's key


class Behind:
    """Earlier versions had no such table; a reader of their files finds it empty."""

    def __init__(self, open_table: Callable[..., Any], key_of: Callable[[str], bytes]) -> None:
        self._key_of = key_of
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
        """Of each lane: whether it holds pages, when its first retry is due, its id, and their number."""
        if self._table is not None:
            cursor = tx.cursor(self._table)
            for lane, first in cursor.iternext_nodup(values=True):
                yield (bytes(lane)[-1:] == PAGES, *unpack_moment(first), cursor.count())

    def _lane(self, host: str, is_page: bool) -> bytes:
        return self._key_of(host) + (PAGES if is_page else OTHERS)

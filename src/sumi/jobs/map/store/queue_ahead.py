"""Where the next rows of each host's queue are, kept right while the pages in it come closer.

On a map most pages that wait are moved up in their queues, some again and again. To read a host's queue anew
each time took up to a sixth of a run with 200 pages to a host: here each row that was written takes its new
place among those that were read.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sized
from typing import Final

from sumi.state.entries import State
from sumi.state.indexed.read_ahead import MOST, ReadAhead
from sumi.state.indexed.rows import Rank, Row, Rows

_WAITING: Final = State.WAITING.value


class QueueAhead(ReadAhead):
    """What joins a queue, or moves in it, is noted at once and takes its place when it is written. Whoever
    asks before that has it read from the database, as everywhere else."""

    def __init__(self, rows: Rows, busy_hosts: Sized, leased_ids: Container[int]) -> None:
        super().__init__(rows, busy_hosts, leased_ids)
        self._noted: set[tuple[str, Rank]] = set()

    def first(self, host: str, start: Rank) -> Rank | None:
        self._reread_noted()
        return super().first(host, start)

    def reconsider(self, host: str, rank: Rank) -> None:
        ahead = self._ahead.get(host)
        if ahead and rank <= ahead[0]:
            self._noted.add((host, rank))

    def written(self, inserted: Iterable[Row], updated: Iterable[tuple[Row, Row]]) -> None:
        """Rows as they are stored from now on; none of them is leased."""
        if not self._noted:
            return
        for row in inserted:
            if row.state == _WAITING:
                self._join(row.host, row.rank)
        for old, row in updated:
            if row.state == _WAITING:
                self._move(old, row)
        self._reread_noted()

    def _reread_noted(self) -> None:
        while self._noted:
            super().reconsider(*self._noted.pop())

    def _move(self, old: Row, row: Row) -> None:
        if old.state == _WAITING:
            if old.rank == row.rank:
                return  # whether it is there depends on who held it meanwhile: it is read anew
            self._leave(old.host, old.rank)
        self._join(row.host, row.rank)

    def _leave(self, host: str, rank: Rank) -> None:
        if (host, rank) not in self._noted:
            return
        self._noted.discard((host, rank))
        ahead = self._ahead.get(host, [])
        at = bisect_left(ahead, _backwards(rank), key=_backwards)
        if at < len(ahead) and ahead[at] == rank:
            del ahead[at]
            self._count -= 1
            if not ahead:
                del self._ahead[host]

    def _join(self, host: str, rank: Rank) -> None:
        ahead = self._ahead.get(host)
        if (host, rank) not in self._noted or not ahead or len(ahead) >= 2 * MOST:
            return  # what is left among those noted is read anew
        self._noted.discard((host, rank))
        ahead.insert(bisect_left(ahead, _backwards(rank), key=_backwards), rank)
        self._count += 1


def _backwards(rank: Rank) -> Rank:
    """The order in which they are kept: the next one last."""
    turn, depth, score, row_id = rank
    return (not turn, -depth, -score, -row_id)

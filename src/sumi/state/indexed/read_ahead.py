"""Where the next rows of each host's queue are, read before they are needed: one query for several leases.

Only where they are: the rows themselves are read for all leases of a call at once. So a row is read shortly
before it is written, from the same page, and what is read ahead takes a fifth of the memory.
"""

from collections.abc import Container, Sized

from sumi.state.indexed.rows import Rank, Rows

# Some 30 MB, shared by the hosts with work: a single one has many read at once, ten thousand have few. To ask
# takes as long as to read thirty of them.
USUAL_RANKS = 200_000
MOST = 64
LEAST = 2  # one to lease, one to know whether there are more


class ReadAhead:
    """Rows that are waiting but leased stay in the stored queue, and are stepped over here."""

    def __init__(self, rows: Rows, busy_hosts: Sized, leased_ids: Container[int]) -> None:
        self._rows = rows
        self._busy_hosts = busy_hosts
        self._leased = leased_ids
        self._ahead: dict[str, list[Rank]] = {}  # per host, the next one last; never empty
        self._count = 0

    def first(self, host: str, start: Rank) -> Rank | None:
        """The rank of the host's first row from ``start`` on that nobody holds."""
        ahead = self._ahead.get(host) or self._read(host, start)
        return ahead[-1] if ahead else None

    def take(self, host: str) -> Rank | None:
        """Remove the first; the one that is first now."""
        ahead = self._ahead[host]
        rank = ahead.pop()
        self._count -= 1
        if ahead:
            return ahead[-1]
        del self._ahead[host]
        return self.first(host, _after(rank))

    def reconsider(self, host: str, rank: Rank) -> None:
        """A row with this rank joins the queue, leaves it, or is about to change: what was read from there on
        may be another one now. What comes before it stays, or a host whose pages come closer all the time
        would have its rows read anew for every lease."""
        ahead = self._ahead.get(host)
        if not ahead or rank > ahead[0]:
            return  # it is further back than what was read
        outdated = next((at for at, other in enumerate(ahead) if other < rank), len(ahead))
        if outdated == len(ahead):
            del self._ahead[host]
        else:
            del ahead[:outdated]
        self._count -= outdated

    def _read(self, host: str, start: Rank) -> list[Rank]:
        if self._count > 2 * USUAL_RANKS:
            self._ahead.clear()
            self._count = 0
        limit = max(LEAST, min(MOST, USUAL_RANKS // len(self._busy_hosts)))
        free: list[Rank] = []
        while not free:
            ranks = self._rows.queue(host, start, limit)
            free = [rank for rank in reversed(ranks) if rank[3] not in self._leased]
            if len(ranks) < limit:
                break
            start = _after(ranks[-1])
        if free:
            self._ahead[host] = free
            self._count += len(free)
        return free


def _after(rank: Rank) -> Rank:
    turn, depth, score, row_id = rank
    return turn, depth, score, row_id + 1

"""Queues as rows of a database: memory holds only where each host's queue begins, and its next ranks.

Only ranks are read ahead, by one query for several leases; the rows themselves are read for all leases of a
call at once. So a row is read shortly before it is written, from the same page, and reading ahead takes a
fifth of the memory.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence, Sized

from sumi.frontier.pacing import INFINITY
from sumi.frontier.retry import Retries
from sumi.state.database.rows import Rank, Row, Rows
from sumi.state.database.working_set import WorkingSet
from sumi.state.entries import Entry

# About 30 MB, shared by the hosts with work: a single host reads many ahead, ten thousand few each. A query
# takes as long as reading thirty ranks.
USUAL_RANKS = 200_000
MOST = 64
LEAST = 2  # one to lease, one to know whether there are more


class ReadAhead:
    """Leased rows stay in the stored queue and are skipped here."""

    def __init__(self, rows: Rows, busy_hosts: Sized, leased_ids: Container[int]) -> None:
        self._rows = rows
        self._busy_hosts = busy_hosts
        self._leased = leased_ids
        self._ahead: dict[str, list[Rank]] = {}  # per host, the next one last; never empty
        self._count = 0

    def first(self, host: str, start: Rank) -> Rank | None:
        """The rank of the host's first row from ``start`` on that is not leased."""
        ahead = self._ahead.get(host) or self._read(host, start)
        return ahead[-1] if ahead else None

    def take(self, host: str) -> Rank | None:
        """Remove the first; returns the next one."""
        ahead = self._ahead[host]
        rank = ahead.pop()
        self._count -= 1
        if ahead:
            return ahead[-1]
        del self._ahead[host]
        return self.first(host, _after(rank))

    def reconsider(self, host: str, rank: Rank) -> None:
        """A row with this rank joins the queue, leaves it, or is about to change: what was read ahead from
        there on is outdated. What comes before it is kept; otherwise a host whose pages keep getting closer
        would have its ranks read again for every lease."""
        ahead = self._ahead.get(host)
        if not ahead or rank > ahead[0]:
            return  # beyond what was read ahead
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


class StoredQueues:
    """Implements ``Queues``."""

    def __init__(self, rows: Rows, working: WorkingSet, starts: dict[str, Rank], ahead: ReadAhead) -> None:
        """``starts``: the hosts that have a queue, and the rank at which it begins."""
        self._rows = rows
        self._working = working
        self._starts = starts
        self.hosts: Collection[str] = starts
        self._ahead = ahead
        self._reconsider = ahead.reconsider

    def has_any(self, host: str) -> bool:
        return host in self._starts

    def join(self, entry: Entry) -> bool:
        host, rank = entry.host, entry.rank
        start = self._starts.get(host)
        if start is None or rank < start:
            self._starts[host] = rank
        self._reconsider(host, rank)
        return start is None

    def reconsider(self, entry: Entry) -> None:
        self._reconsider(entry.host, entry.rank)

    def take(self, hosts: Sequence[str], pages_wait: Callable[[str], bool]) -> list[Entry]:
        places = []
        for host in hosts:
            rank = self._first_rank_of(host, pages_wait)
            if rank is not None:
                places.append((host, rank[3]))
        return [self._working.adopt(row) for row in self._rows.queued(places)]

    def _first_rank_of(self, host: str, pages_wait: Callable[[str], bool]) -> Rank | None:
        start = self._starts.get(host)
        if start is None:
            return None
        rank = self._ahead.first(host, start)
        if rank is None:
            del self._starts[host]
            return None
        if rank[0] and pages_wait(host):
            return None
        second = self._ahead.take(host)
        if second is None:
            del self._starts[host]
        else:
            self._starts[host] = second
        return rank


class StoredRetries(Retries):
    """Retries as rows; memory holds only when the first of each host is due. Leased rows stay in the stored
    lane and are skipped here."""

    def __init__(
        self, rows: Rows, working: WorkingSet, leased_ids: Container[int], leased_of: Mapping[str, int]
    ) -> None:
        super().__init__()
        self._rows = rows
        self._working = working
        self._leased_ids = leased_ids
        self._leased_of = leased_of
        self._first: dict[str, list[float]] = {}  # by host: due times of non-pages and of pages
        for host, is_page, due in rows.first_behind():
            self._note(host, is_page, due)

    def __contains__(self, host: str) -> bool:
        return host in self._first

    def hosts(self) -> Iterable[str]:
        return self._first

    def put(self, host: str, is_page: bool, due: float, sequence: int, url: str) -> None:
        self._note(host, is_page, min(due, self.first_due(host, is_page)))

    def first_due(self, host: str, is_page: bool) -> float:
        first = self._first.get(host)
        return first[is_page] if first else INFINITY

    def take(self, host: str, is_page: bool, now: float) -> str | None:
        if self.first_due(host, is_page) > now:
            return None
        free = self._free(host, is_page)
        taken = free.pop(0) if free and _due(free[0]) <= now else None
        self._note(host, is_page, _due(free[0]) if free else INFINITY)
        return None if taken is None else self._working.adopt(taken).candidate.url

    def refresh(self, host: str) -> None:
        """Some of its rows were leased elsewhere."""
        for is_page in (False, True):
            free = self._free(host, is_page)
            self._note(host, is_page, _due(free[0]) if free else INFINITY)

    def _free(self, host: str, is_page: bool) -> list[Row]:
        """The first two that are not leased."""
        rows = self._rows.behind(host, is_page, self._leased_of[host] + 2)
        return [row for row in rows if row.id not in self._leased_ids][:2]

    def _note(self, host: str, is_page: bool, due: float) -> None:
        first = self._first.setdefault(host, [INFINITY, INFINITY])
        first[is_page] = due
        if min(first) == INFINITY:
            del self._first[host]


class StoredDelays:
    """Implements ``Delays``; memory holds only when the first row is due. The store reads those that are."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.earliest = rows.next_due()

    def put(self, url: str, not_before: float) -> None:
        self.earliest = not_before if self.earliest is None else min(self.earliest, not_before)

    def take_due(self, now: float) -> list[str]:
        return []

    def next_at(self) -> float | None:
        return self.earliest

    def first_due(self) -> Iterable[tuple[str, float]]:
        return () if self.earliest is None else self._rows.first_due()


def _due(row: Row) -> float:
    return row.due or 0.0


def _after(rank: Rank) -> Rank:
    turn, depth, score, row_id = rank
    return turn, depth, score, row_id + 1

"""What is asked again, as rows of the store: in memory is only when the first of each host is due."""

from collections.abc import Iterable, Mapping

from sumi.frontier.pacing import INFINITY
from sumi.frontier.retry_queue import Retries
from sumi.state.indexed.rows import Row, Rows
from sumi.state.indexed.working_set import WorkingSet


class StoredRetries(Retries):
    """Rows that are behind but leased stay so in the store, and are stepped over here."""

    def __init__(
        self, rows: Rows, working: WorkingSet, leased_ids: set[int], leased_of: Mapping[str, int]
    ) -> None:
        super().__init__()
        self._rows = rows
        self._working = working
        self._leased_ids = leased_ids
        self._leased_of = leased_of
        self._first: dict[str, list[float]] = {}  # by host: of others than pages, of pages
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
        if taken is None:
            return None
        self._leased_ids.add(taken.id)
        return self._working.adopt(taken).candidate.url

    def look_again(self, host: str) -> None:
        """Some of its rows are leased that this did not hand out."""
        for is_page in (False, True):
            free = self._free(host, is_page)
            self._note(host, is_page, _due(free[0]) if free else INFINITY)

    def _free(self, host: str, is_page: bool) -> list[Row]:
        """The first two that nobody holds."""
        rows = self._rows.behind(host, is_page, self._leased_of[host] + 2)
        return [row for row in rows if row.id not in self._leased_ids][:2]

    def _note(self, host: str, is_page: bool, due: float) -> None:
        first = self._first.setdefault(host, [INFINITY, INFINITY])
        first[is_page] = due
        if min(first) == INFINITY:
            del self._first[host]


def _due(row: Row) -> float:
    return row.due or 0.0

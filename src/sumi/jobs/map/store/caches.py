"""What a map keeps in memory in front of its database: ids of pages, and the next URLs of each queue."""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence, Sized
from typing import Final

from sumi.jobs.map.store.rows import MapRows
from sumi.scope.hosts import DomainClass, DomainClasses
from sumi.state.database.queues import MOST, ReadAhead
from sumi.state.database.rows import Rank, Row, Rows
from sumi.state.entries import State
from sumi.urls import origin
from sumi.urls.parts import split_authority

# About 100 MB in two halves. When the recent half is full, the older one is dropped; a hit in the older half
# moves the URL to the recent one, so links that are on every page stay.
CACHED_URLS: Final = 300_000
CACHED_SITES: Final = 20_000
_WAITING: Final = State.WAITING.value


class PageIds:
    """A bounded cache from URLs to page ids."""

    def __init__(self, stored: MapRows) -> None:
        self._stored = stored
        self._recent: dict[str, int] = {}
        self._older: dict[str, int] = {}
        self._classes: dict[str, DomainClass] = {}

    def learn(self, url: str, page: int) -> None:
        if len(self._recent) >= CACHED_URLS:
            self._older, self._recent = self._recent, {}
        self._recent[url] = page

    def unknown(self, urls: Sequence[str]) -> list[str]:
        remembered = self._recent
        rest = [url for url in urls if url not in remembered]
        known = self.of(rest) if rest else {}
        return [url for url in rest if url not in known]

    def of_known(self, urls: Sequence[str]) -> list[int]:
        """The ids of the known ones, in order."""
        pages = [*map(self._recent.get, urls)]
        if None in pages:
            pages = [*map(self.of(urls).get, urls)]
        return [page for page in pages if page is not None]

    def of(self, urls: Iterable[str]) -> dict[str, int]:
        """The known ones, each with its id."""
        found: dict[str, int] = {}
        missing: list[str] = []
        remembered = self._recent.get
        for url in dict.fromkeys(urls):
            page = remembered(url)
            if page is None:
                page = self._from_older(url)
            if page is None:
                missing.append(url)
            else:
                found[url] = page
        for url, row_id in self._stored.ids_of(missing).items():
            found[url] = row_id + 1
            self.learn(url, row_id + 1)
        return found

    def _from_older(self, url: str) -> int | None:
        page = self._older.get(url)
        if page is not None:
            self.learn(url, page)
        return page

    def class_of(self, url: str, classes: DomainClasses) -> DomainClass:
        site = origin(url)
        found = self._classes.get(site)
        if found is None:
            if len(self._classes) > CACHED_SITES:
                self._classes.clear()
            found = classes.classify(split_authority(site.partition("://")[2])[0])
            self._classes[site] = found
        return found


class QueueAhead(ReadAhead):
    """The next rows of each host's queue, kept up to date while depths drop.

    On a map most waiting pages move up in their queues, some many times. Reading a host's queue again each
    time took up to a sixth of a run with 200 pages per host. Here each written row takes its new place among
    those that were read.

    A row that joins a queue, or moves in it, is noted at once and takes its place when it is written. Until
    then, the queue is read from the database, as in other stores.
    """

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
        """Rows that were just stored; none of them is leased."""
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
                return  # it may have been leased in between: the queue is read again
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
            return  # what remains noted is read again
        self._noted.discard((host, rank))
        ahead.insert(bisect_left(ahead, _backwards(rank), key=_backwards), rank)
        self._count += 1


def _backwards(rank: Rank) -> Rank:
    """The order of the list: the next row is last."""
    turn, depth, score, row_id = rank
    return (not turn, -depth, -score, -row_id)

"""What a map keeps in memory in front of its database: numbers of pages, and what is next in the queues."""

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

# Together about 100 MB. When the younger half is full, the elder one is forgotten: what is asked for again
# and again, as links that are on every page, moves to the younger half each time.
CACHED_URLS: Final = 300_000
CACHED_SITES: Final = 20_000
_WAITING: Final = State.WAITING.value


class PageNumbers:
    """Which page a URL is: a bounded memory of what everybody points to."""

    def __init__(self, stored: MapRows) -> None:
        self._stored = stored
        self._younger: dict[str, int] = {}
        self._elder: dict[str, int] = {}
        self._classes: dict[str, DomainClass] = {}

    def learn(self, url: str, number: int) -> None:
        if len(self._younger) >= CACHED_URLS:
            self._elder, self._younger = self._younger, {}
        self._younger[url] = number

    def unknown(self, urls: Sequence[str]) -> list[str]:
        remembered = self._younger
        rest = [url for url in urls if url not in remembered]
        known = self.of(rest) if rest else {}
        return [url for url in rest if url not in known]

    def of_known(self, urls: Sequence[str]) -> list[int]:
        """The numbers of those that are known, in order."""
        numbers = [*map(self._younger.get, urls)]
        if None in numbers:
            numbers = [*map(self.of(urls).get, urls)]
        return [number for number in numbers if number is not None]

    def of(self, urls: Iterable[str]) -> dict[str, int]:
        """Those that are known, each with its number."""
        found: dict[str, int] = {}
        missing: list[str] = []
        remembered = self._younger.get
        for url in dict.fromkeys(urls):
            number = remembered(url)
            if number is None:
                number = self._rejuvenated(url)
            if number is None:
                missing.append(url)
            else:
                found[url] = number
        for url, row_id in self._stored.ids_of(missing).items():
            found[url] = row_id + 1
            self.learn(url, row_id + 1)
        return found

    def _rejuvenated(self, url: str) -> int | None:
        number = self._elder.get(url)
        if number is not None:
            self.learn(url, number)
        return number

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
    """Where the next rows of each host's queue are, kept right while the pages in it come closer.

    On a map most pages that wait are moved up in their queues, some again and again. To read a host's queue
    anew each time took up to a sixth of a run with 200 pages to a host: here each row that was written takes
    its new place among those that were read.

    What joins a queue, or moves in it, is noted at once and takes its place when it is written. Whoever asks
    before that has it read from the database, as everywhere else.
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

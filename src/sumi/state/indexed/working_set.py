"""The entries that are being worked on: in memory while leased or looked at, otherwise rows of the store."""

from collections.abc import Iterable, Iterator
from typing import Any

from sumi.frontier.retry_queue import DelayedUrls
from sumi.state.entries import LEASED, Entry
from sumi.state.indexed.rows import Row, Rows, entry_of, row_of


class WorkingSet(dict[str, Entry]):
    """Looks like a dictionary of every known URL; what is not in memory is read when it is asked for.

    Whatever was looked at may have been changed. ``take_changes`` says what was, and lets go of all entries
    but the leased ones, so that memory follows the pages in flight and not the size of the crawl.
    """

    def __init__(self, rows: Rows, known: int) -> None:
        super().__init__()
        self._rows = rows
        self._known = known
        self._stored: dict[str, Row] = {}  # each entry's row, as far as it has one
        self._touched: dict[str, None] = {}
        self._absent: set[str] = set()

    def load(self, urls: Iterable[str]) -> None:
        """Read all of these at once."""
        missing = [url for url in dict.fromkeys(urls) if url not in self]
        for row in self._rows.find(missing):
            self.adopt(row)
        self._absent.update(url for url in missing if url not in self)

    def adopt(self, row: Row) -> Entry:
        entry = entry_of(row)
        super().__setitem__(row.url, entry)
        self._stored[row.url] = row
        self._touched[row.url] = None
        return entry

    def loaded(self, url: str) -> Entry | None:
        """If it is in memory, as everything is that somebody holds."""
        self._touched[url] = None
        return super().get(url)

    def get(self, url: str, default: Any = None, /) -> Any:
        self._touched[url] = None
        entry = super().get(url)
        if entry is None and url not in self._absent:
            self.load([url])
            entry = super().get(url)
        return default if entry is None else entry

    def __missing__(self, url: str) -> Entry:
        entry: Entry | None = self.get(url)
        if entry is None:
            raise KeyError(url)
        return entry

    def __setitem__(self, url: str, entry: Entry) -> None:
        super().__setitem__(url, entry)
        self._touched[url] = None
        self._absent.discard(url)
        self._known += 1

    def __len__(self) -> int:
        return self._known

    def take_changes(self) -> tuple[list[Row], list[tuple[Row, Row]]]:
        """New rows, and changed ones as they were and are."""
        new: list[Row] = []
        changed: list[tuple[Row, Row]] = []
        for entry, stored in self._let_go():
            row = row_of(entry, stored)
            if stored is None:
                new.append(row)
            elif row != stored:
                changed.append((stored, row))
        return sorted(new), changed

    def let_go(self) -> None:
        """Forget what was only looked at."""
        for _ in self._let_go():
            pass

    def _let_go(self) -> Iterator[tuple[Entry, Row | None]]:
        """Each that is not leased, as it leaves, with its row."""
        loaded, stored = super().get, self._stored.pop
        for url in self._touched:
            entry = loaded(url)
            if entry is not None and entry.state is not LEASED:
                del self[url]
                yield entry, stored(url, None)
        self._touched.clear()
        self._absent.clear()


class StoredDelays(DelayedUrls):
    """Delayed URLs are rows of the store; here is only when the first of them is due."""

    def __init__(self, earliest: float | None) -> None:
        super().__init__()
        self.earliest = earliest

    def put(self, url: str, not_before: float) -> None:
        self.earliest = not_before if self.earliest is None else min(self.earliest, not_before)

    def next_at(self) -> float | None:
        return self.earliest

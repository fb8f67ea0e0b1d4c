"""The entries in use: in memory while they are leased or looked at, otherwise rows of the database."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sumi.state.database.rows import Row, Rows, entry_of, row_of
from sumi.state.entries import LEASED, LIFTED_BY_SHORTER_WAY, Entry, State

MOST_KNOWN = 50_000  # links, about 8 MB; cleared when full


class WorkingSet(dict[str, Entry]):
    """Behaves like a dictionary of every known URL; what is not in memory is read on access.

    Every entry that was accessed may have been changed. ``take_changes`` returns what was, and drops all
    entries except leased ones, so that memory depends on the pages in flight and not on the size of the
    crawl.
    """

    def __init__(self, rows: Rows, known: int) -> None:
        super().__init__()
        self._rows = rows
        self._known = known
        self._stored: dict[str, Row] = {}  # the rows of entries that have one
        self.entered: list[Entry] = []  # new ones, which have no row yet
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

    def touch(self, url: str) -> None:
        """A leased entry, which is in memory, may have been changed."""
        self._touched[url] = None

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
        """A new one."""
        super().__setitem__(url, entry)
        self.entered.append(entry)
        self._touched[url] = None
        self._absent.discard(url)
        self._known += 1

    def __len__(self) -> int:
        return self._known

    def take_changes(self) -> tuple[list[Row], list[tuple[Row, Row]]]:
        """New rows, and changed ones as (old, new)."""
        new: list[Row] = []
        changed: list[tuple[Row, Row]] = []
        for entry, stored in self._release():
            row = row_of(entry, stored)
            if stored is None:
                new.append(row)
            elif row != stored:
                changed.append((stored, row))
        self.entered.clear()
        return sorted(new), changed

    def release(self) -> None:
        """Drop what was only looked at."""
        for _ in self._release():
            pass

    def _release(self) -> Iterator[tuple[Entry, Row | None]]:
        """Every entry that is not leased, as it is dropped, with its row."""
        loaded, stored = super().get, self._stored.pop
        for url in self._touched:
            entry = loaded(url)
            if entry is not None and entry.state is not LEASED:
                del self[url]
                yield entry, stored(url, None)
        self._touched.clear()
        self._absent.clear()


class KnownLinks:
    """URLs that pages linked to recently.

    The same menus are on every page of a site. Most links of a page need not be looked up in the database:
    finding them again is known to change nothing.
    """

    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._from_depth: dict[str, int] = {}  # a link at this depth or deeper changes nothing

    def not_known(self, urls: Sequence[str], depth: int) -> list[str]:
        """Those of ``urls`` that have to be looked up."""
        known = self._from_depth.get
        return [url for url in urls if known(url, depth + 1) > depth]

    def note(self, entries: Iterable[Entry | None]) -> None:
        for entry in entries:
            if entry is not None:
                self._from_depth[entry.candidate.url] = _no_news_from(entry)
        if len(self._from_depth) > self._most:
            self._from_depth.clear()

    def forget(self, url: str) -> None:
        """It was settled or refused, and is queued again."""
        self._from_depth.pop(url, None)


def _no_news_from(entry: Entry) -> int:
    if entry.state is State.SETTLED:
        return 0
    refusal = entry.verdict if entry.state is State.REFUSED else None
    if refusal is not None and refusal.outcome not in LIFTED_BY_SHORTER_WAY:
        return 0
    return entry.candidate.depth

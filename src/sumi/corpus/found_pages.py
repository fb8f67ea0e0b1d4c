"""What is captured now, beside what an index has of it: in tables that live as long as an update of the
index, so that its memory does not grow with the pages."""

from collections.abc import AsyncIterable, Callable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Final

import msgspec

from sumi.catalogue.pages import CapturedPage
from sumi.corpus.index_store import SearchIndex
from sumi.corpus.indexed_text import shared_ending

_TABLES: Final = """
DROP TABLE IF EXISTS temp.found; DROP TABLE IF EXISTS temp.wanted; DROP TABLE IF EXISTS temp.dropped;
DROP TABLE IF EXISTS temp.stale;
CREATE TEMP TABLE found(
  url TEXT PRIMARY KEY, host TEXT, title TEXT, mark TEXT, at REAL, job INTEGER, page BLOB
) WITHOUT ROWID;
CREATE TEMP TABLE wanted(url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP TABLE dropped(page INTEGER PRIMARY KEY);
CREATE TEMP TABLE stale(host TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# Of several captures of a page, the last.
_ADD: Final = """
INSERT INTO temp.found VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(url) DO UPDATE SET
  title = excluded.title, mark = excluded.mark, at = excluded.at, job = excluded.job, page = excluded.page
  WHERE excluded.at >= at
"""
_GONE: Final = """
INSERT INTO temp.dropped SELECT p.id FROM page p JOIN site s ON s.id = p.site
  WHERE s.source = ? AND NOT EXISTS (SELECT 1 FROM temp.found f WHERE f.url = p.url)
"""
_WANTED: Final = """
INSERT INTO temp.wanted SELECT url FROM temp.found f WHERE f.host IN temp.stale OR coalesce((
  SELECT p.mark FROM page p JOIN site s ON s.id = p.site WHERE s.source = ? AND p.url = f.url) <> f.mark, 1)
"""
_REPLACED: Final = """
INSERT INTO temp.dropped SELECT p.id FROM page p JOIN site s ON s.id = p.site
  WHERE s.source = ? AND p.url IN temp.wanted
"""
_BATCH: Final = 500


class FoundPages:
    """Within a transaction of the index. ``source``: its number there."""

    def __init__(self, store: SearchIndex, source: int) -> None:
        self._db = store.db
        self._source = source
        self._db.execute(_TABLES)

    async def add(
        self,
        pages: AsyncIterable[CapturedPage],
        job: int,
        host_of: Callable[[str], str],
        mark_of: Callable[[CapturedPage], str],
    ) -> None:
        """``job``: which of the source's."""
        batch = []
        async for page in pages:
            packed = msgspec.msgpack.encode(page)
            batch.append(
                (page.url, host_of(page.url), page.title, mark_of(page), page.fetched_at, job, packed)
            )
            if len(batch) == _BATCH:
                self._db.executemany(_ADD, batch)
                batch.clear()
        self._db.executemany(_ADD, batch)

    def endings(self) -> dict[str, str]:
        """What most titles of a host end with."""
        rows = self._db.execute("SELECT host, title FROM temp.found ORDER BY host")
        by_host = groupby(rows, key=itemgetter(0))
        return {str(host): shared_ending(str(title) for _, title in named) for host, named in by_host}

    def compare(self, stale: set[str]) -> tuple[int, int, int]:
        """How many pages are new, changed and gone. All of a host that is ``stale`` are changed."""
        self._db.executemany("INSERT INTO temp.stale VALUES (?)", [(host,) for host in stale])
        self._db.execute(_GONE, (self._source,))
        gone = self._db.changes()
        self._db.execute(_WANTED, (self._source,))
        wanted = self._db.changes()
        self._db.execute(_REPLACED, (self._source,))
        changed = self._db.changes()
        return wanted - changed, changed, gone

    def dropped(self) -> list[int]:
        """The pages of the index that are gone, or are put anew."""
        return [int(page) for (page,) in self._db.execute("SELECT page FROM temp.dropped")]

    def wanted_hosts(self) -> list[str]:
        rows = self._db.execute("SELECT DISTINCT host FROM temp.found WHERE url IN temp.wanted")
        return [str(host) for (host,) in rows]

    def wanted(self, most: int) -> Iterator[list[tuple[CapturedPage, int]]]:
        """In batches, each with the number of its job."""
        rows = self._db.execute("SELECT f.page, f.job FROM temp.wanted w JOIN temp.found f ON f.url = w.url")
        while batch := list(islice(rows, most)):
            yield [(msgspec.msgpack.decode(page, type=CapturedPage), int(job)) for page, job in batch]

    def touch(self) -> None:
        """When unchanged pages were last seen."""
        self._db.execute(
            "UPDATE page SET fetched_at = f.at FROM temp.found f WHERE f.url = page.url "
            "AND f.at <> page.fetched_at AND page.site IN (SELECT id FROM site WHERE source = ?)",
            (self._source,),
        )

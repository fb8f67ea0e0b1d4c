"""What is known of URLs that are found: our own hosts' are in memory, those of others go to them by mail.

Where memory is bounded, what is done and written is forgotten, the longest unused first, and looked up in the
database when a link leads to it again. What waits is never forgotten.
"""

from collections.abc import Iterable, Sequence

from sumi.model import Candidate, Hop
from sumi.ports import Judged
from sumi.state.cluster.batch import Batch, url_row
from sumi.state.cluster.holdings import Holdings
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.rows import ClusterLedger, Reader
from sumi.state.entries import REFUSED, Entry
from sumi.urls import host_key

MOST_MAILED = 200_000  # links to hosts of others that are remembered as mailed
BYTES_OF_URL = 600  # of memory, for one that is done: measured with URLs of some 60 characters
MOST_STRANGERS = 200_000  # URLs of our own hosts that the database is known not to have


class ClusterAdmission(ClusterLedger):
    def __init__(self, reader: Reader, holdings: Holdings) -> None:
        super().__init__(reader)
        self.holdings = holdings
        self._batch = Batch()
        self._mailed: dict[tuple[str, Hop], int] = {}
        self._strangers: set[str] = set()

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        await self.recall(urls)
        if self.holdings.is_whole:
            return self.holdings.machine.unseen(urls, depth, hop)
        ours = {url for url in urls if self._is_ours(url)}
        news = set(self.holdings.machine.unseen(list(ours), depth, hop))
        return [
            url
            for url in urls
            if (url in news if url in ours else self._mailed.get((url, hop), depth + 1) > depth)
        ]

    def admit(self, item: Judged) -> bool:
        """``recall`` it first."""
        host = host_key(item.candidate.url)
        if not self.holdings.takes(bucket_of(host)):
            return self._send(host, item.candidate)
        machine, url = self.holdings.machine, item.candidate.url
        was_known = url in machine.entries
        if not machine.admit(item):
            return False
        self._strangers.discard(url)
        self._note_url(machine.entries[url], was_known=was_known)
        return True

    def _is_ours(self, url: str) -> bool:
        return self.holdings.takes(bucket_of(host_key(url)))

    def _note_url(self, entry: Entry, *, was_known: bool) -> None:
        row = url_row(entry)
        if was_known:
            self.holdings.keep(entry.candidate.url)
            self._batch.changed[row[0]] = row
        else:
            self._batch.urls.append(row)
        if entry.state is REFUSED:
            self._batch.done[entry.candidate.url] = None

    def _send(self, host: str, candidate: Candidate) -> bool:
        """Mail a link to the owner of its host, unless that was done lately."""
        way = (candidate.url, candidate.hop)
        if self._mailed.get(way, candidate.depth + 1) <= candidate.depth:
            return False
        if len(self._mailed) >= MOST_MAILED:
            self._mailed.clear()
        self._mailed[way] = candidate.depth
        self._batch.send(host, candidate)
        return True

    async def recall(self, urls: Iterable[str]) -> None:
        """Those of our own hosts that were forgotten are in memory again, until there is more to write. Only
        their owner adds URLs to a bucket, so what the database does not know today it knows from us."""
        while self.holdings.is_partial:
            machine, owned = self.holdings.machine, self.holdings.ownership
            known = machine.entries
            lacking = [
                url for url in urls if url not in known and url not in self._strangers and self._is_ours(url)
            ]
            if not lacking:
                return
            rows = await self.reader.urls_among(lacking)
            if machine is not self.holdings.machine or owned != self.holdings.ownership:
                self._strangers.clear()
                continue  # buckets came or went meanwhile, and others may have added to them
            self.holdings.revive(rows, self.reader.offset)
            if len(self._strangers) + len(lacking) > MOST_STRANGERS:
                self._strangers.clear()
            self._strangers.update(url for url in lacking if url not in known)

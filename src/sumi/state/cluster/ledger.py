"""The read side of a job on PostgreSQL: all of it, whoever owns which hosts."""

from collections.abc import AsyncIterator, Iterable

from sumi.outcomes import Outcome
from sumi.ports import Attempt, RobotsRecord, UrlRecord
from sumi.state.cluster.rows import Reader


class ClusterLedger:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        return self.reader.records(outcomes)

    def waiting_again(self) -> AsyncIterator[UrlRecord]:
        return self.reader.waiting_again()

    async def record(self, url: str) -> UrlRecord | None:
        return await self.reader.record(url)

    async def history(self, url: str) -> list[Attempt]:
        return await self.reader.history(url)

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return await self.reader.get_robots(origin)

    async def get_note(self, key: str) -> str | None:
        return await self.reader.get_note(key)

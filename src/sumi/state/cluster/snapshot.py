"""A job in a database, looked at from outside: no lock, no change."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec
from psycopg import AsyncConnection

from sumi.errors import StateError
from sumi.frontier.pacing import INFINITY
from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.ports import FrontierStats, HostWait, RobotsRecord
from sumi.state.cluster.jobs import JobRow
from sumi.state.cluster.keys import BUCKETS
from sumi.state.cluster.membership import HELD, WORKERS_OF, add_up
from sumi.state.cluster.rows import ClusterLedger, Reader
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import NEVER, Timing
from sumi.state.entries import Stored, StoredListing, StoredNote


class WorkerRow(NamedTuple):
    id: int
    name: str
    is_alive: bool  # its lock is held
    silence: float  # seconds since it last wrote
    totals: dict[str, int]
    hosts: list[HostWait]


_WORKERS = f"""SELECT w.id, w.name, h.objid IS NOT NULL,
    extract(epoch FROM clock_timestamp() - w.said)::float8, w.totals::text, w.hosts::text
    FROM sumi.worker w LEFT JOIN ({HELD}) h ON h.objid = w.id WHERE w.job = %s ORDER BY w.id"""


_TOTALS = """SELECT totals::text FROM sumi.job WHERE id = %s
    UNION ALL SELECT totals::text FROM sumi.worker WHERE job = %s"""


class ClusterSnapshot(ClusterLedger):
    """``now``: ours, from which times are told."""

    def __init__(self, address: str, job: JobRow, connection: AsyncConnection[Any]) -> None:
        super().__init__(Reader(address, job.id, Timing()))
        self.job = job
        self._connection = connection

    @classmethod
    async def open(
        cls, address: str, job: JobRow, now: float, *, at_one_moment: bool = False
    ) -> "ClusterSnapshot":
        """``at_one_moment``: what is read of records and counts is of this moment, while workers go on."""
        connection = await connect(address, Timing())
        found = cls(address, job, connection)
        if at_one_moment:
            await connection.execute("SET idle_in_transaction_session_timeout = 0")
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            exported = await (await connection.execute("SELECT pg_export_snapshot()")).fetchone()
            assert exported is not None
            found.reader.moment = exported[0]
        answer = await connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        row = await answer.fetchone()
        assert row is not None
        found.reader.offset = row[0] - now
        return found

    async def workers(self) -> list[WorkerRow]:
        answer = await self._connection.execute(_WORKERS, (WORKERS_OF + self.job.id, self.job.id))
        return [
            WorkerRow(number, name, alive, silence, _decode_totals(totals), self._waits(hosts))
            for number, name, alive, silence, totals, hosts in await answer.fetchall()
        ]

    def _waits(self, text: str) -> list[HostWait]:
        waits = msgspec.json.decode(text, type=list[HostWait])
        return [
            msgspec.structs.replace(
                wait, ready_at=INFINITY if wait.ready_at == NEVER else wait.ready_at - self.reader.offset
            )
            for wait in waits
        ]

    async def letters(self) -> int:
        answer = await self._connection.execute(
            "SELECT count(*) FROM sumi.mail WHERE job = %s", (self.job.id,)
        )
        row = await answer.fetchone()
        return 0 if row is None else row[0]

    async def oldest_transaction(self) -> float:
        """Seconds for which a session, of anybody, has kept vacuum from its work."""
        answer = await self._connection.execute(
            """SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
            FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"""
        )
        row = await answer.fetchone()
        return 0.0 if row is None else row[0]

    async def stats(self) -> FrontierStats:
        answer = await self._connection.execute(_TOTALS, (self.job.id, self.job.id))
        totals: dict[str, int] = {}
        for row in await answer.fetchall():  # those of a worker that leaves become the job's
            add_up(totals, _decode_totals(row[0]))
        return stats_of(totals, leased=0)

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        """Of some hosts of those who work on it."""
        return [wait for worker in await self.workers() if worker.is_alive for wait in worker.hosts]

    async def export(self) -> AsyncIterator[Stored]:
        """Implements ``sumi.state.entries.Exporter``, for a job on which nobody works and without mail."""
        for key, value in await self.reader.all_notes():
            yield StoredNote(key, value)
        for robots in await self.reader.all_robots():
            yield robots
        for host in await self.reader.hosts_of(0, BUCKETS - 1):
            yield host
        async for url in self.reader.stored():
            yield url
        yield StoredListing((await self.stats()).listed)

    async def put_robots(self, record: RobotsRecord) -> None:
        raise StateError(f"the job {self.job.name} is only looked at")

    async def put_note(self, key: str, value: str) -> None:
        raise StateError(f"the job {self.job.name} is only looked at")

    async def aclose(self) -> None:
        await self._connection.close()
        await self.reader.close()


def stats_of(totals: dict[str, int], leased: int) -> FrontierStats:
    """From the numbers that workers write of themselves."""
    return FrontierStats(
        known=totals.get("known", 0),
        pending=sum(number for name, number in totals.items() if name.startswith("open ")),
        leased=leased,
        outcomes={
            Outcome(name.removeprefix("outcome ")): number
            for name, number in totals.items()
            if name.startswith("outcome ") and number
        },
        listed=totals.get("listed", 0),
        captured=totals.get("captured", 0),
        pending_pages=totals.get(f"open {Kind.PAGE}", 0),
    )


def _decode_totals(text: str) -> dict[str, int]:
    return msgspec.json.decode(text, type=dict[str, int])

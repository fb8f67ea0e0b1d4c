"""Who owns which buckets of hosts: session-level advisory locks decide, and rows are written over the
very session
that holds them. So whoever lost its session can write nothing more, whatever it still believes.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

import msgspec
import psycopg
from psycopg import AsyncConnection, errors

from sumi.state.cluster.schema import require_tables
from sumi.state.cluster.session import (
    LOST_PATIENCE,
    Lost,
    Unreachable,
    connect_owner,
    has_ended,
    rights_explained,
)
from sumi.state.cluster.timing import Timing, steady

# Advisory locks have two numbers: the job in the first, with a mark of ours, and a bucket or a worker in
# the second.
_BUCKETS_OF = 0x5355_0000
WORKERS_OF = 0x5356_0000
MOST_JOBS = 0xFFFF
HELD = """SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND classid::bigint = %s AND database = (SELECT oid FROM pg_database WHERE datname =
    current_database())"""


_END_THE_STUCK = """SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN sumi.worker w ON w.id = l.objid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = %s
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND w.job = %s AND clock_timestamp() - w.said > make_interval(secs => %s)"""


_CREW = f"""SELECT w.id, h.objid IS NOT NULL, clock_timestamp() - w.said > make_interval(secs => %s)
    FROM sumi.worker w LEFT JOIN ({HELD}) h ON h.objid = w.id WHERE w.job = %s"""


class Taken(NamedTuple):
    bucket: int
    in_order: bool  # its last owner let it go


class Place(NamedTuple):
    """A bucket as the database shows it."""

    bucket: int
    busy: bool
    held: bool


class Word(NamedTuple):
    """What the database said, all of one moment."""

    time: float  # of the server
    wish: str
    pages_left: int | None
    totals: dict[str, int]  # of everybody and of those who left
    mine: dict[str, int]  # the share in it that this worker has written
    stuck: int  # open URLs of workers that can do no more
    letters: int  # mail that nobody has taken in
    workers: int


_WORD = """SELECT extract(epoch FROM clock_timestamp())::float8, j.wish, j.pages_left, j.totals::text,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(w.id, w.totals)), '[]')::text FROM sumi.worker w WHERE
    w.job = j.id), (SELECT coalesce(sum(stuck), 0)::bigint FROM sumi.worker w WHERE w.job = j.id),
    (SELECT count(*) FROM (SELECT FROM sumi.mail m WHERE m.job = j.id LIMIT 1000) few),
    (SELECT count(*) FROM sumi.worker w WHERE w.job = j.id)
    FROM sumi.job j WHERE j.id = %s"""


class Membership:
    """One worker's session."""

    def __init__(self, connection: AsyncConnection[Any], job: int, worker: int, timing: Timing) -> None:
        self.connection = connection
        self.job = job
        self.worker = worker
        self.timing = timing
        self.answered = steady()  # when the last message was sent that was answered
        self._turn = asyncio.Lock()  # one transaction at a time

    @classmethod
    async def join(cls, address: str, job: int, name: str, timing: Timing) -> "Membership":
        connection = await connect_owner(address, timing)
        try:
            await require_tables(connection)
            with rights_explained("work on a job"):
                number = await _enlist(connection, job, name)
        except psycopg.Error as error:
            await connection.close()
            if not has_ended(error):
                raise
            message = f"the database does not answer: {' '.join(str(error).split())}"
            raise Unreachable(message, LOST_PATIENCE) from None
        except BaseException:
            await connection.close()
            raise
        return cls(connection, job, number, timing)

    @asynccontextmanager
    async def talking(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Around every exchange with the database: its answer proves that the session lasts."""
        async with self._turn:
            sent = steady()
            try:
                async with asyncio.timeout(self.timing.cut):
                    yield self.connection
            except (psycopg.Error, OSError) as error:
                if isinstance(error, psycopg.Error) and not has_ended(error):
                    raise
                await self.connection.close()  # and with it its locks, if the server still knows it
                raise Lost(" ".join(str(error).split()) or "no answer") from error
            self.answered = max(self.answered, sent)

    @property
    def silence(self) -> float:
        """Seconds since the last message was sent that was answered."""
        return steady() - self.answered

    def seconds_left(self) -> float:
        return self.timing.cut - self.silence

    async def take(self, buckets: Sequence[int]) -> list[Taken]:
        """Those of ``buckets`` that nobody owns. Locked first, looked at afterwards: what the last owner
        wrote is complete by then."""
        if not buckets:
            return []
        async with self.talking() as connection:
            locked = await connection.execute(
                "SELECT id FROM unnest(%s::int[]) id WHERE pg_try_advisory_lock(%s, id)",
                (list(buckets), _BUCKETS_OF + self.job),
            )
            ours = [row[0] for row in await locked.fetchall()]
            found = await connection.execute(
                """WITH before AS MATERIALIZED (SELECT id, let_go FROM sumi.bucket WHERE job = %s AND id
                = ANY(%s))
                UPDATE sumi.bucket b SET let_go = false FROM before WHERE b.job = %s AND b.id = before.id
                RETURNING b.id, before.let_go""",
                (self.job, ours, self.job),
            )
            return [Taken(*row) for row in await found.fetchall()]

    async def let_go(self, open_of: Mapping[int, int], waiting: Collection[int] = ()) -> None:
        """In order: nothing of these buckets is in flight, and everything about them is written. Those that
        are ``waiting`` had an owner who may still ask their hosts, so that the next heir waits too."""
        if not open_of:
            return
        ids, opens = list(open_of), list(open_of.values())
        async with self.talking() as connection:
            await connection.execute(
                """UPDATE sumi.bucket b SET let_go = b.id <> ALL(%s::int[]), open = x.open
                FROM unnest(%s::int[], %s::bigint[]) x (id, open) WHERE b.job = %s AND b.id = x.id""",
                (list(waiting), ids, opens, self.job),
            )
            await connection.execute(
                "SELECT pg_advisory_unlock(%s, id) FROM unnest(%s::int[]) id", (_BUCKETS_OF + self.job, ids)
            )

    async def places(self) -> list[Place]:
        """All buckets, busy ones first."""
        async with self.talking() as connection:
            answer = await connection.execute(
                f"""SELECT b.id, b.open > 0, h.objid IS NOT NULL FROM sumi.bucket b
                LEFT JOIN ({HELD}) h ON h.objid = b.id WHERE b.job = %s ORDER BY b.open > 0 DESC, b.id""",
                (_BUCKETS_OF + self.job, self.job),
            )
            return [Place(*row) for row in await answer.fetchall()]

    async def living(self) -> set[int]:
        """The ids of the workers whose locks are held."""
        async with self.talking() as connection:
            answer = await connection.execute(HELD, (WORKERS_OF + self.job,))
            return {row[0] for row in await answer.fetchall()}

    async def bury(self) -> int:
        """Remove the rows of workers that are gone: what they changed counts for the job from now on,
        and pages that they had reserved are free again. Returns how many live."""
        async with self.talking() as connection:
            answer = await connection.execute(_CREW, (self.timing.session, WORKERS_OF + self.job, self.job))
            crew = await answer.fetchall()
        if any(is_alive and is_silent for _, is_alive, is_silent in crew):
            await self._end_the_stuck()
        async with self.talking() as connection:
            for gone in sorted(worker for worker, is_alive, _ in crew if not is_alive):
                if gone != self.worker:
                    await fold_worker(connection, self.job, gone)
        return sum(is_alive for _, is_alive, _ in crew)

    async def _end_the_stuck(self) -> None:
        """Workers that stand still with half a message sent: the server does not call that idle, and would
        keep their locks for as long as they stand."""
        async with self.talking() as connection:
            with contextlib.suppress(errors.InsufficientPrivilege):  # of another login
                await connection.execute(
                    _END_THE_STUCK, (WORKERS_OF + self.job, self.job, self.timing.session)
                )

    async def word(self) -> Word:
        async with self.talking() as connection:
            answer = await connection.execute(_WORD, (self.job,))
            row = await answer.fetchone()
        if row is None:
            raise Lost("the job was removed")
        time, wish, left, gone, workers, stuck, letters, number = row
        totals: dict[str, int] = msgspec.json.decode(gone, type=dict[str, int])
        mine: dict[str, int] = {}
        for worker, written in msgspec.json.decode(workers, type=list[tuple[int, dict[str, int]]]):
            add_up(totals, written)
            if worker == self.worker:
                mine = written
        return Word(time, wish, left, totals, mine, stuck, letters, number)

    async def reserve(self, wanted: int) -> tuple[int, int]:
        """Pages of the limit for this worker alone; returns how many, and how many nobody has reserved."""
        async with self.talking() as connection, connection.transaction():
            answer = await connection.execute(
                """UPDATE sumi.job j SET pages_left = j.pages_left - x.got FROM
                (SELECT id, greatest(least(pages_left, %s), 0) AS got FROM sumi.job WHERE id = %s FOR
                UPDATE) x WHERE j.id = x.id RETURNING x.got, j.pages_left""",
                (wanted, self.job),
            )
            row = await answer.fetchone()
            got, left = (0, 0) if row is None or row[0] is None else row
            await connection.execute(
                "UPDATE sumi.worker SET pages_held = pages_held + %s WHERE id = %s", (got, self.worker)
            )
            return got, left

    async def say(self, column: Literal["stuck", "hosts"], value: int | str) -> None:
        """In this worker's row."""
        async with self.talking() as connection:
            await connection.execute(
                f"UPDATE sumi.worker SET {column} = %s, said = now() WHERE id = %s", (value, self.worker)
            )

    async def leave(self, open_of: Mapping[int, int], waiting: Collection[int] = ()) -> None:
        """In order: buckets are let go, and this worker's row becomes part of the job's."""
        await self.let_go(open_of, waiting)
        async with self.talking() as connection:
            await connection.execute(
                "SELECT pg_advisory_unlock(%s, %s)", (WORKERS_OF + self.job, self.worker)
            )
            await fold_worker(connection, self.job, self.worker)
        await self.close()

    async def close(self) -> None:
        """Not while somebody waits for an answer."""
        async with self._turn:
            await self.connection.close()


async def _enlist(connection: AsyncConnection[Any], job: int, name: str) -> int:
    async with connection.transaction():
        made = await connection.execute(
            "INSERT INTO sumi.worker (job, name) VALUES (%s, %s) RETURNING id", (job, name)
        )
        row = await made.fetchone()
        assert row is not None
        # Before the row can be seen: a row without its lock is removed by others.
        await connection.execute("SELECT pg_advisory_lock(%s, %s)", (WORKERS_OF + job, row[0]))
        return int(row[0])


async def fold_worker(connection: AsyncConnection[Any], job: int, worker: int) -> None:
    """One transaction, and by one of those who try: the lock of a living worker cannot be had."""
    async with connection.transaction():
        tried = await connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s)", (WORKERS_OF + job, worker)
        )
        row = await tried.fetchone()
        if row is None or not row[0]:
            return
        answer = await connection.execute(
            "SELECT totals::text FROM sumi.job WHERE id = %s FOR UPDATE", (job,)
        )
        of_job = await answer.fetchone()
        answer = await connection.execute(
            "DELETE FROM sumi.worker WHERE id = %s RETURNING totals::text, pages_held", (worker,)
        )
        of_worker = await answer.fetchone()
        if of_job is None or of_worker is None:
            return
        totals = msgspec.json.decode(of_job[0], type=dict[str, int])
        add_up(totals, msgspec.json.decode(of_worker[0], type=dict[str, int]))
        await connection.execute(
            "UPDATE sumi.job SET totals = %s::jsonb, pages_left = pages_left + %s WHERE id = %s",
            (msgspec.json.encode(totals).decode(), of_worker[1], job),
        )


def add_up(totals: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        totals[name] = totals.get(name, 0) + number


def fair_share(places: Sequence[Place], mine: set[int], workers: int) -> tuple[list[int], list[int]]:
    """Buckets to try to take, and to let go: busy ones are divided evenly, then idle ones."""
    take: list[int] = []
    drop: list[int] = []
    for busy in (True, False):
        alike = [place for place in places if place.busy is busy]
        share = -(-len(alike) // max(workers, 1))
        own = [place.bucket for place in alike if place.bucket in mine]
        if len(own) > share + share // 8:  # not for every bucket that runs empty
            drop += own[share:]
        elif len(own) < share:
            free = [place.bucket for place in alike if not place.held]
            take += free[: share - len(own)]
    return take, drop

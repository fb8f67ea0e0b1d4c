"""The jobs in a database: made, found by name, told to pause."""

from collections.abc import Sequence
from typing import Any

import msgspec
from psycopg import AsyncConnection

from sumi.errors import StateError, UsageError
from sumi.model import Candidate
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.membership import MOST_JOBS
from sumi.state.cluster.schema import INSERT_BUCKETS, require_tables
from sumi.state.cluster.session import rights_explained
from sumi.urls import host_key

_FIELDS = "id, name, kind, recipe, store, state, wish, pages_left"


class JobRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    kind: str
    recipe: str
    store: str
    state: str
    wish: str
    pages_left: int | None


async def find_job(connection: AsyncConnection[Any], name: str | None) -> JobRow:
    """The one of this name, or the only one there is."""
    await require_tables(connection)
    jobs = [job for job in await all_jobs(connection) if job.state == "ready"]
    if name is not None:
        found = [job for job in jobs if job.name == name]
        if not found:
            raise StateError(f"there is no job {name} in this database; {_known(jobs)}")
        return found[0]
    if len(jobs) != 1:
        raise UsageError(f"name a job with --job: {_known(jobs)}")
    return jobs[0]


def _known(jobs: Sequence[JobRow]) -> str:
    return f"there are {', '.join(job.name for job in jobs)}" if jobs else "there is none yet"


async def all_jobs(connection: AsyncConnection[Any]) -> list[JobRow]:
    answer = await connection.execute(f"SELECT {_FIELDS} FROM sumi.job ORDER BY name")
    return [JobRow(*row) for row in await answer.fetchall()]


async def make_job(
    connection: AsyncConnection[Any],
    name: str,
    kind: str,
    recipe: str,
    store: str,
    seeds: Sequence[Candidate],
    max_pages: int,
    state: str = "ready",
) -> JobRow:
    """Unless it is there. Its seeds are in the mail of whoever will own their hosts: a job that was just
    made is
    not one that has nothing left to do."""
    await require_tables(connection)
    with rights_explained("make a job"):
        return await _made(connection, name, kind, recipe, store, seeds, max_pages, state)


async def _made(
    connection: AsyncConnection[Any],
    name: str,
    kind: str,
    recipe: str,
    store: str,
    seeds: Sequence[Candidate],
    max_pages: int,
    state: str,
) -> JobRow:
    async with connection.transaction():
        made = await connection.execute(
            f"""INSERT INTO sumi.job (name, kind, recipe, store, pages_left, state) VALUES (%s, %s, %s,
    %s, %s, %s)
            ON CONFLICT (name) DO NOTHING RETURNING {_FIELDS}""",
            (name, kind, recipe, store, max_pages or None, state),
        )
        row = await made.fetchone()
        if row is None:
            found = await connection.execute(f"SELECT {_FIELDS} FROM sumi.job WHERE name = %s", (name,))
            row = await found.fetchone()
            assert row is not None
            return JobRow(*row)
        job = JobRow(*row)
        if job.id > MOST_JOBS:
            raise StateError("this database has had 65,535 jobs; use another one")
        await connection.execute(INSERT_BUCKETS, (job.id,))
        for seed in seeds:
            await connection.execute(
                "INSERT INTO sumi.mail (job, bucket, items) VALUES (%s, %s, %s)",
                (job.id, bucket_of(host_key(seed.url)), msgspec.msgpack.encode([seed])),
            )
    return job


async def age_of(connection: AsyncConnection[Any], name: str) -> float:
    """Seconds since the job was made; 0 if there is none yet."""
    answer = await connection.execute(
        "SELECT extract(epoch FROM clock_timestamp() - created)::float8 FROM sumi.job WHERE name = %s",
        (name,),
    )
    return float((await answer.fetchone() or (0.0,))[0])


async def wish(connection: AsyncConnection[Any], job: JobRow, wanted: str) -> None:
    """What all workers of a job are to do: run, pause or stop. They look every second."""
    with rights_explained("steer a job"):
        await connection.execute("UPDATE sumi.job SET wish = %s WHERE id = %s", (wanted, job.id))


async def change_limit(connection: AsyncConnection[Any], job: JobRow, max_pages: int) -> None:
    """A new ``max_pages``: what is left of it, without what was captured and what workers have reserved."""
    await connection.execute(
        """UPDATE sumi.job j SET pages_left = CASE WHEN %s = 0 THEN NULL ELSE greatest(0, %s
        - coalesce((j.totals->>'captured')::bigint, 0)
        - (SELECT coalesce(sum(coalesce((w.totals->>'captured')::bigint, 0) + w.pages_held), 0) FROM
        sumi.worker w WHERE w.job = j.id)) END WHERE j.id = %s""",
        (max_pages, max_pages, job.id),
    )


async def keep_recipe(connection: AsyncConnection[Any], job: JobRow, recipe: str) -> None:
    await connection.execute("UPDATE sumi.job SET recipe = %s WHERE id = %s", (recipe, job.id))

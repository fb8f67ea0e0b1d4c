"""Jobs made for tests of workers: with times that let a test of half a minute's rules take seconds."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from sumi.assembly.shared_job import shared_recipe
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.jobs.mirror.sharing import KIND, LOCAL
from sumi.settings.sources import SECRET
from sumi.state.cluster.jobs import make_job
from sumi.state.cluster.schema import set_up
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import Timing
from tests.cluster.many_hosts import ManyHosts
from tests.postgres import Postgres, the_server

# A fifteenth of the real times, with more between the last request of one owner and the first of the next.
SHORT = Timing(
    word=0.2,
    commit=0.1,
    idle_word=0.1,
    balance=0.3,
    no_lease=1.7,
    cut=1.9,
    inherit=2.4,
    session=2.0,
    in_transaction=1.5,
    network=2.0,
    rejoin=0.1,
)


def prepare(server: Postgres) -> None:
    """Make the tables of Sumi."""

    async def make() -> None:
        connection = await connect(server.address(), SHORT)
        await set_up(connection)
        await connection.close()

    asyncio.run(make())


@contextmanager
def own_server() -> Iterator[Postgres]:
    """Another server, for a test that breaks it."""
    server = Postgres(the_server().programs)
    try:
        prepare(server)
        yield server
    finally:
        server.remove()


class Ledger(NamedTuple):
    """What the database says of a job in the end."""

    urls: int
    settled: int  # URLs whose last ending is one
    twice: int  # URLs that were settled more than once


def plant(
    postgres: Postgres,
    web: ManyHosts,
    name: str,
    timing: Timing,
    pause: float,
    max_pages: int = 0,
    store: str = "",
) -> None:
    """``store``: where the contents are, if not in files of each worker."""
    settings = MirrorSettings(
        url=web.start,
        hosts=(f"*.web.test:{web.port}",),
        allow_private=True,
        resolve=tuple(f"{host}:{web.port}:127.0.0.1" for host in web.names),
        rate_limit=1 / pause if pause else 0.0,
        max_pages=max_pages,
        history=False,
    )
    recipe = msgspec.structs.replace(shared_recipe(settings, LOCAL, SECRET), timing=timing)

    async def make() -> None:
        connection = await connect(postgres.address(), timing)
        try:
            text = msgspec.json.encode(recipe).decode()
            seeds = mirror_job(settings).recipe.seeds
            await make_job(connection, name, KIND, text, store, seeds, max_pages)
        finally:
            await connection.close()

    asyncio.run(make())


def ledger_of(postgres: Postgres, name: str) -> Ledger:
    text = f"""
        WITH j AS (SELECT id FROM sumi.job WHERE name = '{name}'),
        e AS (SELECT key, count(*) FILTER (WHERE what = 'settled') AS settled
              FROM sumi.ending, j WHERE job = j.id GROUP BY key)
        SELECT (SELECT count(*) FROM sumi.url, j WHERE job = j.id AND refused IS NULL AND kind = 'page'),
            count(*) FILTER (WHERE settled > 0), count(*) FILTER (WHERE settled > 1)
        FROM e JOIN sumi.url u USING (key), j WHERE u.job = j.id AND u.kind = 'page'"""
    return Ledger(*map(int, postgres.sql(text).strip().split("|")))

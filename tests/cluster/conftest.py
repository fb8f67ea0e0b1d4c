"""A database with the tables of Sumi, shared by the tests of a process: each has jobs of its own."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from sumi.model import Candidate, Hop
from sumi.state.cluster.jobs import JobRow, make_job
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import Timing
from tests.cluster.planted import prepare
from tests.postgres import Postgres, the_server

MakeJob = Callable[..., JobRow]
# A thirtieth of the real times.
FAST = Timing(
    word=0.05,
    commit=0.0,
    idle_word=0.02,
    balance=0.05,
    no_lease=0.8,
    cut=0.9,
    inherit=1.0,
    session=1.0,
    in_transaction=0.5,
    network=20.0,
    rejoin=0.05,
)
_names = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Postgres:
    server = the_server()
    prepare(server)
    return server


@pytest.fixture
def make(postgres: Postgres, tmp_path: Path) -> MakeJob:
    """A new job with these seeds."""

    def made(*seeds: str, max_pages: int = 0) -> JobRow:
        async def work() -> JobRow:
            connection = await connect(postgres.address(), Timing())
            try:
                found = [Candidate(url, Hop.SEED) for url in seeds]
                name = f"{tmp_path.name}-{next(_names)}"
                return await make_job(connection, name, "mirror", "{}", "", found, max_pages)
            finally:
                await connection.close()

        return asyncio.run(work())

    return made

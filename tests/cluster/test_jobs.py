"""A worker finds its job by name, or without one where there is no doubt."""

import asyncio

import pytest

from sumi.errors import StateError, UsageError
from sumi.state.cluster import jobs
from sumi.state.cluster.jobs import JobRow, find_job
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import Timing
from tests.cluster.conftest import MakeJob
from tests.postgres import Postgres


def found(postgres: Postgres, name: str | None) -> JobRow:
    async def work() -> JobRow:
        connection = await connect(postgres.address(), Timing())
        try:
            return await find_job(connection, name)
        finally:
            await connection.close()

    return asyncio.run(work())


def test_a_job_is_found_by_its_name(postgres: Postgres, make: MakeJob) -> None:
    one, _ = make("https://a.test/"), make("https://b.test/")
    assert found(postgres, one.name).id == one.id
    with pytest.raises(StateError, match=f"there is no job other in this database; there are .*{one.name}"):
        found(postgres, "other")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_job_without_a_name_must_be_the_only_one(
    postgres: Postgres, make: MakeJob, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    made = [make(f"https://{number}.test/") for number in range(count)]

    async def those(_connection: object) -> list[JobRow]:  # other tests have jobs there as well
        return made

    monkeypatch.setattr(jobs, "all_jobs", those)
    if count == 1:
        assert found(postgres, None).id == made[0].id
    else:
        with pytest.raises(UsageError, match="name a job with --job"):
            found(postgres, None)

"""A job that is copied into a database is one to work on only if everything arrived."""

import asyncio
import time
from pathlib import Path

import pytest

from sumi.errors import StateError
from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome, Verdict
from sumi.state.cluster.importing import JobImport
from sumi.state.cluster.jobs import all_jobs
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import Timing
from sumi.state.entries import StoredUrl
from tests.postgres import Postgres

DONE = StoredUrl(Candidate("https://e.org/", Hop.SEED), verdict=Verdict(Outcome.NOT_FOUND), at=1.0)
OPEN = StoredUrl(Candidate("https://e.org/next", Hop.LINK, depth=1))
ONE_DONE = {Outcome.NOT_FOUND: 1}


@pytest.mark.parametrize(
    ("outcomes", "pending", "is_whole"),
    [(ONE_DONE, 1, True), (ONE_DONE, 2, False), ({Outcome.NOT_FOUND: 2}, 1, False)],
)
def test_a_copy_that_lacks_something_is_refused(
    postgres: Postgres, tmp_path: Path, outcomes: dict[Outcome, int], pending: int, is_whole: bool
) -> None:
    async def copied() -> str:
        connection = await connect(postgres.address(), Timing(), "import")
        try:
            job = await JobImport.begin(connection, tmp_path.name, "mirror", "{}", "", time.time())
            await job.restore([DONE, OPEN])
            if is_whole:
                assert await job.finish(outcomes, pending, 0) == 2
            else:
                with pytest.raises(StateError, match="counts differ"):
                    await job.finish(outcomes, pending, 0)
            return next(row.state for row in await all_jobs(connection) if row.name == tmp_path.name)
        finally:
            await connection.close()

    assert asyncio.run(copied()) == ("ready" if is_whole else "importing")

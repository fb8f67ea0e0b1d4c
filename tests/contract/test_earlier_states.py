"""A state that an earlier version made is opened and gone on with, whatever it is kept in."""

import asyncio
import tarfile
from pathlib import Path

import pytest

from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import JobStatus
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Attempt, HostReport, Settlement
from tests.contract.backends import STATES, Store
from tests.contract.make_earlier_states import CAPTURES, FOLDER, POLICY, url


def unpack(kind: str, folder: Path) -> None:
    with tarfile.open(FOLDER / f"{kind}.tar.gz") as archive:
        archive.extractall(folder, filter="data")


async def check_what_is_known(store: Store) -> None:
    assert [(record.url, record.outcome, record.depth) async for record in store.records()] == [
        (url(""), Outcome.CAPTURED, 0),
        (url("gone"), Outcome.NOT_FOUND, 1),
        (url("later"), Outcome.PENDING, 1),
        (url("waiting"), Outcome.PENDING, 2),
        (url("leased"), Outcome.PENDING, 1),
        (url("deep"), Outcome.TOO_DEEP, 9),
    ]
    home = await store.record(url(""))
    assert home is not None
    assert (home.facts.title, home.facts.path, home.facts.etag) == ("Home", "a.test/index.md", '"1"')
    assert await store.history(url("later")) == [Attempt(4.0, Outcome.SERVER_ERROR, "HTTP 500")]
    assert await store.get_note("made by") == "the version before"
    robots = await store.get_robots("https://a.test")
    assert robots is not None
    assert robots.body.endswith(b"/private")


async def go_on(store: Store) -> list[str]:
    """What the next run asks for, in its order; it settles all of it."""
    asked = []
    for now in (10.0, 70.0):
        for lease in await store.lease(9, now):
            asked.append(lease.url)
            await store.release_host(lease, HostReport(reached=now, latency=0.0))
            assert await store.settle([Settlement(lease, Verdict(Outcome.CAPTURED, "HTTP 200"), now)]) == [
                True
            ]
    return asked


@pytest.mark.parametrize("kind", STATES)
def test_a_state_of_the_version_before_is_gone_on_with(kind: str, tmp_path: Path) -> None:
    unpack(kind, tmp_path)

    async def scenario() -> None:
        store = STATES[kind](tmp_path, POLICY, 10.0)
        await check_what_is_known(store)
        assert await go_on(store) == [url("leased"), url("waiting"), url("later")]
        await store.aclose()
        store = STATES[kind](tmp_path, POLICY, 80.0)
        stats = await store.stats()
        assert (stats.known, stats.pending) == (6, 0)
        assert stats.outcomes == {Outcome.CAPTURED: 4, Outcome.NOT_FOUND: 1, Outcome.TOO_DEEP: 1}
        await store.aclose()

    asyncio.run(scenario())


def test_captures_of_the_version_before_are_read(tmp_path: Path) -> None:
    unpack("captures", tmp_path)
    database = CaptureDatabase(tmp_path / CAPTURES)
    [job] = database.jobs()
    assert (job.base_urls, job.status) == ((url(""),), JobStatus.COMPLETED)
    [page] = database.pages(job.id)
    assert (page.url, page.title, page.etag) == (url(""), "Home", '"1"')
    [failure] = database.failures(job.id)
    assert (failure.url, failure.error) == (url("gone"), "HTTP 404")
    database.close()

"""What the window offers for a job depends on what it is, whether it runs, and how it ended."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sumi.catalogue.find import Job, JobKind
from sumi.serve.app import make_app
from sumi.serve.guard import Access
from sumi.serve.jobs import Jobs
from sumi.serve.summaries import actions_of, role_of
from sumi.serve.views import Views

HERE = Path()
ENDED = Job(kind=JobKind.MIRROR, name="site", home=HERE, state=HERE, root=HERE)


def job(kind: JobKind, **traits: object) -> Job:
    return msgspec.structs.replace(ENDED, kind=kind, **traits)


@pytest.mark.parametrize(
    ("kind", "role", "state", "actions"),
    [
        (JobKind.MIRROR, "mirror", "complete", ("update",)),
        (JobKind.MIRROR, "mirror", "limited", ("update",)),
        (JobKind.MIRROR, "mirror", "interrupted", ("continue", "update")),
        (JobKind.CAPTURE, "capture", "complete", ()),
        (JobKind.CAPTURE, "capture", "partial", ("continue",)),
        (JobKind.CRAWL, "unified", "interrupted", ("continue", "update")),
        (JobKind.CRAWL, "scraper", "interrupted", ("continue",)),
        (JobKind.CRAWL, "scraper", "complete", ()),
        (JobKind.MAP, "map", "limited", ("update",)),
    ],
)
def test_a_job_is_continued_only_if_work_is_left(
    kind: JobKind, role: str, state: str, actions: tuple[str, ...]
) -> None:
    assert actions_of(job(kind), state, role) == actions
    more = actions_of(
        job(kind), state, role, goes_on=True
    )  # such as one whose host had its requests for a run
    assert more == (*(() if "continue" in actions else ("continue",)), *actions)


def test_a_crawl_is_not_steered_before_its_ledger_told_which_process_it_is() -> None:
    """Flag files are named after it: one with another name would be obeyed by nobody."""
    assert actions_of(job(JobKind.CRAWL, process=1), "running", role_of(job(JobKind.CRAWL), None)) == ()


@pytest.mark.parametrize("kind", JobKind)
def test_a_job_that_runs_is_steered_and_a_damaged_one_left_alone(kind: JobKind) -> None:
    assert actions_of(job(kind, process=1), "running", "a role") == ("pause", "stop", "cancel", "retune")
    assert actions_of(job(kind, process=1), "paused", "a role") == ("resume", "stop", "cancel", "retune")
    assert actions_of(job(kind, damage="unreadable"), "running", "a role") == ()


def test_a_window_that_closes_leaves_no_view_in_the_making(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Watched(Views):
        async def aclose(self) -> None:
            closed.append(True)
            await super().aclose()

    async def live_and_die() -> list[str]:
        told = iter(["lifespan.startup", "lifespan.shutdown"])
        said: list[str] = []

        async def receive() -> dict[str, str]:
            return {"type": next(told)}

        async def send(message: MutableMapping[str, Any]) -> None:
            said.append(message["type"])

        app = make_app(Jobs([tmp_path]), Access("t" * 32, 1), Watched(tmp_path))
        await app({"type": "lifespan", "state": {}}, receive, send)
        return said

    assert asyncio.run(live_and_die()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert closed == [True]

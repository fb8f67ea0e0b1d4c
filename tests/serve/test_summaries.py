"""What the window offers for a job depends on what it is, whether it runs, and how it ended."""

from pathlib import Path

import msgspec
import pytest

from sumi.catalogue.find import Job, JobKind
from sumi.serve.summaries import actions_of

HERE = Path()
ENDED = Job(kind=JobKind.MIRROR, name="site", home=HERE, state=HERE, root=HERE)


def job(kind: JobKind, **traits: object) -> Job:
    return msgspec.structs.replace(ENDED, kind=kind, **traits)


@pytest.mark.parametrize(
    ("kind", "state", "actions"),
    [
        (JobKind.MIRROR, "complete", ("update",)),
        (JobKind.MIRROR, "limited", ("update",)),
        (JobKind.MIRROR, "interrupted", ("continue", "update")),
        (JobKind.CAPTURE, "complete", ()),
        (JobKind.CAPTURE, "partial", ("continue",)),
        (JobKind.CRAWL, "interrupted", ()),
        (JobKind.MAP, "interrupted", ()),
    ],
)
def test_only_mirrors_and_captures_are_begun_again_and_only_if_work_is_left(
    kind: JobKind, state: str, actions: tuple[str, ...]
) -> None:
    assert actions_of(job(kind), state) == actions


@pytest.mark.parametrize("kind", JobKind)
def test_a_job_that_runs_is_steered_and_a_damaged_one_left_alone(kind: JobKind) -> None:
    assert actions_of(job(kind, process=1), "running") == ("pause", "stop", "cancel", "retune")
    assert actions_of(job(kind, process=1), "paused") == ("resume", "stop", "cancel", "retune")
    assert actions_of(job(kind, damage="unreadable"), "running") == ()

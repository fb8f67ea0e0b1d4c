"""An update is over when all was asked for that can be: what never comes does not keep it open."""

import pytest

from sumi.events import Summary
from sumi.jobs.mirror.update import ends_update


@pytest.mark.parametrize(
    ("status", "outcomes", "ends", "for_all"),
    [
        ("complete", {"unchanged": 3}, True, True),
        ("limited", {"unchanged": 3, "over_cap": 9}, True, True),
        ("partial", {"unchanged": 3, "pending": 40}, True, False),  # of a host that no longer answers
        ("limited", {"unchanged": 3, "over_budget": 40}, False, False),  # the next run has a new budget
        ("interrupted", {"unchanged": 3, "pending": 40}, False, False),
        ("interrupted", {"unchanged": 3}, False, False),
        ("aborted", {"unchanged": 3}, False, False),
    ],
)
def test_what_ends_an_update(status: str, outcomes: dict[str, int], ends: bool, for_all: bool) -> None:
    """``for_all``: of a job that others work on too."""
    summary = Summary("mirror", status, sum(outcomes.values()), outcomes, "output", 1.0)
    assert ends_update(summary, shared=False) is ends
    assert ends_update(summary, shared=True) is for_all

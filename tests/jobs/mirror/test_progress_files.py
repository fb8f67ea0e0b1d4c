"""The small files that tell people and scripts how a mirror stands."""

import json

from sumi.jobs.mirror.progress_files import checkpoint_json, stopped
from sumi.outcomes import Outcome
from sumi.ports import FrontierStats


def test_a_checkpoint_expects_all_that_ended_or_waits_and_nothing_that_was_left_out() -> None:
    outcomes = {Outcome.CAPTURED: 5, Outcome.SERVER_ERROR: 2, Outcome.EXCLUDED: 9}
    stats = FrontierStats(
        known=19, pending=3, leased=0, outcomes=outcomes, listed=0, captured=5, pending_pages=3
    )
    told = json.loads(checkpoint_json(stopped(stats), 0.0))
    counts = {name: told[name] for name in ("total_expected", "processed", "failed", "pending", "status")}
    assert counts == {
        "total_expected": 10,
        "processed": 5,
        "failed": 2,
        "pending": 3,
        "status": "interrupted",
    }

"""The progress and log files of a mirror always agree with what is recorded."""

import json

import pytest

from sumi.events import Progress
from sumi.jobs.mirror.progress_files import checkpoint_json, stopped
from sumi.outcomes import Outcome
from sumi.ports import FrontierStats
from tests.jobs.mirror.stored_mirror import SITE, StoredMirror


def test_a_checkpoint_expects_what_ended_or_waits_but_not_what_was_skipped() -> None:
    outcomes = {Outcome.CAPTURED: 5, Outcome.SERVER_ERROR: 2, Outcome.EXCLUDED: 9}
    stats = FrontierStats(
        known=19, pending=3, leased=0, outcomes=outcomes, listed=0, captured=5, pending_pages=3
    )
    checkpoint = json.loads(checkpoint_json(stopped(stats), 0.0))
    assert checkpoint["status"] == "interrupted"
    assert checkpoint["total_expected"] == 10
    assert [checkpoint[name] for name in ("processed", "failed", "pending")] == [5, 2, 3]


def test_progress_is_written_while_the_job_runs(mirror: StoredMirror) -> None:
    mirror.tree.write_progress(Progress(10, 90, 2, 5, 3.14159, 28.6, hosts=("example.com",)))
    progress = mirror.json("_progress.json")
    assert progress["status"] == "running"
    assert (progress["done"], progress["pending"], progress["pages_per_second"]) == (10, 90, 3.14)
    assert mirror.json("_checkpoint.json")["status"] == "running"
    mirror.finish()
    assert mirror.json("_progress.json")["status"] == "finished"


def test_logs_grow_line_by_line(mirror: StoredMirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND, "HTTP 404")
    mirror.end(f"{SITE}old", Outcome.REDIRECTED)
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML)
    assert mirror.lines("_processed.txt") == [f"{SITE}a", f"{SITE}old"]
    assert mirror.lines("_failed.log") == [f"2026-01-03T12:00:00Z\t{SITE}gone\tnot_found: HTTP 404"]


@pytest.mark.parametrize("damage", [b"", b"https://example.com/a\nhttps://exam", b"\x00\x00garbage"])
def test_torn_or_missing_lines_are_repaired_at_the_next_start(mirror: StoredMirror, damage: bytes) -> None:
    mirror.capture(f"{SITE}a")
    mirror.capture(f"{SITE}b")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND)
    good = mirror.lines("_processed.txt")
    (mirror.home / "_processed.txt").write_bytes(damage)
    (mirror.home / "_failed.log").unlink()
    mirror.reopened()
    assert mirror.lines("_processed.txt") == good
    assert len(mirror.lines("_failed.log")) == 1


def test_the_line_of_a_lost_settlement_is_removed(mirror: StoredMirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.log(f"{SITE}b", Outcome.CAPTURED, facts=mirror.accept(f"{SITE}b"))  # a power cut undid the rest
    assert len(mirror.lines("_processed.txt")) == 2
    mirror.reopened()
    assert mirror.lines("_processed.txt") == [f"{SITE}a"]

"""A mirror stopped in any way at any moment resumes: nothing is lost, nothing recorded twice."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi
from tests.site import MakeSite, RunningSite
from tests.site.oracle import check_mirror

CONCURRENCY = 8
FAST = ("--rate-limit", "0", "--json", "--concurrency", str(CONCURRENCY))


def wait_for_requests(site: RunningSite, running: SpawnedSumi, count: int) -> None:
    """Until the site has seen that many requests, or the run is over."""
    deadline = time.monotonic() + 60
    while len(site.requests()) < count and running.process.poll() is None:
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.01)  # waits for another process, which no injected clock can hurry


def kill(running: SpawnedSumi) -> None:
    if running.process.poll() is None:
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()


@pytest.mark.parametrize("state", ["files", "lmdb", "sqlite"])
def test_many_kills_still_store_everything_once(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, state: str
) -> None:
    site = make_site(pages=250, seed=11)
    chance = random.Random(11)
    kills = 0
    for _ in range(8):
        running = spawn_sumi("mirror", site.url, *FAST, "--state", state)
        wait_for_requests(site, running, len(site.requests()) + chance.randrange(1, 60))
        kills += running.process.poll() is None
        kill(running)
    final = run_sumi("mirror", site.url, *FAST, "--state", state)
    assert kills > 3
    assert final.events[-1]["event"] == "summary"
    violations = check_mirror(
        tmp_path / "output", site.truth, site.requests(), kills=kills, concurrency=CONCURRENCY
    )
    assert violations == []
    home = tmp_path / "output" / f"127.0.0.1_{site.port}"
    processed = (home / "_processed.txt").read_text().splitlines()
    assert len(processed) == len(set(processed))


def test_a_journal_torn_anywhere_near_its_end_is_repaired(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=25, seed=4)
    run_sumi("mirror", site.url, *FAST)
    state = tmp_path / "output" / f"127.0.0.1_{site.port}" / ".sumi"
    journal = state / "journal-000001.log"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    while b'"type":"sync"' in lines[-1]:  # as a power cut would: the last second, unmarked
        lines.pop()
    tail = b"".join(lines)
    for cut in random.Random(1).sample(range(len(tail) - 200, len(tail)), 3):
        journal.write_bytes(tail[:cut])
        run = run_sumi("mirror", site.url, *FAST)
        assert "recovered" in {event["event"] for event in run.events} or tail[:cut].endswith(b"\n")
        assert check_mirror(tmp_path / "output", site.truth, site.requests(), kills=9) == []


def test_a_damaged_journal_is_refused_not_ignored(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=12, seed=4)
    run_sumi("mirror", site.url, *FAST)
    journal = tmp_path / "output" / f"127.0.0.1_{site.port}" / ".sumi" / "journal-000001.log"
    damaged = bytearray(journal.read_bytes())
    damaged[len(damaged) // 2] ^= 0x20
    journal.write_bytes(damaged)
    run = run_sumi("mirror", site.url, *FAST)
    assert run.returncode == 4
    assert "is damaged at byte" in run.stderr
    assert journal.read_bytes() == bytes(damaged)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_and_resumes(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, signal_number: int
) -> None:
    site = make_site(pages=60, seed=6, delay_ms=5)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "100", "--json")
    wait_for_requests(site, running, 15)
    running.process.send_signal(signal_number)
    assert running.process.wait(30) == 3
    summary = running.events[-1]
    assert (summary["event"], summary["status"]) == ("summary", "interrupted")
    assert sum(summary["outcomes"].values()) == summary["discovered"]
    assert summary["outcomes"]["pending"] > 0
    run_sumi("mirror", site.url, *FAST)
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []


def test_two_runs_at_once_are_refused_by_name(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    site = make_site(pages=60, seed=6)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "2", "--json")
    wait_for_requests(site, running, 1)
    second = run_sumi("mirror", site.url, *FAST)
    assert second.returncode == 7
    assert f"in use by process {running.process.pid}" in second.stderr
    kill(running)
    assert run_sumi("mirror", site.url, *FAST).returncode == 1  # a lock dies with its process


def test_the_next_run_retries_temporary_failures(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=5, seed=1)
    url = f"{site.url}/bad/flaky-500-then-ok"
    first = run_sumi("mirror", url, *FAST, "--retries", "0")
    assert first.events[-1]["outcomes"]["server_error"] == 1
    second = run_sumi("mirror", url, *FAST, "--retries", "3")
    assert "server_error" not in second.events[-1]["outcomes"]

"""A running capture can be paused, resumed, cancelled and killed from outside, and loses nothing by it."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi
from tests.e2e.captures import FAST, jobs, shown, write_section
from tests.folder_site import FolderSite, folder_site

# Slow enough that a command from outside always comes before the end.
GENTLE = ("--rate-limit", "4", "--processes", "0", "--json")
PAGES = 60


def wait_until(running: SpawnedSumi, happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert running.process.poll() is None, running.stderr.read_text()
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.02)  # waits for another process, which no injected clock can hurry


def started(spawn_sumi: SpawnSumi, site: FolderSite, *words: str) -> SpawnedSumi:
    """A capture that has its first pages, and most of them still before it."""
    write_section(site, "docs", PAGES)
    running = spawn_sumi("capture", *GENTLE, *words, f"{site.url}docs")
    wait_until(running, lambda: sum(e["event"] == "capture" for e in running.events) >= 2)
    return running


def states(running: SpawnedSumi) -> list[str]:
    return [event["state"] for event in running.events if event["event"] == "state"]


def test_a_cancelled_capture_is_interrupted_however_much_waits(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        running = started(spawn_sumi, site)
        assert run_sumi("capture", "cancel").returncode == 0
        assert running.process.wait(60) == 3
        job = jobs(run_sumi)[-1]
        assert job["status"] == "interrupted"
        assert job["queue_size"] > 0
        assert run_sumi("capture", "cancel").returncode == 2, "nothing runs any more"
        resumed = run_sumi("capture", "resume", *FAST)
        assert resumed.returncode == 0, resumed.stderr
        job = jobs(run_sumi)[-1]
        assert (job["status"], job["pages_processed"], job["queue_size"]) == ("completed", PAGES + 1, 0)
        assert len(shown(run_sumi, "page")) == PAGES + 1
        assert len(jobs(run_sumi)) == 1


def test_a_paused_capture_says_so_and_goes_on(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        running = started(spawn_sumi, site)
        assert run_sumi("capture", "pause").returncode == 0
        wait_until(running, lambda: "paused" in states(running))
        assert jobs(run_sumi)[-1]["status"] == "paused"
        assert run_sumi("capture", "resume").returncode == 0
        wait_until(running, lambda: "running" in states(running))
        assert jobs(run_sumi)[-1]["status"] == "in_progress"
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(60) == 3


def test_one_capture_at_a_time_in_a_store_until_its_process_ends(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        running = started(spawn_sumi, site)
        second = run_sumi("capture", site.url, *FAST)
        assert second.returncode == 2
        assert "a capture is already in progress" in second.stderr
        assert run_sumi("capture", "delete", jobs(run_sumi)[0]["id"]).returncode == 2
        assert run_sumi("capture", site.url, *FAST, "--limit", "1", "--store", "other").returncode == 0
        os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()
        assert [job["status"] for job in jobs(run_sumi)] == ["interrupted"]
        assert run_sumi("capture", f"{site.url}docs", *FAST, "--limit", "1").returncode == 0
        assert [job["status"] for job in jobs(run_sumi)] == ["interrupted", "completed"]


def test_limits_are_exact_after_kills(spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "api", PAGES)
        running = started(spawn_sumi, site, "--limit", "20", "--workers", "10", f"{site.url}api")
        os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()
        again = spawn_sumi("capture", "resume", *GENTLE)
        wait_until(again, lambda: sum(e["event"] == "capture" for e in again.events) >= 3)
        os.killpg(again.process.pid, signal.SIGKILL)
        again.process.wait()
        done = run_sumi("capture", "resume", *FAST)
        assert done.returncode == 0, done.stderr
        pages = shown(run_sumi, "page")
        assert sorted(page["base"] for page in pages) == [0] * 20 + [1] * 20
        assert len({page["url"] for page in pages}) == 40
        assert jobs(run_sumi)[-1]["pages_processed"] == 40

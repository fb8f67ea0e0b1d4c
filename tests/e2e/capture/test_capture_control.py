"""A running capture can be paused, resumed, cancelled and killed from outside, and loses nothing by it."""

import json
import os
import signal
import threading
from pathlib import Path

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.e2e.capture.captures import FAST, jobs, shown, write_section
from tests.e2e.mirror.test_fetch_whole import Answer, page
from tests.e2e.mirror.test_fetch_whole import site as answering_site
from tests.folder_site import FolderSite, folder_site

# Slow enough that a command from outside always comes before the end.
GENTLE = ("--rate-limit", "2", "--processes", "0", "--json")
PAGES = 60


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


def test_a_paused_capture_says_so_and_continues(
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
        assert second.returncode == 7
        assert "a capture is already in progress" in second.stderr
        assert run_sumi("capture", "delete", jobs(run_sumi)[0]["id"]).returncode == 7
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


def test_an_interrupted_capture_says_how_to_resume_it(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", PAGES)
        for store, option in (("captures", ""), ("my docs", " --captures 'my docs'")):
            words = (f"{site.url}docs", "--rate-limit", "2", "--processes", "0", "--store", store)
            asked = len(site.answers)
            running = spawn_sumi("capture", *words)
            wait_until(running, lambda asked=asked: len(site.answers) > asked + 3)  # type: ignore[misc]
            running.process.send_signal(signal.SIGINT)
            assert running.process.wait(60) == 3
            told = running.stderr.read_text()
            listed = run_sumi("capture", "list", "--json", env={"SUMI_STORE": store})
            (job,) = [json.loads(line)["id"] for line in listed.stdout.splitlines()]
            assert f"interrupted: run sumi capture resume {job}{option} to continue" in told
            assert "the same command" not in told


def test_a_capture_that_is_being_cancelled_cannot_be_resumed_yet(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    may_answer = threading.Event()

    def slow(_headers: dict[str, str]) -> Answer:
        may_answer.wait(60)
        return page("/more")

    with answering_site({"/": page("/slow"), "/slow": slow, "/more": page()}) as held:
        running = spawn_sumi("capture", f"{held.url}/", *GENTLE)
        wait_until(running, lambda: "/slow" in held.paths())
        assert run_sumi("capture", "cancel").returncode == 0
        for _ in ("before the run has seen it", "and after"):
            early = run_sumi("capture", "resume")
            assert early.returncode == 2
            assert "is being cancelled: resume it once it has ended" in early.stderr
            wait_until(running, lambda: "stopping" in states(running))
        may_answer.set()
        assert running.process.wait(60) == 3
        done = run_sumi("capture", "resume", *FAST)
        assert done.returncode == 0, done.stderr
        assert len(jobs(run_sumi)) == 1


def test_every_verb_finds_the_store_that_the_variable_names(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    there = {"SUMI_STORE": "envstore"}
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", PAGES)
        running = spawn_sumi("capture", f"{site.url}docs", *GENTLE, env=there)
        wait_until(running, lambda: sum(e["event"] == "capture" for e in running.events) >= 2)
        for verb in ("list", "show", "pause", "resume", "cancel"):
            done = run_sumi("capture", verb, env=there)
            assert done.returncode == 0, done.stderr
        assert running.process.wait(60) == 3
        done = run_sumi("capture", "resume", *FAST, env=there)
        assert done.returncode == 0, done.stderr
        done = run_sumi("capture", "export", "-o", "pages", env=there)
        assert f"{PAGES + 1} pages are in pages" in done.stderr
        job = json.loads(run_sumi("capture", "list", "--json", env=there).stdout)["id"]
        assert run_sumi("capture", "show", "--store", "elsewhere", env=there).returncode == 2
        assert run_sumi("capture", "delete", job, env=there).returncode == 0
        assert not (tmp_path / "captures").exists()

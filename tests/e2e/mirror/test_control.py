"""A running mirror can be paused, stopped, retuned and queried, and loses nothing."""

import signal
import time
from pathlib import Path
from typing import Any

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.site import MakeSite, RunningSite
from tests.site.oracle import check_mirror

UNLIMITED = ("--rate-limit", "0", "--json")


def events_of(running: SpawnedSumi, name: str) -> list[dict[str, Any]]:
    return [event for event in running.events if event["event"] == name]


def wait_for_event(running: SpawnedSumi, name: str, count: int = 1) -> dict[str, Any]:
    wait_until(running, lambda: len(events_of(running, name)) >= count)
    return events_of(running, name)[count - 1]


def wait_for_requests(site: RunningSite, running: SpawnedSumi, count: int) -> None:
    wait_until(running, lambda: len(site.requests()) >= count)


def ask_status(running: SpawnedSumi) -> dict[str, Any]:
    before = len(events_of(running, "status"))
    running.process.send_signal(signal.SIGUSR1)
    return wait_for_event(running, "status", before + 1)


def home_of(site: RunningSite, tmp_path: Path) -> Path:
    return tmp_path / "output" / f"127.0.0.1_{site.port}"


def test_a_second_signal_ends_the_run_at_once_and_nothing_is_lost(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=6, delay_ms=1500)
    running = spawn_sumi("mirror", site.url, *UNLIMITED, "--concurrency", "4")
    wait_for_requests(site, running, 5)
    running.process.send_signal(signal.SIGINT)
    wait_for_event(running, "state")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(30) == 4
    assert [event["state"] for event in events_of(running, "state")] == ["stopping", "aborting"]
    summary = running.events[-1]
    assert (summary["event"], summary["status"]) == ("summary", "aborted")
    assert sum(summary["outcomes"].values()) == summary["discovered"]
    site_again = run_sumi("mirror", site.url, *UNLIMITED, "--concurrency", "32")
    assert site_again.returncode == 1
    assert check_mirror(tmp_path / "output", site.truth, site.requests(), kills=1, concurrency=4) == []


def test_a_reload_changes_the_limits_of_a_running_mirror(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=6)
    config = tmp_path / "site.toml"
    config.write_text("[mirror]\nrate-limit = 2\nmax-pages = 5000\n")
    running = spawn_sumi("mirror", site.url, "--config", str(config), "--json", "--concurrency", "3")
    wait_for_requests(site, running, 2)
    config.write_text("[mirror]\nrate-limit = 'fast'\n")
    running.process.send_signal(signal.SIGHUP)
    warning = wait_for_event(running, "warning")["message"]
    assert "limits were not changed" in warning
    assert "rate-limit is 'fast'" in warning
    assert not events_of(running, "retuned")
    config.write_text("[mirror]\nrate-limit = 0\nmax-pages = 12\nconcurrency = 9\n")
    running.process.send_signal(signal.SIGHUP)
    retuned = wait_for_event(running, "retuned")
    assert (retuned["delay"], retuned["max_pages"]) == (0.0, 12)
    assert retuned["concurrency"] == 3  # a flag still wins over the file
    assert running.process.wait(60) == 0
    assert running.events[-1]["outcomes"]["captured"] == 12


def test_a_running_mirror_reports_its_status(make_site: MakeSite, spawn_sumi: SpawnSumi) -> None:
    site = make_site(pages=30, seed=6)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "4", "--json")
    wait_for_requests(site, running, 5)
    status = ask_status(running)
    assert sum(status["outcomes"].values()) + status["pending"] == status["discovered"]
    assert [host["host"] for host in status["hosts"]] == [f"127.0.0.1:{site.port}"]
    assert status["hosts"][0]["why"] in ("spacing", "in flight", "sitemaps first")
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 3


def test_the_status_goes_to_stderr_for_people_even_when_quiet(
    make_site: MakeSite, spawn_sumi: SpawnSumi
) -> None:
    site = make_site(pages=30, seed=6)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "4", "-q")
    wait_for_requests(site, running, 3)
    running.process.send_signal(signal.SIGUSR1)
    wait_until(running, lambda: "status: running" in running.stderr.read_text())
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(30)
    assert f"127.0.0.1:{site.port}: " in running.stderr.read_text()
    assert running.stdout.read_text() == ""


def test_a_file_pauses_a_run_until_it_is_removed(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=30, seed=6)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "20", "--json")
    wait_for_requests(site, running, 5)
    pause = home_of(site, tmp_path) / "pause.mirror"
    pause.touch()
    paused = wait_for_event(running, "state")
    assert (paused["state"], paused["why"]) == ("paused", "pause.mirror")
    wait_until(running, lambda: not ask_status(running)["in_flight"])
    asked = len(site.requests())
    for _ in range(50):  # more than the rate limit would let pass if it were not paused
        ask_status(running)
    assert len(site.requests()) == asked
    pause.unlink()
    assert running.process.wait(60) == 1
    assert [event["state"] for event in events_of(running, "state")] == ["paused", "running"]
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []


def test_a_run_stopped_by_a_file_can_be_resumed(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=30, seed=6)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "20", "--json")
    wait_for_requests(site, running, 5)
    stop = home_of(site, tmp_path) / "stop.mirror"
    stop.touch()
    assert running.process.wait(30) == 3
    assert running.events[-1]["status"] == "interrupted"
    assert not stop.exists()
    run_sumi("mirror", site.url, *UNLIMITED)
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []


def test_hundreds_of_signals_disturb_no_exchange(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60, seed=6, delay_ms=20)
    running = spawn_sumi("mirror", site.url, *UNLIMITED)
    wait_for_requests(site, running, 1)
    while running.process.poll() is None:
        running.process.send_signal(signal.SIGUSR1)
        time.sleep(0.002)
    assert running.process.returncode == 1
    assert events_of(running, "status")
    assert not events_of(running, "retry")
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []

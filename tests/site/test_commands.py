"""Commands that tests run work in the test's own folder, have their events parsed, and do not outlive it."""

from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi, parse_events, sumi_environment
from tests.site import RunningSite


def test_a_command_runs_to_its_end(run_sumi: RunSumi) -> None:
    done = run_sumi("--version")
    assert (done.returncode, done.stdout.split()[0], done.events) == (0, "sumi", [])


def test_a_spawned_command_works_in_the_folder_of_the_test(spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    spawned = spawn_sumi("--version")
    assert spawned.process.wait(timeout=60) == 0
    assert spawned.stdout.parent == tmp_path
    assert spawned.stdout.read_text().startswith("sumi ")


def test_a_spawned_command_can_be_killed(spawn_sumi: SpawnSumi, small_site: RunningSite) -> None:
    spawned = spawn_sumi("mirror", f"{small_site.url}/bad/never-answers", "--json")
    spawned.process.kill()
    assert spawned.process.wait(timeout=60) == -9


def test_events_are_read_up_to_the_last_complete_line() -> None:
    assert parse_events('{"event": "started"}\nnot json\n{"event": "page"}\n{"event": "su') == [
        {"event": "started"},
        {"event": "page"},
    ]


def test_a_developer_s_settings_do_not_reach_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMI_OUTPUT", "elsewhere")
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    environment = sumi_environment({"EXTRA": "1"})
    assert not {"SUMI_OUTPUT", "https_proxy"} & environment.keys()
    assert environment["EXTRA"] == "1"

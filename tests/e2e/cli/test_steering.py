"""A running job of any kind is paused, resumed and stopped by a command from another terminal."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.e2e.capture.captures import FAST as CAPTURE
from tests.held_site import PAUSED, HeldSite, crawl_config, held_site, map_config

MIRROR = ("--rate-limit", "0", "--processes", "0", "--concurrency", "1", "--follow-links", "--json")
INTERRUPTED = 3


@pytest.fixture
def site() -> Iterator[HeldSite]:
    with held_site() as running:
        yield running


def mirror_of(site: HeldSite, folder: Path) -> tuple[tuple[str, ...], str]:
    return ("mirror", site.url, *MIRROR), "output"


def crawl_of(site: HeldSite, folder: Path) -> tuple[tuple[str, ...], str]:
    config = str(crawl_config(folder, site))
    return ("run", "--unified", "--config", config, "--json", "--processes", "0"), "workspace"


def map_of(site: HeldSite, folder: Path) -> tuple[tuple[str, ...], str]:
    return ("map", str(map_config(folder, site)), "--json"), "map.db"


def capture_of(site: HeldSite, folder: Path) -> tuple[tuple[str, ...], str]:
    return ("capture", site.url, *CAPTURE, "--workers", "1", "--json"), "captures"


EACH_JOB = pytest.mark.parametrize("job", [mirror_of, crawl_of, map_of, capture_of])
MakeJob = Callable[[HeldSite, Path], tuple[tuple[str, ...], str]]


def until_paused(run: SpawnedSumi) -> None:
    wait_until(run, lambda: PAUSED.search(run.stdout.read_text()) is not None)


@EACH_JOB
def test_a_job_is_paused_resumed_and_ends_whole(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, job: MakeJob
) -> None:
    words, place = job(site, tmp_path)
    running = spawn_sumi(*words)
    wait_until(running, lambda: site.is_holding)
    said = run_sumi("pause", place)
    assert (said.returncode, said.stderr) == (0, "")
    assert "pauses within a second" in said.stdout
    until_paused(running)
    site.let_go()
    resumed = run_sumi("resume", place)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert running.process.wait(60) == 0, running.stderr.read_text()
    assert running.events[-1]["status"] == "complete"


@EACH_JOB
def test_a_paused_job_is_stopped_and_its_command_continues_it(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, job: MakeJob
) -> None:
    words, place = job(site, tmp_path)
    running = spawn_sumi(*words)
    wait_until(running, lambda: site.is_holding)
    assert run_sumi("pause", place).returncode == 0
    until_paused(running)
    assert run_sumi("stop", place).returncode == 0
    site.let_go()
    assert running.process.wait(60) == INTERRUPTED, running.stderr.read_text()
    again = ("capture", "resume", *CAPTURE, "--json") if words[0] == "capture" else words
    ended = run_sumi(*again)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1])["status"] == "complete"


def test_what_cannot_be_steered_is_said(site: HeldSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site.let_go()
    assert run_sumi("mirror", site.url, *MIRROR).returncode == 0
    home = tmp_path / "output" / site.home
    for verb, state in (("pause", "running"), ("stop", "running"), ("resume", "paused")):
        said = run_sumi(verb, "output")
        assert said.returncode == 2
        assert f"no job at output is {state}" in said.stderr
        assert not list(home.glob(f"{verb}.*"))
    assert "holds no job of Sumi" in run_sumi("pause", "elsewhere").stderr
    assert "--job names a job of a PostgreSQL database" in run_sumi("pause", "output", "--job", "docs").stderr


def test_a_pause_that_outlived_its_run_is_taken_back(
    site: HeldSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site.let_go()
    assert run_sumi("mirror", site.url, *MIRROR).returncode == 0
    flag = tmp_path / "output" / site.home / "pause.mirror"
    flag.touch()
    said = run_sumi("resume", "output")
    assert (said.returncode, flag.exists()) == (0, False)
    assert "it is not running" in said.stdout

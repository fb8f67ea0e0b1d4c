"""Killed at any moment, crawler and scraper continue: every page found is in the CSV exactly once."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.e2e.pipeline.workspaces import Workspace, make_workspace
from tests.site import MakeSite, RunningSite

REPOSITORIES = 6
KILLS = 6


def wait_for_requests(site: RunningSite, running: SpawnedSumi, more: int) -> None:
    """Until the site has seen so many more requests, or the run is over."""
    deadline, goal = time.monotonic() + 60, len(site.requests()) + more
    while len(site.requests()) < goal and running.process.poll() is None:
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.01)  # waits for another process, which no injected clock can hurry


def kill(running: SpawnedSumi) -> bool:
    """Whether it was still at work."""
    alive = running.process.poll() is None
    if alive:
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    return alive


def kill_again_and_again(
    workspace: Workspace, spawn_sumi: SpawnSumi, words: tuple[str, ...], chance: random.Random
) -> int:
    kills = 0
    for _ in range(KILLS):
        running = spawn_sumi(*words)
        wait_for_requests(workspace.site, running, chance.randrange(1, 50))
        kills += kill(running)
    return kills


@pytest.fixture(params=["files", "lmdb"])
def workspace(request: pytest.FixtureRequest, make_site: MakeSite, tmp_path: Path) -> Workspace:
    site = make_site(pages=1, github=REPOSITORIES, delay_ms=2)
    sections = {"frontier": {"backend": request.param}, "index": {"backend": request.param}}
    slow = {"req_per_sec": 100, "global_concurrency": 8, "per_host_concurrency": 8}
    return make_workspace(tmp_path, site, REPOSITORIES, limits=slow, spool={"segment_mb": 0.02}, **sections)


def test_crawler_and_scraper_killed_each_by_itself(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    chance = random.Random(5)
    words = ("--config", "crawl.yaml", "-q")
    kills = 0
    for _ in range(KILLS):
        crawler = spawn_sumi("crawl", "run", *words)
        scraper = spawn_sumi("scrape", "run", *words, "--follow")
        first, second = chance.sample([crawler, scraper], 2)
        wait_for_requests(workspace.site, crawler, chance.randrange(1, 30))
        kills += kill(first)
        wait_for_requests(workspace.site, crawler, chance.randrange(1, 30))
        kills += kill(second)
    assert kills > KILLS
    assert run_sumi("crawl", "run", *words).returncode == 0
    found = [discovery["url"] for discovery in workspace.discoveries()]
    assert len(found) == len(set(found))
    assert run_sumi("scrape", "run", *words).returncode == 0
    assert workspace.faults([*workspace.rows()]) == []
    assert_indexed_once(workspace)


def assert_indexed_once(workspace: Workspace) -> None:
    if not (workspace.folder / "state" / "page_index.lmdb").exists():  # which cannot hold a URL twice
        assert sorted(record["url"] for record in workspace.index()) == sorted(workspace.truth)


def test_pages_indexed_by_a_killed_scraper_are_not_indexed_again(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    words = ("--config", "crawl.yaml", "-q")
    assert run_sumi("crawl", "run", *words).returncode == 0
    for _ in range(2):
        scraper = spawn_sumi("scrape", "run", *words, "--follow")
        wait_until(scraper, lambda: len(workspace.rows()) == len(workspace.truth))
        kill(scraper)
    assert run_sumi("scrape", "resume", *words).returncode == 0
    assert workspace.faults([*workspace.rows()]) == []
    assert_indexed_once(workspace)


def test_both_killed_at_once_leave_nothing_running(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    words = ("run", "--config", "crawl.yaml", "-q")
    assert kill_again_and_again(workspace, spawn_sumi, words, random.Random(9)) > 0
    final = run_sumi(*words)
    assert final.returncode == 0, final.stderr
    assert workspace.faults([*workspace.rows()]) == []
    assert_indexed_once(workspace)


def test_unified_killed_again_and_again(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    words = ("run", "--config", "crawl.yaml", "--unified", "-q")
    assert kill_again_and_again(workspace, spawn_sumi, words, random.Random(3)) > 0
    final = run_sumi(*words)
    assert final.returncode == 0, final.stderr
    assert workspace.faults(workspace.metadata()) == []
    assert_indexed_once(workspace)


@pytest.mark.parametrize("command", ["crawl run", "run --unified"])
def test_every_page_is_in_a_warc_despite_kills(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi, command: str
) -> None:
    words = (*command.split(), "--config", "crawl.yaml", "--warc", "pages.warc.gz", "-q")
    kills = kill_again_and_again(workspace, spawn_sumi, words, random.Random(7))
    assert kills > 0
    final = run_sumi(*words)
    assert final.returncode == 0, final.stderr
    files = sorted(workspace.config.parent.glob("pages*.warc.gz"))
    assert 1 < len(files) <= kills + 1  # a run that is killed before its first page leaves none
    kept = Counter(url for path in files for url in warc_urls(path))
    assert kept.keys() >= workspace.truth.keys()
    assert {url: kept[url] for url in workspace.truth} == dict.fromkeys(workspace.truth, 1)


def warc_urls(path: Path) -> list[str]:
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        return [
            one.rec_headers.get_header("WARC-Target-URI") for one in records if one.rec_type == "response"
        ]


def test_an_interrupt_stops_both_and_the_same_command_continues(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    running = spawn_sumi("run", "--config", "crawl.yaml", "--json")
    wait_for_requests(workspace.site, running, 20)
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(60) in (0, 3)
    crawler = run_sumi("crawl", "status", "--config", "crawl.yaml", "--json")
    assert '"process": null' in crawler.stdout
    assert run_sumi("run", "--config", "crawl.yaml", "-q").returncode == 0
    assert workspace.faults([*workspace.rows()]) == []

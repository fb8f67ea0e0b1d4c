"""An archive may be packed with its own dictionary; it survives kills and opens with standard tools."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
import zstandard

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.pipeline.test_pipeline_kills import kill, wait_for_requests
from tests.e2e.pipeline.workspaces import FAST, Workspace, make_workspace
from tests.site import MakeSite

REPOSITORIES = 8  # far more pages than a dictionary is trained from
UNIFIED = ("run", "--config", "crawl.yaml", "--unified", "-q")
AUTO = {"compress": True, "dictionary": "auto"}


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    site = make_site(pages=1, github=REPOSITORIES)
    return make_workspace(tmp_path, site, REPOSITORIES, store=AUTO)


def packed_with(workspace: Workspace) -> dict[str, int]:
    """The number of each body's dictionary, by its path."""
    paths = workspace.folder.glob("store/html/??/??/*.zst")
    return {
        str(path.relative_to(workspace.folder)): zstandard.get_frame_parameters(path.read_bytes()).dict_id
        for path in paths
    }


def test_a_dictionary_is_trained_once_and_read_by_every_command(
    workspace: Workspace, run_sumi: RunSumi
) -> None:
    done = run_sumi(*UNIFIED)
    assert done.returncode == 0, done.stderr
    assert workspace.faults(workspace.metadata()) == []
    (dictionary,) = workspace.dictionaries()
    number = zstandard.ZstdCompressionDict(dictionary.read_bytes()).dict_id()
    assert dictionary.name.startswith(f"{number}-")
    first = packed_with(workspace)
    assert set(first.values()) == {0, number}

    for change in workspace.folder.glob("store/html/??/??/*.zst"):
        change.unlink()
    assert run_sumi("state", "check", "workspace", "--repair").returncode in (0, 1)
    assert run_sumi(*UNIFIED).returncode == 0
    assert workspace.dictionaries() == [dictionary]
    assert packed_with(workspace) == dict.fromkeys(first, number)

    checked = run_sumi("state", "check", "workspace", "--deep")
    assert checked.returncode == 0, checked.stdout
    replayed = run_sumi("scrape", "replay", "--config", "crawl.yaml", "--run-id", "again")
    assert replayed.returncode == 0, replayed.stderr
    assert workspace.faults([*workspace.rows("again")]) == []


@pytest.mark.skipif(shutil.which("zstdcat") is None, reason="zstdcat is not installed")
def test_zstdcat_opens_a_body_with_the_dictionary(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi(*UNIFIED)
    (dictionary,) = workspace.dictionaries()
    path = next(path for path, number in packed_with(workspace).items() if number)
    command = ["zstdcat", "-D", str(dictionary), str(workspace.folder / path)]
    opened = subprocess.run(command, capture_output=True, check=True).stdout
    assert opened == workspace.body(path)


def test_crawler_and_scraper_share_the_dictionary(workspace: Workspace, run_sumi: RunSumi) -> None:
    for side in ("crawl", "scrape"):
        done = run_sumi(side, "run", "--config", "crawl.yaml", "-q")
        assert done.returncode == 0, done.stderr
    assert workspace.faults([*workspace.rows()]) == []
    assert len(workspace.dictionaries()) == 1
    assert set(workspace.page_requests().values()) == {1}


def test_a_kill_during_training_loses_nothing(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=REPOSITORIES, delay_ms=2)
    slow = FAST | {"req_per_sec": 200}
    workspace = make_workspace(tmp_path, site, REPOSITORIES, store=AUTO, limits=slow)
    chance = random.Random(4)
    for _ in range(3):
        running = spawn_sumi(*UNIFIED)
        wait_for_requests(site, running, chance.randrange(95, 125))
        kill(running)
    final = run_sumi(*UNIFIED)
    assert final.returncode == 0, final.stderr
    assert workspace.faults(workspace.metadata()) == []
    checked = run_sumi("state", "check", "workspace", "--deep")
    assert checked.returncode == 0, checked.stdout

"""Status, explain and state check work on a workspace as they do on a mirror."""

from pathlib import Path

import msgspec
import pytest

from tests.commands import RunSumi
from tests.e2e.pipeline.workspaces import Workspace, make_workspace
from tests.site import MakeSite

REPOSITORIES = 1


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, make_site(pages=1, github=REPOSITORIES), REPOSITORIES)


@pytest.fixture
def unified(workspace: Workspace, run_sumi: RunSumi) -> Workspace:
    done = run_sumi("run", "--config", "crawl.yaml", "--unified", "-q")
    assert done.returncode == 0, done.stderr
    return workspace


def test_status_and_explain_take_a_workspace(unified: Workspace, run_sumi: RunSumi) -> None:
    status = msgspec.json.decode(run_sumi("status", "workspace", "--json").stdout)
    assert (status["job"], status["state"], status["folder"]) == ("unified", "complete", "workspace")
    assert status["outcomes"]["captured"] == len(unified.truth)
    assert run_sumi("status", "workspace").stdout.startswith("unified http://github.com")

    page = unified.origin + unified.world.repository(0).path
    # Typed as a browser shows it: the crawl knows it without the query and the slash.
    explained = msgspec.json.decode(
        run_sumi("explain", f"{page}/?tab=readme", "--in", "workspace", "--json").stdout
    )
    assert (explained["url"], explained["outcome"]) == (page, "captured")
    unheard = run_sumi("explain", f"{unified.origin}/nobody/nothing", "--in", "workspace")
    assert unheard.returncode == 1
    assert "validate-policy" in unheard.stdout


def test_both_sides_of_a_workspace_are_known(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("run", "--config", "crawl.yaml", "-q")
    lines = run_sumi("status", "workspace", "--json").stdout.splitlines()
    assert [msgspec.json.decode(line)["job"] for line in lines] == ["crawler", "scraper"]
    checked = run_sumi("state", "check", "workspace", "--deep")
    assert checked.returncode == 0, checked.stdout
    which = run_sumi("state", "migrate", "workspace", "copy")
    assert which.returncode == 2
    assert "workspace/state/frontier, workspace/state/scraper" in which.stderr


def test_a_damaged_body_is_found_and_the_next_run_fetches_it(unified: Workspace, run_sumi: RunSumi) -> None:
    told = {line["url"]: line for line in unified.metadata()}
    damaged, lost = sorted(told)[:2]
    (unified.folder / told[damaged]["stored_path"]).write_bytes(b"")
    (unified.folder / told[lost]["stored_path"]).unlink()

    quick = run_sumi("state", "check", "workspace")
    assert quick.returncode == 1
    assert lost in quick.stdout
    deep = run_sumi("state", "check", "workspace", "--deep", "--json")
    assert {msgspec.json.decode(line)["requeue"] for line in deep.stdout.splitlines()} == {damaged, lost}

    repaired = run_sumi("state", "check", "workspace", "--deep", "--repair")
    assert f"queued again: {damaged}" in repaired.stderr
    assert run_sumi("run", "--config", "crawl.yaml", "--unified", "-q").returncode == 0
    assert run_sumi("state", "check", "workspace", "--deep").returncode == 0
    assert unified.page_requests()[damaged] == unified.page_requests()[lost] == 2


def test_a_migrated_state_continues_in_another_backend(unified: Workspace, run_sumi: RunSumi) -> None:
    moved = run_sumi("state", "migrate", "workspace", "workspace/state/frontier.lmdb", "--to", "lmdb")
    assert moved.returncode == 0, moved.stderr
    config = unified.config.read_text() + "\nfrontier: {backend: lmdb}\n"
    unified.config.write_text(config)
    done = run_sumi("run", "--config", "crawl.yaml", "--unified", "-q")
    assert done.returncode == 0, done.stderr
    assert set(unified.page_requests().values()) == {1}
    assert unified.faults(unified.metadata()) == []


def test_a_workspace_that_a_run_made_can_be_reset(unified: Workspace, run_sumi: RunSumi) -> None:
    done = run_sumi("workspace", "reset", "--yes")
    assert done.returncode == 0, done.stderr
    left = {path.name for path in unified.folder.rglob("*") if path.is_file()}
    assert left == {".sumi-workspace", "seeds.txt"}


def test_folders_with_other_files_never_become_the_jobs(workspace: Workspace, run_sumi: RunSumi) -> None:
    (workspace.folder / "logs").mkdir()
    (workspace.folder / "logs" / "mine.txt").write_text("not yours")
    assert run_sumi("run", "--config", "crawl.yaml", "--unified", "-q").returncode == 0
    refused = run_sumi("workspace", "reset", "--yes")
    assert refused.returncode == 2
    assert (workspace.folder / "logs" / "mine.txt").read_text() == "not yours"
    assert workspace.faults(workspace.metadata()) == []

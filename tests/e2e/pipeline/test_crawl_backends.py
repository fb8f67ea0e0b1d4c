"""The backend of a crawl's state can be changed, but never by silently starting a new state."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import FinishedSumi, RunSumi
from tests.e2e.pipeline.workspaces import Workspace, make_workspace
from tests.site import MakeSite

CONFIG = ("--config", "crawl.yaml", "-q")


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, make_site(pages=1, github=1), 1)


def change(workspace: Workspace, **sections: Any) -> None:
    settings = yaml.safe_load(workspace.config.read_text())
    workspace.config.write_text(yaml.safe_dump(settings | sections))


def advised(refused: FinishedSumi) -> list[str]:
    """The command between backticks, without the program."""
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.count("\n") == 1
    return shlex.split(refused.stderr.split("`")[1])[1:]


@pytest.mark.parametrize(("before", "after"), [(None, "lmdb"), ("files", "sqlite"), ("lmdb", None)])
def test_another_backend_is_refused_until_the_state_is_migrated(
    workspace: Workspace, run_sumi: RunSumi, before: str | None, after: str | None
) -> None:
    change(workspace, frontier={"backend": before} if before else {})
    run_sumi("crawl", "run", *CONFIG)
    run_sumi("scrape", "run", *CONFIG, "--run-id", "one")
    asked, told = len(workspace.site.requests()), len(workspace.discoveries())

    change(workspace, frontier={"backend": after} if after else {})
    refused = run_sumi("crawl", "run", *CONFIG)
    command = advised(refused)
    assert "/state/frontier" in refused.stderr
    assert run_sumi("crawl", "status", "--config", "crawl.yaml").stderr == refused.stderr
    assert run_sumi(*command).returncode == 0
    assert run_sumi("crawl", "run", *CONFIG).returncode == 0
    assert run_sumi("scrape", "run", *CONFIG, "--run-id", "two").returncode == 0
    assert (len(workspace.site.requests()), len(workspace.discoveries())) == (asked, told)
    assert workspace.rows("two") == []


def test_the_scraper_finds_its_state_whatever_the_backend_is_now(
    workspace: Workspace, run_sumi: RunSumi
) -> None:
    run_sumi("crawl", "run", *CONFIG)
    run_sumi("scrape", "run", *CONFIG, "--run-id", "one")
    state = workspace.folder / "state"
    run_sumi("state", "migrate", str(state / "frontier"), str(state / "frontier.lmdb"), "--to", "lmdb")
    change(workspace, frontier={"backend": "lmdb"})

    status = run_sumi("scrape", "status", "--config", "crawl.yaml")
    assert status.returncode == 0, status.stderr
    assert run_sumi("scrape", "resume", *CONFIG).returncode == 0
    assert run_sumi("scrape", "run", *CONFIG, "--run-id", "two").returncode == 0
    assert workspace.rows("two") == []
    replayed = run_sumi("scrape", "replay", "--config", "crawl.yaml", "--run-id", "again")
    assert replayed.returncode == 0, replayed.stderr
    again, one = ({row["url"]: row for row in workspace.rows(run_id)} for run_id in ("again", "one"))
    assert again == one
    assert not (state / "scraper.lmdb").exists()


@pytest.mark.parametrize("command", ["scrape run", "scrape replay", "run --unified"])
def test_another_index_backend_is_refused_until_the_index_is_migrated(
    workspace: Workspace, run_sumi: RunSumi, command: str
) -> None:
    config = ("--config", "crawl.yaml", "--run-id", "again")
    first = ["run --unified"] if command == "run --unified" else ["crawl run", "scrape run"]
    for words in first:
        assert run_sumi(*words.split(), *CONFIG).returncode == 0
    indexed = sorted(record["url"] for record in workspace.index())

    change(workspace, index={"backend": "lmdb"})
    refused = run_sumi(*command.split(), *config, *([] if "replay" in command else ["-q"]))
    assert "page_index.jsonl" in refused.stderr
    migrated = run_sumi(*advised(refused))
    assert migrated.returncode == 0, migrated.stderr
    assert migrated.stdout.startswith(f"{len(indexed)} pages copied")
    assert run_sumi("scrape", "replay", *config).returncode == 0
    assert sorted(row["url"] for row in workspace.rows("again")) == indexed


def test_an_index_is_migrated_back_to_files_and_to_nothing_else(
    workspace: Workspace, run_sumi: RunSumi, tmp_path: Path
) -> None:
    change(workspace, index={"backend": "lmdb"})
    run_sumi("run", "--unified", *CONFIG)
    index = str(workspace.folder / "state" / "page_index.lmdb")
    wrong = run_sumi("state", "migrate", index, "copy", "--to", "sqlite")
    assert (wrong.returncode, (tmp_path / "copy").exists()) == (2, False)
    assert run_sumi("state", "migrate", index, "workspace/index/page_index.jsonl").returncode == 0
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()


def test_another_backend_at_the_same_path_is_refused_naming_the_setting(
    workspace: Workspace, run_sumi: RunSumi
) -> None:
    change(workspace, frontier={"backend": "files", "db_path": "state/mine"})
    run_sumi("crawl", "run", *CONFIG)
    change(workspace, frontier={"backend": "lmdb", "db_path": "state/mine"})
    refused = run_sumi("crawl", "run", *CONFIG)
    assert advised(refused)[-1] == "lmdb"
    assert "remove frontier.backend" in refused.stderr

"""`sumi workspace` creates what a crawl needs, and removes only what crawls wrote."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from sumi.state.lock import FolderLock
from tests.commands import RunSumi, sumi_command, sumi_environment
from tests.e2e.pipeline.workspaces import make_workspace
from tests.site import MakeSite

FOLDERS = {"index", "logs", "metadata", "spool/discoveries", "state", "store/html"}
CONFIG = """\
workspace: data/ws
profile: generic
user_agent: "bot/1.0 (+https://example.org/bot)"
spool: {dir: queue}
store: {root: pages/html}
"""


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def fill(workspace: Path) -> None:
    (workspace / "spool/discoveries/discoveries-1700000000.jsonl").write_text("{}\n")
    (workspace / "store/html/aa/bb").mkdir(parents=True)
    (workspace / f"store/html/aa/bb/aabb{'0' * 60}.html").write_text("x")
    (workspace / "logs/pages-1.csv").write_text("x")


def test_a_workspace_is_made_with_folders_and_first_seeds(run_sumi: RunSumi, tmp_path: Path) -> None:
    done = run_sumi("workspace", "configure")
    home = tmp_path / "workspace"
    assert (done.returncode, done.stderr) == (0, "")
    assert tree(home) >= FOLDERS | {"seeds.txt"}
    assert "https://github.com/topics\n" in (home / "seeds.txt").read_text()
    assert "seeds.txt" in done.stdout


def test_configuring_again_adds_what_is_missing_and_changes_nothing_else(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    run_sumi("workspace", "configure", "ws")
    seeds = tmp_path / "ws/seeds.txt"
    seeds.write_text("https://github.com/mine/own\n")
    (tmp_path / "ws/logs").rmdir()
    done = run_sumi("workspace", "configure", "ws")
    assert (done.returncode, done.stdout.split()[-1]) == (0, "logs")
    assert seeds.read_text() == "https://github.com/mine/own\n"
    assert "nothing was missing" in run_sumi("workspace", "configure", "ws").stdout


def test_a_configuration_decides_the_layout(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "crawl.yaml").write_text(CONFIG)
    assert run_sumi("workspace", "configure", "--config", "crawl.yaml").returncode == 0
    home = tmp_path / "data/ws"
    assert tree(home) >= {"queue", "pages/html", "logs", "state"}
    assert not (home / "spool").exists()
    assert "github" not in (home / "seeds.txt").read_text()
    left = home / "queue/discoveries-1700000000.jsonl"
    left.write_text("x")
    assert run_sumi("workspace", "reset", "--config", "crawl.yaml", "--yes").returncode == 0
    assert not left.exists()


def test_a_reset_removes_files_of_crawls_and_keeps_the_rest(run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("workspace", "configure")
    home = tmp_path / "workspace"
    before = tree(home)
    fill(home)
    (home / "my-notes.txt").write_text("mine")
    done = run_sumi("workspace", "reset", "--yes")
    assert (done.returncode, done.stdout) == (0, "workspace: 3 files removed\n")
    assert tree(home) == before | {"my-notes.txt"}
    again = run_sumi("workspace", "reset", "--yes")
    assert (again.returncode, again.stdout) == (0, "workspace: 0 files removed\n")


@pytest.mark.parametrize("commands", [["run --unified"], ["crawl run", "scrape run"]])
@pytest.mark.parametrize("backend", ["files", "sqlite", "lmdb"])
def test_a_reset_removes_all_files_of_a_crawl_but_none_of_the_user(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, backend: str, commands: list[str]
) -> None:
    workspace = make_workspace(
        tmp_path,
        make_site(pages=1, github=1),
        1,
        seeds_file="lists/seeds.txt",
        frontier={"backend": backend},
        index={"backend": "lmdb" if backend == "lmdb" else "files"},
        store={"compress": True, "dictionary": "auto"},
    )
    home = workspace.folder
    seeds = (home / "seeds.txt").read_text()
    (home / "seeds.txt").unlink()
    assert run_sumi("workspace", "configure", "--config", "crawl.yaml").returncode == 0
    (home / "lists/seeds.txt").write_text(seeds)
    folders = tree(home)
    mine = {"lists/other.txt", "logs/notes.txt", "spool/discoveries/why.md", "store/html/aa/bb/mine.txt"}
    mine |= {f"state/{'frontier' if backend == 'files' else f'frontier.{backend}'}/mine.txt", "mine.csv"}
    for command in commands:
        assert run_sumi(*command.split(), "--config", "crawl.yaml", "-q").returncode == 0
    for name in mine:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("mine")
    done = run_sumi("workspace", "reset", "--yes")
    assert done.returncode == 0, done.stderr
    above = {str(parent) for name in mine for parent in Path(name).parents} - {"."}
    assert tree(home) == folders | mine | above
    assert (home / "lists/seeds.txt").read_text() == seeds


def test_no_run_id_matches_a_file_of_the_user(run_sumi: RunSumi, tmp_path: Path) -> None:
    text = CONFIG + "seeds_file: lists/a.csv\npages_csv: {path: 'lists/{run_id}.csv'}\n"
    (tmp_path / "crawl.yaml").write_text(text + "metadata: {path: 'lists/{run_id}'}\n")
    run_sumi("workspace", "configure", "--config", "crawl.yaml")
    lists = tmp_path / "data/ws/lists"
    for name in ("one.csv", "notes.txt"):
        (lists / name).write_text("x")
    assert run_sumi("workspace", "reset", "--config", "crawl.yaml", "--yes").returncode == 0
    assert {path.name for path in lists.iterdir()} == {"a.csv", "notes.txt"}


def test_a_workspace_of_an_earlier_version_is_reset_by_default(run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("workspace", "configure")
    home = tmp_path / "workspace"
    (home / ".sumi-workspace").write_text('{"sumi-workspace":1,"folders":["lists","logs","spool","store"]}')
    fill(home)
    (home / "lists").mkdir()
    (home / "lists/seeds.txt").write_text("mine")
    done = run_sumi("workspace", "reset", "--yes")
    assert (done.returncode, done.stdout) == (0, "workspace: 3 files removed\n")
    assert (home / "lists/seeds.txt").exists()


def test_without_a_terminal_nothing_is_removed(run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("workspace", "configure")
    fill(tmp_path / "workspace")
    done = run_sumi("workspace", "reset")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert (tmp_path / "workspace/logs/pages-1.csv").exists()


@pytest.mark.parametrize(
    ("answer", "removed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False)]
)
def test_a_reset_asks_and_only_yes_is_yes(
    run_sumi: RunSumi, tmp_path: Path, answer: str, removed: bool
) -> None:
    run_sumi("workspace", "configure")
    fill(tmp_path / "workspace")
    terminal, end = pty.openpty()
    try:
        os.write(terminal, answer.encode())
        done = subprocess.run(
            sumi_command(("workspace", "reset")),
            cwd=tmp_path,
            env=sumi_environment(None),
            stdin=end,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(end)
    assert "Remove 3 files in logs, spool, store of workspace? [y/N]" in done.stderr
    assert done.returncode == (0 if removed else 1)
    assert (tmp_path / "workspace/logs/pages-1.csv").exists() != removed


@pytest.mark.parametrize("marker", [None, "{}", '{"sumi-workspace":9}', "not json"])
@pytest.mark.parametrize("action", ["configure", "reset"])
def test_a_folder_that_is_not_a_workspace_is_refused(
    run_sumi: RunSumi, tmp_path: Path, action: str, marker: str | None
) -> None:
    foreign = tmp_path / "home"
    (foreign / "logs").mkdir(parents=True)
    (foreign / "logs/diary.txt").write_text("dear diary")
    if marker is not None:
        (foreign / ".sumi-workspace").write_text(marker)
    before = tree(foreign)
    done = run_sumi("workspace", action, "home", *(["--yes"] if action == "reset" else []))
    assert done.returncode == 2
    assert "home is not a workspace" in done.stderr
    assert tree(foreign) == before


@pytest.mark.parametrize("folder", ["..", "../home", "/", "", "logs/../.."])
def test_a_marker_that_points_elsewhere_is_invalid(run_sumi: RunSumi, tmp_path: Path, folder: str) -> None:
    run_sumi("workspace", "configure")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/diary.txt").write_text("dear diary")
    (tmp_path / "workspace/.sumi-workspace").write_text(f'{{"sumi-workspace":1,"folders":["{folder}"]}}')
    assert run_sumi("workspace", "reset", "--yes").returncode == 2
    assert (tmp_path / "home/diary.txt").exists()


@pytest.mark.parametrize("pattern", ["*", "logs/*", "../home/*.txt", "/home/x", "?*"])
def test_a_marker_that_matches_everything_is_invalid(run_sumi: RunSumi, tmp_path: Path, pattern: str) -> None:
    run_sumi("workspace", "configure")
    (tmp_path / "workspace/logs/notes.txt").write_text("mine")
    (tmp_path / "workspace/.sumi-workspace").write_text(f'{{"sumi-workspace":1,"written":["{pattern}"]}}')
    done = run_sumi("workspace", "reset", "--yes")
    assert done.returncode == 2
    assert "is not a workspace" in done.stderr
    assert (tmp_path / "workspace/logs/notes.txt").exists()


def test_links_are_never_followed(run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("workspace", "configure")
    home = tmp_path / "home"
    (home / "bb").mkdir(parents=True)
    (home / "diary.txt").write_text("dear diary")
    body = home / "bb" / f"aabb{'0' * 60}.html"
    body.write_text("not in the archive")
    (tmp_path / "workspace/store/html/aa").symlink_to(home)
    written = tmp_path / "workspace/logs/edges.csv"
    written.symlink_to(home / "diary.txt")
    assert run_sumi("workspace", "reset", "--yes").returncode == 0
    assert body.exists()
    assert not written.is_symlink()
    (tmp_path / "workspace/logs").rmdir()
    (tmp_path / "workspace/logs").symlink_to(home)
    done = run_sumi("workspace", "reset", "--yes")
    assert done.returncode == 4
    assert "symbolic link" in done.stderr
    assert run_sumi("workspace", "configure").returncode == 4
    assert (home / "diary.txt").read_text() == "dear diary"


def test_a_workspace_in_use_is_left_alone(run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("workspace", "configure")
    state = tmp_path / "workspace/state/frontier"
    state.mkdir()
    lock = FolderLock(state)
    try:
        done = run_sumi("workspace", "reset", "--yes")
    finally:
        lock.release()
    assert done.returncode == 7
    assert f"in use by process {os.getpid()}" in done.stderr
    assert state.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["configure", "a", "--config", "b"], "either DIR or --config"),
        (["configure", "--yes"], "--yes belongs to reset"),
        (["clean"], "invalid choice: 'clean'"),
        ([], "required"),
        (["configure", "--config", "none.yaml"], "cannot be read"),
    ],
)
def test_bad_usage_is_one_sentence(run_sumi: RunSumi, words: list[str], said: str) -> None:
    done = run_sumi("workspace", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1

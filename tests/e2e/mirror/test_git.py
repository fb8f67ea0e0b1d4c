"""``sumi mirror --git``: one commit for each run that changed something, in a repository of Sumi only."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--retries", "0", "-q", "--git")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}" for number in range(4)]
        site.write("index.html", "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in names))
        for name in names:
            site.write(f"{name}.html", f"<p>All there is to know of {name}, and more of it.</p>")
        yield site


def git(home: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(home), *words], capture_output=True, text=True, check=True)
    return done.stdout


def test_each_run_that_changed_something_is_a_commit_of_its_changes(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    home = tmp_path / "output" / site.home
    assert run_sumi("mirror", site.url, *FAST).returncode == 0
    assert git(home, "log", "--format=%s") == f"{site.home}: 5 pages\n"
    assert git(home, "status", "--porcelain") == ""
    assert ".sumi" not in git(home, "ls-files")

    assert run_sumi("mirror", site.url, *FAST, "--update").returncode == 0
    assert git(home, "rev-list", "--count", "HEAD").strip() == "1"  # nothing changed

    site.write("p1.html", "<p>Now there is something else to know of it.</p>")
    site.write("new.html", "<p>A page that was not there before.</p>")
    links = ["p0", "p1", "p2", "new"]
    site.write("index.html", "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in links))
    site.remove("p3.html")
    run_sumi("mirror", site.url, *FAST, "--update")
    subject, _, body = git(home, "log", "-1", "--format=%B").partition("\n")
    assert subject == f"{site.home}: 1 added, 2 changed, 1 gone"
    assert [line.split()[0] for line in body.split("\n") if line] == ["changed", "added", "changed", "gone"]
    assert "something else to know" in git(home, "show", "HEAD:p1/index.md")


def test_a_repository_of_somebody_else_is_left_alone(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    home = tmp_path / "output" / site.home
    assert run_sumi("mirror", site.url, *FAST[:-1]).returncode == 0
    git(home, "init", "--quiet")
    site.answers.clear()
    done = run_sumi("mirror", site.url, *FAST, "--update")
    assert done.returncode == 2
    assert "was not made by sumi mirror --git" in done.stderr
    assert site.answers == []
    assert git(home, "status", "--porcelain").startswith("??")


def test_a_repository_around_it_and_its_variables_are_not_used(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert run_sumi("mirror", site.url, *FAST).returncode == 0
    monkeypatch.delenv("GIT_DIR")
    assert git(tmp_path / "output" / site.home, "log", "--format=%s") == f"{site.home}: 5 pages\n"
    assert git(tmp_path, "for-each-ref") == ""


def test_starting_over_keeps_the_repository(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    home = tmp_path / "output" / site.home
    assert run_sumi("mirror", site.url, *FAST).returncode == 0
    site.write("p1.html", "<p>Now there is something else to know of it.</p>")
    assert run_sumi("mirror", site.url, *FAST, "--fresh").returncode == 0
    assert git(home, "rev-list", "--count", "HEAD").strip() == "2"
    assert run_sumi("state", "check", "output").returncode == 0


def test_a_hook_is_not_run_and_a_lock_is_told(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    home = tmp_path / "output" / site.home
    assert run_sumi("mirror", site.url, *FAST).returncode == 0
    hook = home / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    site.write("p1.html", "<p>Now there is something else to know of it.</p>")
    assert run_sumi("mirror", site.url, *FAST, "--update").returncode == 0
    assert not (tmp_path / "ran").exists()
    (home / ".git" / "index.lock").touch()
    site.write("p2.html", "<p>And of this one as well, there is more.</p>")
    done = run_sumi("mirror", site.url, *FAST, "--update")
    assert done.returncode == 4
    assert "the mirror is there, but git add failed" in done.stderr

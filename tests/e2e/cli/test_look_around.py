"""``sumi`` alone says which jobs are here, how each stands, and with which command it goes on."""

import shlex
from pathlib import Path

from sumi.cli.main import COMMANDS, GROUPS
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--allow-private")
ENVIRONMENT = ("--min-free", "0")  # of every command in tests


def with_pages(site: FolderSite) -> None:
    site.write("index.html", '<p>The first page of a small site.</p><a href="two.html">Two</a>')
    site.write("two.html", "<p>The second page, with other words.</p>")


def test_without_jobs_there_are_three_lines_to_begin_with(run_sumi: RunSumi, tmp_path: Path) -> None:
    done = run_sumi()
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("  sumi")]
    assert lines == [["sumi", "demo"], ["sumi", "plan"], ["sumi", "mirror"]]
    assert list(tmp_path.iterdir()) == []


def test_each_job_is_shown_with_the_command_that_goes_on(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        with_pages(site)
        run_sumi("mirror", site.url, *FAST, "-o", "my docs", "--max-pages", "7", "--exclude", "/x*")
        run_sumi("capture", site.url, *FAST, "--store", "caught")
    with running_web({"good.test/": Page(("/a",)), "good.test/a": Page(("/",))}, tmp_path, tls=False) as web:
        run_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})))
    done = run_sumi()
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[0]) == (0, "3 jobs below this folder")
    commands = {line.split()[1]: shlex.split(line) for line in lines if line.startswith("  sumi")}
    mirrored = ["sumi", "mirror", site.url, "-o", "my docs", "--max-pages", "7", "--exclude", "/x*"]
    assert commands["mirror"] == [*mirrored, *FAST, *ENVIRONMENT, "--update"]
    assert commands["capture"][:3] == ["sumi", "capture", "export"]
    assert commands["capture"][-2:] == ["--captures", "caught"]
    assert commands["map"] == ["sumi", "map", "export", "--format", "html", "web.toml"]
    assert f"mirror {site.url}: complete, 2 pages" in lines


def test_a_stopped_mirror_is_continued_by_the_command_that_is_shown(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        with_pages(site)
        (tmp_path / "output" / site.home).mkdir(parents=True)
        stopped = run_sumi("mirror", site.url, *FAST, "--max-time", "0.000001")
        assert stopped.returncode == 3, stopped.stderr
        said = run_sumi().stdout.splitlines()
        assert ": interrupted, " in said[2]
        (shown,) = [line for line in said if line.startswith("  sumi")]
        assert run_sumi(*shlex.split(shown)[1:]).returncode == 0


def test_what_is_damaged_or_strange_does_not_stop_the_look(run_sumi: RunSumi, tmp_path: Path) -> None:
    state = tmp_path / "output" / "docs.example.org" / ".sumi"
    state.mkdir(parents=True)
    (state / "format.json").write_text("{ torn")
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "captures.sqlite").write_bytes(b"no database")
    (tmp_path / "loop").symlink_to(tmp_path)
    done = run_sumi()
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 jobs below this folder" in done.stdout


def test_the_commands_are_grouped_by_what_they_are_for(run_sumi: RunSumi) -> None:
    done = run_sumi("--help")
    assert done.returncode == 0
    places = [done.stdout.index(f"\n{title}\n") for title in GROUPS.values()]
    assert places == sorted(places)
    assert {command.group for command in COMMANDS} == set(GROUPS)
    assert all(f"\n  {command.name} " in done.stdout for command in COMMANDS)

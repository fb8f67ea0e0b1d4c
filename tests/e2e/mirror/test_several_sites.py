"""Several sites in one command: each has its home and summary; an overview, and the worst exit code."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0")


def fill(site: FolderSite, pages: int) -> None:
    links = "".join(f'<a href="p{number}.html">{number}</a> ' for number in range(pages))
    site.write("index.html", f"<p>What there is: {links}</p>")
    for number in range(pages):
        site.write(f"p{number}.html", f"<p>All that is known about number {number} of them.</p>")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[FolderSite, FolderSite]]:
    with folder_site(tmp_path / "one") as one, folder_site(tmp_path / "two") as two:
        fill(one, 3)
        fill(two, 5)
        yield one, two


def test_each_site_has_its_home_and_the_folder_an_overview(
    run_sumi: RunSumi, two: tuple[FolderSite, FolderSite], tmp_path: Path
) -> None:
    done = run_sumi("mirror", two[0].url, two[1].url, *FAST)
    assert done.returncode == 0
    *_, first, second, total = [event for event in done.events if event["event"] == "summary"]
    assert [each["outcomes"]["captured"] for each in (first, second, total)] == [4, 6, 10]
    assert total["discovered"] == first["discovered"] + second["discovered"]
    assert total["notes"] == [f"{two[0].url}: complete, 4 pages", f"{two[1].url}: complete, 6 pages"]
    overview = json.loads((tmp_path / "output" / "_manifest.json").read_text())
    assert overview["total_pages"] == 10
    assert {(site["folder"], site["successful"]) for site in overview["sites"]} == {
        (two[0].home, 4),
        (two[1].home, 6),
    }
    index = (tmp_path / "output" / "_index.md").read_text()
    for site in two:
        assert f"({site.home}/_index.md)" in index
        assert (tmp_path / "output" / site.home / "_index.md").is_file()
        assert run_sumi("state", "check", f"output/{site.home}", "--deep").returncode == 0


def test_one_site_has_no_overview_until_there_are_two(
    run_sumi: RunSumi, two: tuple[FolderSite, FolderSite], tmp_path: Path
) -> None:
    run_sumi("mirror", two[0].url, *FAST)
    assert not (tmp_path / "output" / "_index.md").exists()
    run_sumi("mirror", two[1].url, *FAST)
    assert (tmp_path / "output" / "_index.md").read_text().startswith("# 2 sites")


def test_an_unreachable_site_affects_only_itself_and_the_exit_code(
    run_sumi: RunSumi, two: tuple[FolderSite, FolderSite], tmp_path: Path
) -> None:
    two[0].stop()
    done = run_sumi("mirror", two[0].url, two[1].url, *FAST)
    assert done.returncode == 5
    assert done.events[-1]["outcomes"]["captured"] == 6
    assert "cannot reach" in done.events[-1]["notes"][0]
    assert not (tmp_path / "output" / two[0].home).exists()


def test_a_stop_ends_all_sites_and_the_same_command_resumes(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, two: tuple[FolderSite, FolderSite]
) -> None:
    running = spawn_sumi("mirror", two[0].url, two[1].url, "--json", "--rate-limit", "5")
    while not any(event["event"] == "page" for event in running.events):
        assert running.process.poll() is None
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) == 3
    assert running.events[-1]["notes"][1] == f"{two[1].url}: not started"
    done = run_sumi("mirror", two[0].url, two[1].url, *FAST)
    assert done.returncode == 0
    assert done.events[-1]["outcomes"]["captured"] == 10
    assert len([answer for answer in two[0].answers if answer.path == "/"]) == 1


def test_parts_of_one_site_are_refused_with_advice(
    run_sumi: RunSumi, two: tuple[FolderSite, FolderSite]
) -> None:
    done = run_sumi("mirror", f"{two[0].url}a/", f"{two[0].url}b/", *FAST)
    assert done.returncode == 2
    assert "share its folder" in done.stderr
    assert "--include" in done.stderr
    wide = run_sumi("mirror", two[0].url, "http://docs.example.org", "--hosts", "*.example.org", *FAST)
    assert "share its folder" in wide.stderr
    twins = run_sumi("mirror", "http://example.org", "http://www.example.org", *FAST)
    assert "share its folder" in twins.stderr
    assert not two[0].answers


def test_sites_may_be_given_in_a_file(
    run_sumi: RunSumi, two: tuple[FolderSite, FolderSite], tmp_path: Path
) -> None:
    config = tmp_path / "sites.toml"
    config.write_text(f'[mirror]\nurls = ["{two[0].url}", "{two[1].url}"]\nrate-limit = 0\n')
    done = run_sumi("mirror", "--config", str(config), "--json")
    assert done.events[-1]["outcomes"]["captured"] == 10
    config.write_text(f'[mirror]\nurls = ["{two[0].url}"]\nurl = "{two[1].url}"\n')
    both = run_sumi("mirror", "--config", str(config))
    assert both.returncode == 2
    assert "both url and urls" in both.stderr

"""--on-error decides what happens to a failed page: skip it, retry it at the end, or abort the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--concurrency", "1")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        links = "".join(f'<p><a href="p{number}.html">{number}</a></p>' for number in range(6))
        site.write("index.html", f'<p><a href="missing.html">x</a></p>{links}')
        for number in range(6):
            site.write(f"p{number}.html", f"<p>What page {number} has to say to its reader.</p>")
        yield site


def test_skip_continues_and_leaves_a_placeholder(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    done = run_sumi("mirror", site.url, *FAST)
    assert done.returncode == 1
    assert done.events[-1]["outcomes"]["captured"] == 7
    home = tmp_path / "output" / site.home
    assert "missing.html\tnot_found" in (home / "_failed.log").read_text()
    assert len(list((home / "_failed").iterdir())) == 1


def test_abort_ends_at_once_and_the_next_run_resumes(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    done = run_sumi("mirror", site.url, *FAST, "--on-error", "abort")
    assert done.returncode == 4
    summary = done.events[-1]
    assert summary["status"] == "aborted"
    assert summary["outcomes"]["pending"] > 0
    assert any("missing.html failed" in note for note in summary["notes"])
    assert (tmp_path / "output" / site.home / "_checkpoint.json").is_file()
    again = run_sumi("mirror", site.url, *FAST)
    assert again.events[-1]["outcomes"]["captured"] == 7


def test_retry_repeats_temporary_failures_after_everything_else(run_sumi: RunSumi, site: FolderSite) -> None:
    site.moved["/p2.html"] = ""  # a redirect to nowhere, which may pass
    run_sumi("mirror", site.url, *FAST, "--on-error", "retry")
    asked = [answer.path for answer in site.answers if answer.path.startswith("/p")]
    assert asked.count("/p2.html") == 2
    assert asked[-1] == "/p2.html"

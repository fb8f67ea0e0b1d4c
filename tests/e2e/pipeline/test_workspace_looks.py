"""The status of a workspace is true for failed pages and for a crawler that stores no files."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

CONFIG = ("--config", "crawl.yaml")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<a href="a.html">a</a> <a href="gone.html">gone</a>')
        site.write("a.html", "<p>A.</p>")
        (tmp_path / "workspace").mkdir()
        (tmp_path / "workspace/seeds.txt").write_text(f"{site.url}\n")
        (tmp_path / "crawl.yaml").write_text(
            'user_agent: "bot/1.0 (+https://example.org/bot)"\n'
            "profile: generic\n"
            f'scope: {{allowed_hosts: ["{urlsplit(site.url).netloc}"]}}\n'
            "limits: {req_per_sec: 1000, per_host_concurrency: 4}\n"
            "spool: {hand_over: false}\n"
        )
        yield site


def test_a_crawl_with_failed_pages_is_partial_everywhere(site: FolderSite, run_sumi: RunSumi) -> None:
    assert run_sumi("crawl", "run", *CONFIG).returncode == 1
    looked = msgspec.json.decode(run_sumi("crawl", "status", *CONFIG, "--json").stdout)
    assert looked["state"] == "partial"
    assert "partial" in run_sumi("status", "workspace").stdout


def test_a_crawler_without_hand_over_is_valid_without_files(site: FolderSite, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", *CONFIG)
    checked = run_sumi("state", "check", "workspace")
    assert checked.returncode == 0, checked.stdout

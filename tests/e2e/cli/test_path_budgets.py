"""``--max-pages-under`` limits a part of a site in every job, and the summary says so."""

from pathlib import Path

import pytest

from sumi.errors import UsageError
from sumi.settings.kinds import PATH_BUDGET, split_path_budget
from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--processes", "0", "--json")


def write(site: FolderSite) -> None:
    names = [f"blog/{number}.html" for number in range(9)] + [f"docs/{number}.html" for number in range(3)]
    links = "".join(f'<a href="/{name}">{name}</a> ' for name in names)
    site.write("index.html", f"<h1>Start</h1><p>All pages of the site.</p>{links}")
    for name in names:
        site.write(name, f"<h1>{name}</h1><p>All that is said on the page {name}, and nothing else.</p>")


def asked(site: FolderSite) -> list[str]:
    return sorted({answer.path for answer in site.answers if answer.path.startswith(("/blog/", "/docs/"))})


@pytest.mark.parametrize("command", ["mirror", "capture"])
def test_a_part_of_a_site_gets_its_pages_and_no_more(run_sumi: RunSumi, tmp_path: Path, command: str) -> None:
    with folder_site(tmp_path / "site") as site:
        write(site)
        done = run_sumi(command, site.url, *FAST, "--max-pages-under", "/blog/**=4")
        paths = asked(site)
    assert done.returncode == 0, done.stderr
    assert len([path for path in paths if path.startswith("/blog/")]) == 4
    assert len([path for path in paths if path.startswith("/docs/")]) == 3
    assert done.events[-1]["outcomes"]["over_quota"] == 5
    assert done.events[-1]["status"] == "limited"


def test_the_same_in_a_crawl_configuration(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write(site)
        host = site.url.removeprefix("http://").rstrip("/")
        (tmp_path / "ws").mkdir()
        (tmp_path / "ws" / "seeds.txt").write_text(site.url)
        (tmp_path / "crawl.yaml").write_text(
            f"""
profile: generic
workspace: ws
seeds_file: ws/seeds.txt
user_agent: "test/1.0 (+https://example.org)"
scope: {{allowed_hosts: ["{host}"]}}
limits: {{req_per_sec: 1000}}
caps: {{max_pages_under: ["/blog/**=2"]}}
"""
        )
        done = run_sumi("run", "--config", "crawl.yaml", "--unified", "--json", timeout=60)
        paths = asked(site)
    assert len([path for path in paths if path.startswith("/blog/")]) == 2, done.stderr
    assert len([path for path in paths if path.startswith("/docs/")]) == 3


@pytest.mark.parametrize("entry", ["/blog", "/blog=", "=5", "/blog=-1", "/blog=many", "re:(=5"])
def test_what_is_no_budget_is_refused(entry: str) -> None:
    with pytest.raises((ValueError, UsageError)):
        PATH_BUDGET.parse(entry)


def test_a_pattern_may_contain_an_equals_sign() -> None:
    assert split_path_budget("/a=b/**=5") == ("/a=b/**", 5)

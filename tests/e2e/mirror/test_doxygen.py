"""All pages of a Doxygen site, whose links are made by scripts, are found in every job that follows links."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.commands import RunSumi
from tests.e2e.capture.captures import shown
from tests.folder_site import FolderSite, folder_site
from tests.jobs.map.map_world import tables

FAST = ("--rate-limit", "0", "--processes", "0", "--allow-private", "--retries", "0")
SCRIPTS = ("menudata.js", "menu.js", "navtreedata.js", "navtree.js")
TEXT = "what it holds, who calls it, and which files it comes from"
PAGES = ("index.html", "annotated.html", "classA.html", "classB.html", "deep/fileC.html")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    """Files as Doxygen 1.9 writes them; the start page has no links."""
    with folder_site(tmp_path / "site") as running:
        for name in PAGES:
            way = "../" * name.count("/")
            scripts = "".join(f'<script src="{way}{script}"></script>' for script in SCRIPTS)
            main = f"<main><p>{name} is of the library: {TEXT}</p></main>"
            running.write(name, f"<html><head>{scripts}</head>{main}")
        (running.folder / "menudata.js").write_text(
            'var menudata={children:[\n{text:"A",url:"index.html"},\n{text:"B",url:"annotated.html"}]}\n'
        )
        (running.folder / "navtreedata.js").write_text(
            'var NAVTREE =\n[\n  [ "Demo", "index.html", [\n    [ "A", "classA.html", "classA" ]\n  ] ]\n];\n'
            'var NAVTREEINDEX =\n[\n"annotated.html"\n];\n'
        )
        (running.folder / "navtreeindex0.js").write_text(
            'var NAVTREEINDEX0 =\n{\n"classB.html":[0],\n"classB.html#x":[0,1],\n"deep/fileC.html":[1]\n};\n'
        )
        yield running


def asked(site: FolderSite) -> set[str]:
    return {answer.path.lstrip("/") for answer in site.answers if answer.status == 200}


def test_a_mirror_has_every_page(run_sumi: RunSumi, site: FolderSite) -> None:
    done = run_sumi("mirror", site.url, *FAST, "--json")
    summary = done.events[-1]
    assert (done.returncode, summary["status"]) == (0, "complete"), done.stderr
    assert (summary["outcomes"]["captured"], summary["outcomes"]["read"]) == (5, 3)
    assert summary["outcomes"]["duplicate"] == 1  # / and /index.html
    assert asked(site) >= {*PAGES, "menudata.js", "navtreedata.js", "navtreeindex0.js"}
    assert not asked(site) & {"menu.js", "navtree.js", "classA.js"}
    chain = json.loads(run_sumi("explain", f"{site.url}deep/fileC.html", "--json").stdout)["chain"]
    assert [step["url"].removeprefix(site.url) for step in chain] == [
        *("", "navtreedata.js", "navtreeindex0.js", "deep/fileC.html")
    ]


def test_robots_txt_applies_to_the_data_too(run_sumi: RunSumi, site: FolderSite) -> None:
    (site.folder / "robots.txt").write_text("User-agent: *\nDisallow: /navtree\n")
    done = run_sumi("mirror", site.url, *FAST, "--json")
    assert not any(path.startswith("navtree") for path in asked(site))
    assert done.events[-1]["outcomes"]["captured"] == 2
    assert done.events[-1]["outcomes"]["robots_denied"] == 1


def test_data_that_is_missing_is_a_failure(run_sumi: RunSumi, site: FolderSite) -> None:
    (site.folder / "navtreeindex0.js").unlink()
    done = run_sumi("mirror", site.url, *FAST, "--json")
    assert (done.returncode, done.events[-1]["status"]) == (1, "partial")


def test_a_capture_has_every_page(run_sumi: RunSumi, site: FolderSite) -> None:
    done = run_sumi("capture", site.url, *FAST)
    assert done.returncode == 0, done.stderr
    found = {page["url"].removeprefix(site.url.rstrip("/")).lstrip("/") for page in shown(run_sumi, "page")}
    assert found >= set(PAGES) - {"index.html"}


def test_a_crawl_by_policy_has_every_page(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "seeds.txt").write_text(f"{site.url}\n")
    crawl = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "profile": "generic",
        "scope": {"allowed_hosts": [site.url.split("/")[2]]},
        "limits": {"req_per_sec": 100, "max_retries": 0},
        "network": {"allow_private": True},
    }
    (tmp_path / "crawl.yaml").write_text(yaml.safe_dump(crawl))
    done = run_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    assert done.returncode == 0, done.stderr
    assert asked(site) >= set(PAGES)


MAP = """
[crawler]
max-depth = 0
minimum-time-on-page = 100
[user-agent]
crawler-name = "M"
contact-email = "me@example.org"
[http]
allow-http = true
[[quality]]
domain = "127.0.0.1"
seeds = ["{url}"]
"""
LINKS = """
SELECT source.url, target.url FROM links
JOIN pages AS source ON source.id = from_page_id JOIN pages AS target ON target.id = to_page_id
"""


def test_a_map_has_every_page_and_the_links_of_the_data(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "map.toml").write_text(MAP.format(url=site.url))
    first = run_sumi("map", "map.toml", "--json")
    assert first.returncode == 0, first.stderr
    assert asked(site) >= {*PAGES, "menudata.js", "navtreedata.js", "navtreeindex0.js"}
    assert first.events[-1]["outcomes"] == {"captured": 6, "read": 3}
    assert "127.0.0.1: explored, 6 pages" in first.events[-1]["notes"]
    links = [[url.removeprefix(site.url) for url in pair] for pair in tables(tmp_path / "map.db", LINKS)]
    for link in (
        ["", "navtreedata.js"],
        ["navtreedata.js", "classA.html"],
        ["navtreedata.js", "navtreeindex0.js"],
        ["navtreeindex0.js", "deep/fileC.html"],
    ):
        assert link in links
    # An update reads the data again.
    site.write("new.html", "<p>About this one</p>")
    (site.folder / "menudata.js").write_text('var menudata={children:[\n{text:"N",url:"new.html"}]}\n')
    again = run_sumi("map", "map.toml", "--update", "--json")
    assert again.returncode == 0, again.stderr
    assert "new.html" in asked(site)
    assert again.events[-1]["discovered"] == first.events[-1]["discovered"] + 1


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="doxygen is not installed")
@pytest.mark.parametrize("tree", ["YES", "NO"])
def test_every_file_of_a_real_one_is_a_page(run_sumi: RunSumi, tmp_path: Path, tree: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(12):
        text = (
            f"/** @file */\n/** C {number}. */\nclass C{number} {{ public: /** f */ void f{number}(); }};\n"
        )
        (source / f"c{number}.h").write_text(text)
    settings = f"INPUT={source}\nGENERATE_LATEX=NO\nQUIET=YES\nHAVE_DOT=NO\nGENERATE_TREEVIEW={tree}\n"
    (tmp_path / "Doxyfile").write_text(settings)
    subprocess.run(["doxygen", "Doxyfile"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    with folder_site(tmp_path / "site") as running:
        shutil.copytree(tmp_path / "html", running.folder, dirs_exist_ok=True)
        done = run_sumi("mirror", running.url, *FAST, "--json")
        pages = {path.name for path in running.folder.glob("*.html")}
        assert len(pages) > 30
        assert pages - asked(running) - {"index.html"} == set()  # which is /, too
        assert done.events[-1]["status"] == "complete"

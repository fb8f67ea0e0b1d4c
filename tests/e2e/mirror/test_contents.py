"""The table of contents lists every page once, sorted for readers, and stays readable at any size."""

import os
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--no-raw")


def targets_of(file: Path) -> list[Path]:
    found = []
    for token in MarkdownIt("commonmark").parse(file.read_text()):
        for child in token.children or ():
            target = child.attrGet("href") if child.type == "link_open" else None
            if isinstance(target, str) and "://" not in target:
                found.append(Path(os.path.normpath(file.parent / unquote(target))))
    return found


def write_sitemap(site: FolderSite, names: list[str]) -> None:
    xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
    urls = "".join(f"<url><loc>{site.url}{name}</loc></url>" for name in names)
    site.write("sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{xmlns}">{urls}</urlset>')


def test_titles_are_sorted_for_readers_without_the_sites_name(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        names = [f"guide/step-{number}" for number in (10, 9, 2, 1, 100)] + ["Api", "about", "guide/Zoo", "b"]
        for name in names:
            site.write(f"{name}/index.html", f"<p>All about {name}, at some length.</p>", f"{name} | Manual")
        site.write("index.html", "<p>Where it all begins, for everybody.</p>", "Start | Manual")
        write_sitemap(site, [f"{name}/" for name in names])
        run_sumi("mirror", site.url, *FAST)
        lines = (tmp_path / "output" / site.home / "_index.md").read_text().splitlines()
        labels = [line.strip("- ").partition("]")[0].strip("[") for line in lines if "- " in line]
        steps = [f"guide/step-{number}" for number in (1, 2, 9, 10, 100)]
        assert labels == ["Start", "about", "Api", "b", "guide/ (6 pages)", *steps, "guide/Zoo"]


def test_thousands_of_pages_are_split_into_files_that_list_each_page_once(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        names = [f"blog/post-{number}.html" for number in range(1200)]
        names += [f"guide/part-{number % 3}/topic-{number}.html" for number in range(900)]
        for name in names:
            site.write(name, f"<p>The page that is called {name} has this to say.</p>")
        site.write("index.html", "<p>Where it all begins, for everybody.</p>")
        write_sitemap(site, names)
        run_sumi("mirror", site.url, *FAST, "--concurrency", "8", timeout=300)
        home = tmp_path / "output" / site.home
        files = [home / "_index.md", *(home / "_index").iterdir()]
        reached = [target for file in files for target in targets_of(file)]
        pages = [target for target in reached if target.name == "index.md"]
        assert sorted(pages) == sorted(home.rglob("index.md"))
        assert len(pages) == len(names) + 1
        parts = {target for target in reached if target.parent.name == "_index"}
        assert parts == set(files[1:])
        assert max(len(file.read_text().splitlines()) for file in files) < 700
        first = (home / "_index.md").read_text()
        assert "- blog/ ([1,200 pages](_index/" in first
        for name in names[:2000]:
            (site.folder / name).unlink()
        run_sumi("mirror", site.url, *FAST, "--update", timeout=300)
        assert not list((home / "_index").iterdir())
        assert len(targets_of(home / "_index.md")) == 101

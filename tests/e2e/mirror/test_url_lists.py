"""``--urls``: exactly the pages of a list are taken, whatever form it has, each through the gate."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--retries", "0", "--json")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        for name in "abcd":
            site.write(
                f"{name}.html", f"<title>{name}</title><p>All about {name}; see <a href='d.html'>d</a>.</p>"
            )
        site.write("index.html", "<p>To <a href='d.html'>d</a></p>")
        yield site


def taken(site: FolderSite, folder: Path) -> set[str]:
    manifest = json.loads((folder / site.home / "_manifest.json").read_text())
    return {page["url"].removeprefix(site.url).lstrip("/") for page in manifest["pages"]}


def forms(site: FolderSite) -> dict[str, str]:
    a, b = f"{site.url.rstrip('/')}/a.html", f"{site.url.rstrip('/')}/b.html"
    return {
        "lines.txt": f"# mine\n\n{a}\nno address at all\n{b}\n{a}\n",
        "table.csv": f'title,URL\n"A, of course",{a}\n,{b}\nshort\n',
        "objects.jsonl": f'{{"url": "{a}"}}\n{{"url": 7}}\n{{broken\n{{"URL": "{b}"}}\n',
        "llms.txt": f"# Site\n\n> All of it\n\n## Docs\n\n- [A]({a}): about a\n- [B]({b})\n",
        "feed.xml": f'<rss version="2.0"><channel><item><link>{a}</link></item>'
        f"<item><link>{b}</link></item></channel></rss>",
        "index.cdx": " CDX N b a m s k r M S V g\n"
        f"x 20260101000000 {a} text/html 200 - - - 1 2 x\ny 20260101000000 {b} text/html 200 - - - 1 2 x\n"
        f"z 20260101000000 {b.replace('b.', 'c.')} image/png 200 - - - 1 2 x\n",
        "index.cdxj": f'x 20260101000000 {{"url": "{a}", "mime": "text/html", "status": "200"}}\n'
        f'y 20260101000000 {{"url": "{b}", "mime": "text/html", "status": "200"}}\n'
        f'z 20260101000000 {{"url": "{b.replace("b.", "c.")}", "mime": "text/html", "status": "404"}}\n',
    }


@pytest.mark.parametrize(
    "name",
    ["lines.txt", "table.csv", "objects.jsonl", "llms.txt", "feed.xml", "index.cdx", "index.cdxj"],
)
def test_every_form_of_list_gives_its_pages_and_no_others(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(forms(site)[name])
    done = run_sumi("mirror", "--urls", name, *FAST)
    assert done.returncode == 0, done.stderr
    assert taken(site, tmp_path / "output") == {"a.html", "b.html"}


def test_a_gzipped_list_is_recognized_by_its_content(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "list.bin").write_bytes(gzip.compress(forms(site)["lines.txt"].encode()))
    assert run_sumi("mirror", "--urls", "list.bin", *FAST).returncode == 0
    assert taken(site, tmp_path / "output") == {"a.html", "b.html"}


def test_an_archive_is_a_list_of_its_pages(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    assert run_sumi("mirror", site.url, *FAST, "--warc", "x.warc.gz").returncode == 0
    assert run_sumi("mirror", "--urls", "x.warc.gz", *FAST, "-o", "again").returncode == 0
    assert {"a.html", "d.html"} & taken(site, tmp_path / "again") == {"d.html"}


def test_standard_input_is_a_list_and_explain_names_the_place(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "sumi", "mirror", "--urls", "-", "--allow-private", *FAST]
    done = subprocess.run(words, input=forms(site)["lines.txt"].encode(), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert taken(site, tmp_path / "output") == {"a.html", "b.html"}
    explained = run_sumi("explain", f"{site.url.rstrip('/')}/b.html", "--json")
    chain = json.loads(explained.stdout)["chain"]
    assert [step["hop"] for step in chain] == ["file", "list"]
    assert chain[0]["url"] == "stdin:5"


def test_links_of_listed_pages_are_followed_if_asked_for(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text(f"{site.url.rstrip('/')}/a.html\n")
    assert run_sumi("mirror", "--urls", "one.txt", "--follow-links", *FAST).returncode == 0
    assert taken(site, tmp_path / "output") == {"a.html", "d.html"}


def test_the_gate_judges_what_is_listed(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    site.write("robots.txt", "User-agent: *\nDisallow: /b.html\n")
    (tmp_path / "list.txt").write_text(
        forms(site)["lines.txt"] + f"{site.url}\n" + "http://169.254.169.254/latest/\n"
    )
    done = run_sumi("mirror", site.url, "--urls", "list.txt", "--exclude", "/a.html", *FAST)
    summary = done.events[-1]["outcomes"]
    assert summary == {"captured": 1, "robots_denied": 1, "excluded": 1, "out_of_scope": 1, "unlisted": 1}


def test_a_list_without_addresses_is_refused_in_a_sentence(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("nothing\n")
    (tmp_path / "list.csv").write_text("name,place\na,b\n")
    for name, words in (("list.txt", "no web address in it"), ("list.csv", "--urls-column")):
        done = run_sumi("mirror", "--urls", name)
        assert done.returncode == 2
        assert words in done.stderr


def test_a_capture_takes_a_list(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(forms(site)["table.csv"].replace("URL", "where"))
    done = run_sumi("capture", "--urls", "table.csv", "--urls-column", "where", *FAST)
    assert done.returncode == 0, done.stderr
    shown = run_sumi("capture", "show", "--json").stdout.splitlines()
    pages = [json.loads(line)["url"] for line in shown if '"kind":"page"' in line]
    assert sorted(page[-6:] for page in pages) == ["a.html", "b.html"]


def test_a_seed_may_be_an_llms_txt(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    site.write("llms.txt", "# Site\n\n- [A](/a.html): one\n- [B](/b.html)\n")
    assert run_sumi("mirror", f"{site.url.rstrip('/')}/llms.txt", *FAST).returncode == 0
    assert {"a.html", "b.html"} <= taken(site, tmp_path / "output")


def test_pages_beyond_a_list_are_not_blamed_on_a_sitemap(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text(f"{site.url}a.html\n")
    done = run_sumi("mirror", "--urls", "one.txt", "--rate-limit", "0")
    assert "one page left out: linked, but in no sitemap or list (--follow-links" in done.stderr

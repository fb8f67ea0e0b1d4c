"""With --assets, images and linked files are stored safely, and pages link to them locally."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--assets")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
PDF = b"%PDF-1.7\n" + b"a document of many pages " * 40


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write(
            "index.html",
            '<p>A picture: <img src="img/logo.png" alt="the logo"> and <a href="docs/paper.pdf">a paper</a>, '
            'and <a href="next.html">another page</a> that shows more.</p>',
        )
        site.write("next.html", '<p>The same picture, elsewhere: <img src="img/copy.png"> It is nice.</p>')
        site.put("img/logo.png", PNG)
        site.put("img/copy.png", PNG)
        site.put("docs/paper.pdf", PDF)
        yield site


def mirror(run_sumi: RunSumi, site: FolderSite, *options: str) -> FinishedSumi:
    return run_sumi("mirror", site.url, *FAST, *options)


def home(tmp_path: Path, site: FolderSite) -> Path:
    return tmp_path / "output" / site.home


def manifest(tmp_path: Path, site: FolderSite) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home(tmp_path, site) / "_manifest.json").read_text())
    return content


def shown(page: Path) -> list[str]:
    """Targets of images and links, as a Markdown viewer sees them."""
    found: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text()):
        for child in token.children or ():
            target = child.attrGet("src") or child.attrGet("href")
            if isinstance(target, str):
                found.append(target)
    return found


def local_files(page: Path) -> list[Path]:
    local = [target for target in shown(page) if "://" not in target]
    files = [Path(os.path.normpath(page.parent / unquote(target))) for target in local]
    assert all(file.is_file() for file in files)
    return files


def outcomes(done: FinishedSumi) -> dict[str, str]:
    return {event["url"]: event["outcome"] for event in done.events if event["event"] == "page"}


def test_images_and_files_are_stored_unchanged_and_linked_locally(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    done = mirror(run_sumi, site)
    assert done.returncode == 0
    logo, paper = local_files(home(tmp_path, site) / "index.md")
    assert (logo.read_bytes(), paper.read_bytes()) == (PNG, PDF)
    assert logo.name.startswith("logo-")
    assert (logo.suffix, paper.suffix) == (".png", ".pdf")
    kept = {asset["url"].rpartition("/")[2]: asset for asset in manifest(tmp_path, site)["assets"]}
    assert set(kept) == {"logo.png", "copy.png", "paper.pdf"}
    assert kept["paper.pdf"]["sha256"] == hashlib.sha256(PDF).hexdigest()
    assert done.events[-1]["outcomes"] == {"captured": 2, "stored": 3, "absent": 5}
    assert manifest(tmp_path, site)["successful"] == 2
    assert run_sumi("state", "check", "--deep").returncode == 0
    assert "0 changed" in run_sumi("rebuild").stderr


def test_the_same_content_is_on_the_disk_once(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site)
    images = list((home(tmp_path, site) / "_assets" / "images").iterdir())
    assert len(images) == 2
    assert len({file.stat().st_ino for file in images}) == 1


def test_links_to_pages_stay_unless_rewriting_is_on(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    page = home(tmp_path, site) / "index.md"
    assert shown(page)[-1] == f"{site.url}next.html"
    mirror(run_sumi, site, "--rewrite-links")
    assert shown(page)[-1] == "next/index.md"
    run_sumi("mirror", site.url, "--rate-limit", "0", "--json")
    assert shown(page) == [f"{site.url}{name}" for name in ("img/logo.png", "docs/paper.pdf", "next.html")]
    assert run_sumi("state", "check", "--deep").returncode == 0


def test_without_the_option_no_asset_is_requested(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    run_sumi("mirror", site.url, "--rate-limit", "0", "--json")
    assert not [answer for answer in site.answers if answer.path.startswith("/img/")]
    assert not (home(tmp_path, site) / "_assets").exists()


def test_turned_on_later_it_stores_assets_of_known_pages_and_requests_no_page_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    run_sumi("mirror", site.url, "--rate-limit", "0", "--json")
    site.answers.clear()
    mirror(run_sumi, site)
    assert {answer.path for answer in site.answers} == {"/img/logo.png", "/img/copy.png", "/docs/paper.pdf"}
    assert len(local_files(home(tmp_path, site) / "index.md")) == 2


def test_turned_on_again_it_stores_assets_added_while_it_was_off(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    site.write("next.html", '<p>Another picture, since: <img src="img/new.png"> It is nicer.</p>')
    site.put("img/new.png", PNG + b"new")
    run_sumi("mirror", site.url, "--rate-limit", "0", "--json", "--update")
    site.answers.clear()
    mirror(run_sumi, site)
    assert {answer.path for answer in site.answers} == {"/img/new.png"}
    (new,) = local_files(home(tmp_path, site) / "next" / "index.md")
    assert new.read_bytes() == PNG + b"new"


def test_images_of_other_hosts_are_stored_but_not_their_files(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "cdn") as cdn, folder_site(tmp_path / "site") as site:
        cdn.put("far.png", PNG)
        cdn.put("far.pdf", PDF)
        cdn.put("denied/far.png", PNG)
        cdn.write("robots.txt", "User-agent: *\nDisallow: /denied/\n")
        site.write(
            "index.html",
            f'<p><a href="{cdn.url}far.png"><img src="{cdn.url}far.png"></a> '
            f'<a href="{cdn.url}far.pdf">paper</a> <img src="{cdn.url}denied/far.png"> and a text.</p>',
        )
        done = mirror(run_sumi, site, "--allow-private")
        ends = outcomes(done)
        assert ends[f"{cdn.url}far.png"] == "stored"
        assert {answer.path for answer in cdn.answers} == {"/robots.txt", "/far.png"}
        assert len(local_files(home(tmp_path, site) / "index.md")) == 2
        assert f"{cdn.url}denied/far.png" in shown(home(tmp_path, site) / "index.md")


def test_unlisted_files_are_stored_and_unlisted_pages_are_not(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
        entry = f"<url><loc>{site.url}listed.html</loc></url>"
        site.write("sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{xmlns}">{entry}</urlset>')
        site.write("index.html", "<p>The start of it all, which is listed nowhere.</p>")
        site.write(
            "listed.html",
            '<p><a href="paper.pdf">paper</a> <a href="other.html">other</a> <a href="trick.zip">trick</a>'
            ' <a href="data" download>data</a></p>',
        )
        site.write("other.html", "<p>Not listed, and so it is not a page of this mirror.</p>")
        site.put("paper.pdf", PDF)
        site.put("trick.zip", b"<!doctype html><title>log in</title><p>Please log in first.")
        site.put("data", b"1,2,3\n" * 30)
        done = mirror(run_sumi, site)
        ends = outcomes(done)
        assert ends[f"{site.url}paper.pdf"] == "stored"
        assert ends[f"{site.url}data"] == "stored"
        assert ends[f"{site.url}trick.zip"] == "not_an_asset"
        assert f"{site.url}other.html" not in ends


HOSTILE = [
    ("page.png", b"<html><script>alert(1)</script>", None),
    ("program.png", b"MZ\x90\x00" + bytes(300), None),
    ("real.exe", b"MZ\x90\x00" + bytes(300), ".bin"),
    ("script.sh", b"#!/bin/sh\nrm -rf /\n", ".bin"),
    ("code.js", b"alert(document.cookie) // and more of it\n", ".txt"),
    ("feed.xml", b"<?xml version='1.0'?><feed xmlns='x'>and what it has to say</feed>", ".txt"),
    ("photo.pdf", PNG, ".png"),
    ("..%2F..%2Fup.zip", b"PK\x03\x04" + bytes(100), ".zip"),
    ("CON.zip", b"PK\x03\x04" + bytes(101), ".zip"),
    ("%E2%80%AEgpj.zip", b"PK\x03\x04" + bytes(102), ".zip"),
    ("n" * 220 + ".zip", b"PK\x03\x04" + bytes(103), ".zip"),
]


def test_the_extension_of_an_asset_fits_its_content(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        links = "".join(f'<li><a href="{name}">{at}</a></li>' for at, (name, _, _) in enumerate(HOSTILE))
        images = "".join(f'<img src="{name}">' for name, _, _ in HOSTILE if name.endswith(".png"))
        site.write("index.html", f"<p>Things of many kinds. {images}</p><ul>{links}</ul>")
        for name, content, _ in HOSTILE:
            site.bodies[f"/{name}"] = content
        mirror(run_sumi, site)
        by_url = {asset["url"]: asset["path"] for asset in manifest(tmp_path, site)["assets"]}
        for name, _, suffix in HOSTILE:
            path = next((path for url, path in by_url.items() if url.endswith(f"/{name}")), None)
            assert (None if path is None else Path(path).suffix) == suffix, name
        kept = [file for file in home(tmp_path, site).rglob("_assets/*/*") if file.is_file()]
        assert len(kept) == len(by_url) == 9
        assert all(file.stat().st_mode & 0o111 == 0 for file in kept)
        assert all(file.name.isprintable() and not file.name.startswith((".", "-")) for file in kept)
    assert not list(tmp_path.rglob("up.zip*"))[1:]


def test_larger_limits_store_what_was_over_the_former_ones(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    site.put("img/logo.png", PNG + bytes(5000))
    small = mirror(run_sumi, site, "--max-asset-size", "2KiB")
    assert outcomes(small)[f"{site.url}img/logo.png"] == "asset_too_large"
    assert small.returncode == 0
    assert local_files(home(tmp_path, site) / "index.md")[0].suffix == ".pdf"
    larger = mirror(run_sumi, site, "--max-asset-size", "1MiB")
    assert outcomes(larger) == {f"{site.url}img/logo.png": "stored"}
    tight = run_sumi("mirror", site.url, *FAST, "-o", "tight", "--max-assets-total", "1KiB")
    assert set(outcomes(tight).values()) == {"captured", "stored", "assets_full", "absent"}
    roomy = run_sumi("mirror", site.url, *FAST, "-o", "tight", "--max-assets-total", "1MiB")
    assert set(outcomes(roomy).values()) == {"stored"}


def test_an_update_stores_changed_images_and_removes_gone_ones(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    page = home(tmp_path, site) / "index.md"
    changed = b"\xff\xd8\xff" + bytes(300)  # another format, under the same address
    site.put("img/logo.png", changed)
    site.remove("docs/paper.pdf")
    site.answers.clear()
    mirror(run_sumi, site, "--update")
    assert {answer.path: answer.status for answer in site.answers}["/img/copy.png"] == 304
    (logo,) = local_files(page)
    assert (logo.suffix, logo.read_bytes()) == (".jpg", changed)
    assert f"{site.url}docs/paper.pdf" in shown(page)
    assert [file.read_bytes() for file in home(tmp_path, site).rglob("_gone/**/paper-*.pdf")] == [PDF]
    assert len(list((home(tmp_path, site) / "_assets").rglob("*.*"))) == 2
    assert run_sumi("state", "check", "--deep").returncode == 0


def test_a_lost_or_damaged_asset_is_found_and_fetched_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    paper = next(home(tmp_path, site).rglob("paper-*.pdf"))
    paper.write_bytes(PDF[:-1] + b"!")
    assert run_sumi("state", "check", "--deep").returncode != 0
    mirror(run_sumi, site, "--update")
    assert paper.read_bytes() == PDF


def test_images_do_not_count_against_the_page_limit(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    done = mirror(run_sumi, site, "--max-pages", "1")
    assert done.events[-1]["outcomes"]["captured"] == 1
    assert outcomes(done)[f"{site.url}img/logo.png"] == "stored"

"""With --documents, linked PDF files and their like are pages of a mirror, and of sumi convert."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site
from tests.parse.documents.made import HEAD, odt, paragraph, pdf

pytest.importorskip("pypdfium2")
FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--allow-private")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as running:
        names = ("manual.pdf", "notes.odt", "photos.pdf")
        links = ", ".join(f'<a href="{name}">{name}</a>' for name in names)
        running.write("index.html", f"<p>All about ink, as the files say: {links}.</p>")
        text = [(HEAD, 60, 760, "On ink"), *paragraph(["Ink is made of soot."])]
        running.put("manual.pdf", pdf([text]))
        running.put("notes.odt", odt("<text:p>Grind it well.</text:p>"))
        running.put("photos.pdf", pdf([[]]))
        yield running


def test_documents_are_pages_and_are_made_again_offline(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    done = run_sumi("mirror", site.url, *FAST, "--documents", "--rewrite-links")
    assert done.events[-1]["outcomes"] == {"absent": 5, "captured": 3, "parse_failed": 1}
    home = tmp_path / "output" / site.home
    manual = home / "manual.pdf" / "index.md"
    assert "# On ink\n\nInk is made of soot." in manual.read_text()
    assert "Grind it well." in (home / "notes.odt" / "index.md").read_text()
    assert "(manual.pdf/index.md)" in (home / "index.md").read_text()
    why = json.loads(run_sumi("explain", f"{site.url}photos.pdf", "--json").stdout)
    assert "its 1 pages have no text" in json.dumps(why)
    manual.unlink()
    run_sumi("rebuild")
    assert "Ink is made of soot." in manual.read_text()


def test_documents_are_left_alone_without_the_option(run_sumi: RunSumi, site: FolderSite) -> None:
    done = run_sumi("mirror", site.url, *FAST)
    assert done.events[-1]["outcomes"] == {"absent": 5, "captured": 1, "not_html": 3}


def test_a_document_is_converted(run_sumi: RunSumi, site: FolderSite) -> None:
    done = run_sumi("convert", str(site.folder / "manual.pdf"), "--metadata")
    assert done.returncode == 0
    assert 'fidelity: "1"' in done.stdout
    assert "# On ink" in done.stdout

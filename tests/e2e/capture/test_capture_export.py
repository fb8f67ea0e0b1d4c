"""A captured job can be exported as Markdown files, one Markdown file, JSON lines and a ZIP."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sumi.jobs.capture.export import EXPORT_FORMATS, ExportedPage, exported_pages
from sumi.jobs.capture.folder import CaptureFolder
from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST, linked
from tests.folder_site import FolderSite, folder_site


@pytest.fixture
def site(run_sumi: RunSumi, tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/a.html', '/b.html')}", title="Start [x](y)")
        site.write("a.html", "<p>The same</p>", title="Alpha")
        site.write("b.html", "<p>The same</p>", title="Alpha")
        assert run_sumi("capture", site.url, *FAST, "--workers", "1").returncode == 0
        yield site


def exported(run_sumi: RunSumi, form: str, target: str) -> None:
    done = run_sumi("capture", "export", "--format", form, "-o", target)
    assert done.returncode == 0, done.stderr
    assert f"2 pages are in {target}" in done.stderr


def test_json_lines_hold_everything_about_a_page(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    exported(run_sumi, "jsonl", "pages.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    alpha = lines[1]
    assert alpha["alternate_urls"] == [f"{site.url}a.html", f"{site.url}b.html"]
    assert (alpha["url"], alpha["title"], alpha["base_url"]) == (f"{site.url}a.html", "Alpha", site.url)
    assert "The same" in alpha["content"]
    assert re.fullmatch("[0-9a-f]{64}", alpha["content_hash"])


def test_one_file_has_a_table_of_contents_that_leads_to_every_page(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    exported(run_sumi, "markdown", "all.md")
    text = (tmp_path / "all.md").read_text()
    targets = re.findall(r"^\d+\. \[.*\]\(#(page-\d+)\)$", text, re.MULTILINE)
    assert targets == ["page-1", "page-2"]
    assert all(f'<a id="{target}"></a>' in text for target in targets)
    assert "Start \\[x\\](y)" in text, "a title must not be able to be a link"


def test_a_folder_and_a_zip_hold_the_same_files(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    exported(run_sumi, "folder", "pages")
    exported(run_sumi, "zip", "pages.zip")
    files = {
        path.relative_to(tmp_path / "pages").as_posix(): path.read_bytes()
        for path in (tmp_path / "pages").rglob("*")
        if path.is_file()
    }
    with zipfile.ZipFile(tmp_path / "pages.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
    assert len(files) == 2
    again = run_sumi("capture", "export", "--format", "folder", "-o", "pages")
    assert again.returncode == 2
    assert "pages exists already" in again.stderr


@pytest.mark.parametrize("form", [name for name in EXPORT_FORMATS if name != "folder"])
def test_a_format_of_one_file_refuses_a_folder(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, form: str
) -> None:
    (tmp_path / "there").mkdir()
    done = run_sumi("capture", "export", "--format", form, "-o", "there")
    assert done.returncode == 2
    assert "there is a folder, but this format writes one file" in done.stderr
    assert list((tmp_path / "there").iterdir()) == []


def test_an_export_of_a_running_job_is_a_snapshot(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    """Pages that come between the contents and the texts are in neither."""
    folder = CaptureFolder(tmp_path / "captures")
    target = tmp_path / "all.md"
    with folder.writing("a test") as writer, folder.reading() as reader, reader.snapshot():
        job = folder.jobs(reader)[-1]

        def pages() -> Iterator[ExportedPage]:
            yield from exported_pages(reader, job)
            page = next(writer.pages(job.id))
            number = writer.count_pages(job.id)
            writer.put_page(job.id, msgspec.structs.replace(page, url=f"{site.url}later-{number}"))

        assert EXPORT_FORMATS["markdown"].write(target, pages) == 2
        assert writer.count_pages(job.id) == 4
    text = target.read_text()
    assert len(re.findall(r"^\d+\. \[", text, re.MULTILINE)) == text.count("<a id=") == 2


def test_the_number_of_exported_pages_is_true(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    """A running job's row may be behind its pages."""
    folder = CaptureFolder(tmp_path / "captures")
    with folder.writing("a test") as writer:
        job = writer.jobs()[-1]
        writer.put_job(msgspec.structs.replace(job, pages_processed=1))
    for form in EXPORT_FORMATS:
        exported(run_sumi, form, f"out.{form}")


def test_the_guide_describes_every_format() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "capture.md").read_text()
    section = guide.partition("## Export\n")[2].partition("\n## ")[0]
    assert all(re.search(rf"`(--format )?{form}`", section) for form in EXPORT_FORMATS)

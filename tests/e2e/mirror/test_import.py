"""``sumi import`` and ``--replay``: archives become what fetching would have made, and no server is asked."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--retries", "0", "-q")
PAGES = 8


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}" for number in range(PAGES)]
        site.write("index.html", "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in names))
        for name in names:
            site.write(
                f"{name}.html", f"<title>{name}</title><p>All there is to know of {name}, and more.</p>"
            )
        yield site


@pytest.fixture
def archive(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> Path:
    assert run_sumi("mirror", site.url, *FAST, "--warc", "pages.warc.gz").returncode == 0
    site.answers.clear()
    return tmp_path / "pages.warc.gz"


def pages(folder: Path) -> dict[str, str]:
    """Without the moment of fetching, which is the second that the archive has."""
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.md")}
    drop = ("fetched_at", "first_captured", "changed_at")
    return {
        name: "\n".join(line for line in text.splitlines() if not line.startswith(drop))
        for name, text in texts.items()
        if not Path(name).name.startswith("_")
    }


def test_an_import_is_what_the_mirror_was(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    done = run_sumi("import", "warc", str(archive), "-o", "imported")
    assert done.returncode == 0, done.stderr
    assert pages(tmp_path / "imported" / site.home) == pages(tmp_path / "output" / site.home)
    assert site.answers == []


def test_running_it_again_takes_nothing_twice(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        assert run_sumi("import", "warc", str(archive), "-o", "imported").returncode == 0
    manifest = json.loads((tmp_path / "imported" / site.home / "_manifest.json").read_text())
    urls = [page["url"] for page in manifest["pages"]]
    assert len(urls) == len(set(urls)) == PAGES + 1


def test_an_import_as_a_capture_is_one_job_however_often_it_runs(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    for option in ("--captures", "--store"):  # its name before, too
        done = run_sumi("import", "warc", str(archive), "--as", "capture", option, "captures")
        assert done.returncode == 0, done.stderr
    (job,) = run_sumi("capture", "list", "--json").stdout.splitlines()
    assert json.loads(job)["pages_processed"] == PAGES + 1
    assert site.answers == []
    found = run_sumi("export", "jsonl", "captures", "-o", "pages.jsonl")
    assert found.returncode == 0, found.stderr
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert {row["url"] for row in rows} == {site.url, *(f"{site.url}p{n}.html" for n in range(PAGES))}


def test_robots_txt_does_not_keep_what_is_archived_from_an_import(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    site.write("robots.txt", "User-agent: *\nDisallow: /p1\n")
    record = warc_response(f"{site.url}robots.txt", "text/plain", b"User-agent: *\nDisallow: /p1\n")
    archive.write_bytes(archive.read_bytes() + record)
    for kind in ("mirror", "capture"):
        done = run_sumi("import", "warc", str(archive), "--as", kind, "--json")
        assert done.events[-1]["outcomes"]["captured"] == PAGES + 1
        assert "robots" not in str(done.events[-1]["notes"])


def test_what_only_one_kind_of_import_takes_is_refused_for_the_other(
    run_sumi: RunSumi, archive: Path
) -> None:
    as_capture = run_sumi("import", str(archive), "--as", "capture", "--rewrite-links")
    as_mirror = run_sumi("import", str(archive), "--captures", "captures")
    assert (as_capture.returncode, as_mirror.returncode) == (2, 2)
    assert "--rewrite-links: for mirrors only" in as_capture.stderr
    assert "--captures is for --as capture" in as_mirror.stderr


def warc_response(url: str, media: str, body: bytes) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n")


def test_pages_that_nobody_links_to_are_imported(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    site.write("lonely.html", "<p>No page links here, and yet it was archived.</p>")
    options = (*FAST, "--warc", "lonely.warc.gz", "-o", "other")
    run_sumi("mirror", f"{site.url}lonely.html", *options)
    done = run_sumi("import", str(archive), "lonely.warc.gz", "-o", "imported")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "imported" / site.home).exists()
    assert any("lonely" in name for name in pages(tmp_path / "imported" / site.home))


def test_a_job_can_be_tried_with_other_settings_offline(
    run_sumi: RunSumi, site: FolderSite, archive: Path, tmp_path: Path
) -> None:
    done = run_sumi("mirror", site.url, "--replay", str(archive), "-o", "some", "--exclude", "/p1*", "--json")
    assert done.returncode == 0, done.stderr
    assert len(pages(tmp_path / "some" / site.home)) == PAGES
    captured = run_sumi("capture", site.url, "--replay", str(archive), "--store", "captures", "-q")
    assert captured.returncode == 0, captured.stderr
    assert site.answers == []


def test_what_was_not_archived_is_told(run_sumi: RunSumi, site: FolderSite, archive: Path) -> None:
    site.write("p0.html", "changed")
    shutil.copy(archive, archive.with_name("first.warc.gz"))
    run_sumi("mirror", f"{site.url}p1.html", *FAST, "--warc", "one.warc.gz", "-o", "one")
    done = run_sumi("mirror", site.url, "--replay", "one.warc.gz", "-o", "few")
    assert done.returncode == 1
    assert "not_archived" in done.stdout + done.stderr
    imported = run_sumi("import", "warc", "one.warc.gz", "-o", "imported")
    assert "left out: not in the archive (a run without one fetches them)" in imported.stderr


def test_damaged_places_are_named(run_sumi: RunSumi, archive: Path) -> None:
    data = bytearray(archive.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 20] = bytes(20)
    archive.write_bytes(data)
    done = run_sumi("import", str(archive), "-o", "imported")
    said = done.stdout + done.stderr
    assert re.search(r"(?<!-)\b1 damaged place was passed over: pages.warc.gz at byte", said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "warc"), "give the files to import"),
        (("import", "missing.warc.gz"), "missing.warc.gz cannot be read"),
        (
            (
                "mirror",
                "https://a.test",
                "--replay-unlinked",
                "--replay",
                "pages.warc.gz",
                "--render",
                "auto",
            ),
            "--render",
        ),
    ],
)
def test_bad_usage_is_one_sentence(
    run_sumi: RunSumi, archive: Path, words: tuple[str, ...], said: str
) -> None:
    done = run_sumi(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr

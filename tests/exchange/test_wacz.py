"""WACZ files of mirrors, captures, crawls and WARC files: valid, whole, and replayed by a real browser."""

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.browsers import needs_browser
from tests.commands import RunSumi
from tests.e2e.pipeline.workspaces import make_workspace
from tests.exchange.conftest import FAST
from tests.exchange.replay import needs_viewer, replayed
from tests.folder_site import FolderSite
from tests.site import MakeSite

PAGES = 6
VALIDATOR = Path(sys.executable).with_name("wacz")


def index_of(bundle: zipfile.ZipFile) -> list[tuple[str, dict[str, Any]]]:
    text = gzip.decompress(bundle.read("indexes/index.cdx.gz")).decode()
    lines = [line.split(" ", 2) for line in text.splitlines()]
    keys = [f"{key} {stamp}" for key, stamp, _ in lines]
    assert keys == sorted(keys)
    return [(key, json.loads(said)) for key, _, said in lines]


def pages_of(bundle: zipfile.ZipFile) -> list[dict[str, Any]]:
    head, *pages = map(json.loads, bundle.read("pages/pages.jsonl").splitlines())
    assert head["format"] == "json-pages-1.0"
    return pages


def check(wacz: Path, *, pages: int) -> zipfile.ZipFile:
    """Every line of the index leads to its record, and whoever has py-wacz finds it valid."""
    bundle = zipfile.ZipFile(wacz)
    assert bundle.testzip() is None
    for _, said in index_of(bundle):
        with bundle.open(f"archive/{said['filename']}") as file:
            file.seek(int(said["offset"]))
            (record,) = ArchiveIterator(_Span(file.read(int(said["length"]))), check_digests="raise")
            assert record.rec_headers["WARC-Target-URI"] == said["url"]
            record.content_stream().read()
    for line in bundle.read("indexes/index.idx").decode().splitlines()[1:]:
        key, stamp, place = line.split(" ", 2)
        at, length = (json.loads(place)[name] for name in ("offset", "length"))
        block = gzip.decompress(bundle.read("indexes/index.cdx.gz")[at : at + length])
        assert block.startswith(f"{key} {stamp} ".encode())
    assert len(pages_of(bundle)) == pages
    if VALIDATOR.is_file():  # pip install 'sumi[readers]'
        done = subprocess.run(
            [VALIDATOR, "validate", "-f", wacz], capture_output=True, text=True, check=False
        )
        assert "Validation succeeded" in done.stdout, done.stdout + done.stderr
    return bundle


class _Span:
    """A part of a file, as a stream that is read once."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1) -> bytes:
        size = len(self._data) if size < 0 else size
        got, self._data = self._data[:size], self._data[size:]
        return got


def test_a_mirror_with_its_image(run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path) -> None:
    done = run_sumi("export", "wacz", "-o", "site.wacz", "--json")
    assert done.returncode == 0, done.stderr
    assert done.events[-1]["event"] == "exported"
    assert done.events[-1]["written"] == PAGES
    bundle = check(tmp_path / "site.wacz", pages=PAGES)
    by_url = {page["url"]: page for page in pages_of(bundle)}
    start = by_url[f"{site.url}guide/start.html"]
    assert start["title"] == "Start here"
    assert "Next & last" in start["text"]
    assert "](" not in start["text"].replace("[no](link)", "")
    media = {said["url"]: said["mime"] for _, said in index_of(bundle)}
    assert media[f"{site.url}shot.png"] == "image/png"


def test_a_warc_file_with_every_record(run_sumi: RunSumi, site: FolderSite, mirrored: Path) -> None:
    folder = mirrored.parent
    done = run_sumi("export", "wacz", "site.warc.gz")
    assert done.returncode == 0, done.stderr
    bundle = check(folder / "site.wacz", pages=PAGES)
    assert bundle.read("archive/data-1.warc.gz") == (folder / "site.warc.gz").read_bytes()
    statuses = {said["url"]: said["status"] for _, said in index_of(bundle)}
    assert statuses[f"{site.url}gone.html"] == "404"


def test_a_capture(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    assert run_sumi("capture", site.url, *FAST).returncode == 1
    done = run_sumi("export", "wacz", "captures", "-o", "captured.wacz")
    assert done.returncode == 0, done.stderr
    check(tmp_path / "captured.wacz", pages=PAGES)


def test_a_crawl(run_sumi: RunSumi, make_site: MakeSite, tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, make_site(pages=1, github=1), 1)
    assert run_sumi("run", "--config", "crawl.yaml", "--unified").returncode == 0
    done = run_sumi("export", "wacz", str(workspace.folder), "-o", "crawled.wacz")
    assert done.returncode == 0, done.stderr
    check(tmp_path / "crawled.wacz", pages=len(workspace.truth))


def test_a_wacz_is_imported_again(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    assert run_sumi("export", "wacz", "-o", "site.wacz").returncode == 0
    site.answers.clear()
    run_sumi("import", "wacz", "site.wacz", "-o", "again", "-q")
    assert site.answers == []
    first = json.loads((mirrored / site.home / "_manifest.json").read_text())
    again = json.loads((tmp_path / "again" / site.home / "_manifest.json").read_text())
    titles = [{page["url"]: page["title"] for page in manifest["pages"]} for manifest in (first, again)]
    assert titles[0] == titles[1]


def test_pages_that_were_not_kept_are_refused(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    run_sumi("mirror", site.url, *FAST, "--no-raw")
    done = run_sumi("export", "wacz")
    assert done.returncode == 2
    assert "none of these pages was kept as the server sent it" in done.stderr
    assert not list(tmp_path.glob("*.wacz")) + list(tmp_path.glob(".*part"))


@needs_browser
@needs_viewer
@pytest.mark.parametrize("source", ["output", "site.warc.gz"])
def test_a_browser_replays_a_page_with_its_image(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path, source: str
) -> None:
    (tmp_path / "view").mkdir()
    assert run_sumi("export", "wacz", source, "-o", "view/site.wacz").returncode == 0
    url = f"{site.url}guide/start.html"
    site.stop()
    text, widths = replayed(tmp_path / "view" / "site.wacz", url, tmp_path / "replayed.png")
    assert "Next & last" in text
    assert widths == [7]
    assert (tmp_path / "replayed.png").stat().st_size > 1000
    print(f"screenshot: {tmp_path / 'replayed.png'}")

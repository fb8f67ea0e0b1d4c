"""``--warc``: a mirror's exchanges as other tools read them, each settled page once, despite kills."""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.commands import RunSumi, SpawnSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--retries", "0", "-q")
PAGES = 40


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}" for number in range(PAGES)]
        links = "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in names)
        site.write("index.html", links + '<p><a href="missing.html">missing</a></p>')
        for name in names:
            site.write(f"{name}.html", f"<p>All there is to know of {name}, and more of it.</p>")
        yield site


def records(path: Path) -> list[tuple[str, str, bytes]]:
    with path.open("rb") as file:
        return [
            (one.rec_type, one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
            for one in ArchiveIterator(file, check_digests="raise")
        ]


def test_requests_answers_and_outcomes_are_archived(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    done = run_sumi("mirror", site.url, *FAST, "--warc", "pages.warc.gz", "--auth", "me:secret-word")
    assert done.returncode == 1, done.stderr  # one link is dead
    found = records(tmp_path / "pages.warc.gz")
    kinds = Counter(kind for kind, _, _ in found)
    assert kinds["warcinfo"] == 1
    assert kinds["response"] == kinds["request"] == kinds["metadata"]
    pages = {url: body for kind, url, body in found if kind == "response"}
    assert {f"{site.url}p{number}.html" for number in range(PAGES)} <= pages.keys()
    outcomes = {url: body for kind, url, body in found if kind == "metadata"}
    assert b"outcome: not_found" in outcomes[f"{site.url}missing.html"]
    assert f"via: {site.url}".encode() in outcomes[f"{site.url}missing.html"]
    assert b"Authorization" not in b"".join(body for _, _, body in found)
    checked = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", "pages.warc.gz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert "fail" not in checked.stdout


def test_an_update_archives_revisits(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    run_sumi("mirror", site.url, *FAST, "--warc", "first.warc.gz")
    run_sumi("mirror", site.url, *FAST, "--warc", "second.warc.gz", "--update")
    kinds = Counter(kind for kind, url, _ in records(tmp_path / "second.warc.gz") if "/p" in (url or ""))
    assert kinds["revisit"] == PAGES
    assert not kinds["response"]


def test_every_settled_page_is_there_once_despite_kills(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, site: FolderSite, tmp_path: Path
) -> None:
    words = ("mirror", site.url, *FAST, "--warc", "pages.warc.gz")
    chance = random.Random(5)
    for _ in range(4):
        running = spawn_sumi(*words)
        before, wanted = len(site.answers), chance.randrange(4, 16)
        while len(site.answers) < before + wanted and running.process.poll() is None:
            pass
        running.process.kill()
        running.process.wait()
    assert run_sumi(*words).returncode == 1
    files = sorted(tmp_path.glob("pages*.warc.gz"))
    assert len(files) > 1
    assert not list(tmp_path.glob("*.open*"))
    kept = Counter(url for path in files for kind, url, _ in records(path) if kind == "response")
    pages = {f"{site.url}p{number}.html": 1 for number in range(PAGES)}
    assert {url: kept[url] for url in pages} == pages

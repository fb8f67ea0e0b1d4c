"""A mirror whose pages are in an object store is the same mirror: the same pages and texts, found, read and
exported by the same commands; and a kill loses none of them."""

import filecmp
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import FinishedSumi, RunSumi, SpawnSumi, wait_until
from tests.folder_site import FolderSite, folder_site
from tests.object_stores import BUCKET, SERVERS, own_s3rver

pytest.importorskip("obstore")

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--max-pages", "0")
PAGES = 60
WORDS = ("ink", "paper", "brush", "stone", "water", "seal", "scroll", "frame")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        links = "".join(f'<p>To <a href="p{number}.html">page {number}</a>.</p>' for number in range(PAGES))
        links += "<img src=logo.png alt=Logo>"
        site.write("index.html", links)
        for number in range(PAGES):
            words = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 40))
            site.write(f"p{number}.html", f"<p>Number {number} says: {words}.</p>")
        site.put("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(200))
        yield site


class Store(NamedTuple):
    address: str
    environ: dict[str, str]


@pytest.fixture(params=["folder", *SERVERS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return Store(f"file://{tmp_path}/store", {})
    return Store(f"s3://{BUCKET}/{tmp_path.name}", SERVERS[request.param]().environ)


def mirror(
    run_sumi: RunSumi, site: FolderSite, output: str, *options: str, env: dict[str, str] | None = None
) -> FinishedSumi:
    done = run_sumi("mirror", site.url, *FAST, "-o", output, *options, env=env)
    assert done.returncode == 0, done.stderr
    return done


def exported(
    run_sumi: RunSumi, tmp_path: Path, kind: str, job: str, env: dict[str, str] | None = None
) -> Path:
    target = tmp_path / f"{job}.{kind}"
    done = run_sumi("export", kind, job, "-o", str(target), env=env)
    assert done.returncode == 0, done.stderr
    return target


def test_the_same_pages_are_exported_searched_and_read(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, store: Store
) -> None:
    env = store.environ
    mirror(run_sumi, site, "files", "--raw", "--assets")
    mirror(run_sumi, site, "stored", "--raw", "--assets", "--store", store.address, env=env)
    assert not list((tmp_path / "stored").rglob("*.md"))
    trees = [exported(run_sumi, tmp_path, "mkdocs", job, env) for job in ("files", "stored")]
    compared = filecmp.dircmp(trees[0] / "docs", trees[1] / "docs")
    assert len(compared.common_files) == PAGES + 1
    assert not compared.left_only
    assert not compared.right_only
    logos = [(tree / "docs/_assets").iterdir() for tree in trees]
    assert [path.name for path in logos[0]] == [path.name for path in logos[1]]
    wacz = [exported(run_sumi, tmp_path, "wacz", job, env).stat().st_size for job in ("files", "stored")]
    assert abs(wacz[0] - wacz[1]) < 200
    found = run_sumi("search", '"Number 17 says"', "--in", "stored", env=env)
    assert "/p17.html" in found.stdout
    read = [run_sumi("read", f"{site.url}p17.html", "--in", job, env=env) for job in ("files", "stored")]
    assert "Number 17 says" in read[1].stdout
    assert read[0].stdout.splitlines()[1:] == read[1].stdout.splitlines()[1:]
    whole = run_sumi("state", "check", "stored", "--deep", env=env)
    assert whole.returncode == 0, whole.stdout


def test_an_update_keeps_what_is_the_same_and_the_rest_becomes_garbage(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    mirror(run_sumi, site, "stored", "--store", f"file://{store}")
    site.write("p3.html", "<p>Number 3 has something new to say.</p>")
    mirror(run_sumi, site, "stored", "--update")  # it knows where its store is
    assert "something new" in run_sumi("read", f"{site.url}p3.html", "--in", "stored").stdout
    old = time.time() - 90_000
    for path in store.rglob("*.zst"):
        os.utime(path, (old, old))
    stray = next(store.rglob("*.zst")).with_name("killed-000001.zst")
    stray.write_bytes(b"of a page that was never settled")
    kept = sorted(store.rglob("*.zst"))
    assert "1 are too young yet" in run_sumi("state", "gc", "stored").stdout
    assert sorted(store.rglob("*.zst")) == kept
    os.utime(stray, (old, old))
    assert "1 segments" in run_sumi("state", "gc", "stored", "--dry-run").stdout
    assert "1 segments" in run_sumi("state", "gc", "stored").stdout
    assert sorted(store.rglob("*.zst")) == [path for path in kept if path != stray]
    assert [path.name for path in store.rglob("probe-*")] == []  # by which it asked for the store's time
    assert run_sumi("state", "check", "stored", "--deep").returncode == 0


def test_a_missing_segment_is_found_and_its_pages_are_fetched_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site, "stored", "--store", f"file://{tmp_path}/store")
    largest = max((tmp_path / "store").rglob("*.zst"), key=lambda path: path.stat().st_size)
    largest.unlink()
    assert run_sumi("state", "check", "stored").returncode == 1
    run_sumi("state", "check", "stored", "--repair")
    mirror(run_sumi, site, "stored")
    assert run_sumi("state", "check", "stored", "--deep").returncode == 0


def test_no_kill_leaves_an_ending_without_its_content(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    options = ("-o", "stored", "--store", f"file://{store}", "--concurrency", "4")
    for kill in range(6):
        running = spawn_sumi("mirror", site.url, *FAST, *options)
        wait_until(running, lambda seen=kill: len(site.answers) > 10 * seen + 3)  # type: ignore[misc]
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        if (tmp_path / "stored" / site.home / ".sumi" / "format.json").exists():
            assert run_sumi("state", "check", "stored", "--deep").returncode == 0
    mirror(run_sumi, site, "stored")
    assert run_sumi("state", "check", "stored", "--deep").returncode == 0
    assert len(exported(run_sumi, tmp_path, "jsonl", "stored").read_text().splitlines()) == PAGES + 1


def test_a_job_keeps_its_store_and_says_so(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site, "stored", "--store", f"file://{tmp_path}/store")
    elsewhere = run_sumi("mirror", site.url, *FAST, "-o", "stored", "--store", f"file://{tmp_path}/other")
    assert elsewhere.returncode == 2
    assert "omit --store" in elsewhere.stderr
    mirror(run_sumi, site, "files")
    late = run_sumi("mirror", site.url, *FAST, "-o", "files", "--store", f"file://{tmp_path}/store")
    assert late.returncode == 2
    assert "in files" in late.stderr
    secret = run_sumi("mirror", site.url, "--store", "s3://key:secret@bucket/docs")
    assert secret.returncode == 2
    assert "secret" not in secret.stderr


def test_a_store_that_is_down_for_a_while_costs_nothing(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    server = own_s3rver()
    options = ("-o", "stored", "--store", f"s3://{BUCKET}/{tmp_path.name}", "--concurrency", "4")
    running = spawn_sumi("mirror", site.url, *FAST, *options, env=server.environ)
    wait_until(running, lambda: len(site.answers) > 2)
    server.stop()
    wait_until(running, lambda: "pages wait in flight" in running.stdout.read_text())
    server.start()
    assert running.process.wait(timeout=100) == 0, running.stderr.read_text()
    pages = [each.path for each in site.answers if each.path.startswith("/p")]
    assert len(pages) == len(set(pages)) == PAGES
    assert run_sumi("state", "check", "stored", "--deep", env=server.environ).returncode == 0


def test_doctor_tries_a_store_and_says_what_to_set_up(run_sumi: RunSumi, store: Store) -> None:
    done = run_sumi("doctor", store.address, env=store.environ)
    assert done.returncode == 0, done.stderr
    assert "can be written, read, listed and cleared" in done.stdout
    assert ("AbortIncompleteMultipartUpload" in done.stdout) == store.address.startswith("s3:")

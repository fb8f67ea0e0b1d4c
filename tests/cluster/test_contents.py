"""A job that many workers share keeps its pages in one store, where everybody reads them: export, search,
check and garbage collection by the address of the database."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.object_stores import BUCKET, SERVERS
from tests.postgres import Postgres

pytest.importorskip("obstore")

HOSTS, PAGES = 5, 8


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def mirror_of(web: ManyHosts, address: str, job: str, store: str) -> tuple[str, ...]:
    options = ("--rate-limit", "50", "--state", address, "--job", job, "--store", store, "-q")
    return ("mirror", web.start, *options, *web.options())


@pytest.mark.parametrize("server", SERVERS)  # one refuses to write an object twice, one overwrites it
def test_workers_share_a_store_and_their_pages_are_read_by_the_database(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, server: str
) -> None:
    address = postgres.address()
    env = {**SERVERS[server]().environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with many_hosts(hosts=HOSTS, pages=PAGES) as web:
        first = spawn_sumi(*mirror_of(web, address, job, f"s3://{BUCKET}/{job}"), "-o", "one", env=env)
        wait_until(first, lambda: bool(web.log))
        second = spawn_sumi("worker", address, "--job", job, "-q", "-o", "two", env=env)
        assert [run.process.wait(timeout=90) for run in (first, second)] == [0, 0]
        assert set(web.pages_asked().values()) == {1}
    assert not [path for path in tmp_path.rglob("*.md") if "h0.web.test" in str(path)]
    done = run_sumi("export", "jsonl", address, "--job", job, "-o", "pages.jsonl", env=env)
    assert done.returncode == 0, done.stderr
    pages = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert len(pages) == HOSTS * PAGES
    assert all("This is page" in page for page in pages)
    found = run_sumi("search", '"page 3 of h2.web.test"', "--in", f"{address}#{job}", env=env)
    assert f"http://h2.web.test:{web.port}/3" in found.stdout
    checked = run_sumi("state", "check", address, "--job", job, "--deep", env=env)
    assert checked.returncode == 0, checked.stdout
    kept = run_sumi("state", "gc", address, "--job", job, env=env)
    assert kept.stdout.startswith("0 segments"), kept.stdout + kept.stderr


def test_a_kill_leaves_no_ending_without_its_content_and_only_garbage(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    address, store = postgres.address(), tmp_path / "store"
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with many_hosts(hosts=3, pages=20) as web:
        running = spawn_sumi(*mirror_of(web, address, job, f"file://{store}"), "-o", "one", env=env)
        wait_until(running, lambda: len(web.log) > 20 and any(store.rglob("text/*.zst")))
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
    checked = run_sumi("state", "check", address, "--job", job, "--deep", env=env)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    old = time.time() - 90_000
    for segment in store.rglob("*.zst"):
        os.utime(segment, (old, old))
    stray = next(store.rglob("text/*.zst")).with_name("killed-000001.zst")
    stray.write_bytes(b"never settled")
    os.utime(stray, (old, old))
    assert run_sumi("state", "gc", address, "--job", job, env=env).returncode == 0
    assert not stray.exists()
    assert run_sumi("state", "check", address, "--job", job, "--deep", env=env).returncode == 0

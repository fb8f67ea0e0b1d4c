"""A mirror moves into a database and back: the same pages, outcomes and texts on both sides, half-done jobs
go on where they were, and a kill at any moment leaves the source whole and the target absent or complete."""

import contextlib
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.cluster.killed_copies import KilledCopies
from tests.commands import RunSumi, SpawnedSumi, SpawnSumi
from tests.folder_site import FolderSite, folder_site
from tests.object_stores import BUCKET, moto
from tests.postgres import Postgres

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("obstore")

FAST = ("--rate-limit", "0", "--retries", "0", "-q")
PAGES = 40


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        links = "".join(f'<p>To <a href="p{number}.html">page {number}</a>.</p>' for number in range(PAGES))
        site.write("index.html", f"{links}<a href=gone.html>gone</a><img src=logo.png alt=Logo>")
        for number in range(PAGES):
            site.write(f"p{number}.html", f"<p>Number {number} has {'much ' * (number + 5)}to say.</p>")
        site.put("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(200))
        yield site


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def texts(run_sumi: RunSumi, tmp_path: Path, place: str, *options: str) -> dict[str, str]:
    """By URL, without when it was fetched."""
    target = tmp_path / "exported.jsonl"
    target.unlink(missing_ok=True)
    done = run_sumi("export", "jsonl", place, *options, "-o", str(target), "-q")
    assert done.returncode == 0, done.stderr
    found = {}
    for line in target.read_text().splitlines():
        row = msgspec.json.decode(line)
        found[row["url"]] = str({key: value for key, value in row.items() if key not in ("path", "file")})
    return found


def outcomes(run_sumi: RunSumi, place: str, *options: str) -> Counter[str]:
    shown = run_sumi("status", place, *options, "--json")
    assert shown.returncode == 0, shown.stderr
    found: Counter[str] = Counter(msgspec.json.decode(shown.stdout)["outcomes"])
    return +found


def killed_after(seconds: float, running: SpawnedSumi) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.process.wait(timeout=seconds)
    if running.process.poll() is None:
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()


@pytest.mark.parametrize("backend", ["files", "lmdb"])
def test_a_mirror_goes_up_and_comes_back_the_same(
    postgres: Postgres, run_sumi: RunSumi, site: FolderSite, tmp_path: Path, job: str, backend: str
) -> None:
    address = postgres.address()
    assert run_sumi("mirror", site.url, *FAST, "--assets", "--state", backend).returncode == 1  # one is gone
    here = outcomes(run_sumi, "output")
    before = texts(run_sumi, tmp_path, "output")
    up = run_sumi("state", "migrate", "output", address, "--job", job, "--store", f"file://{tmp_path}/store")
    assert up.returncode == 0, up.stderr
    assert outcomes(run_sumi, address, "--job", job) == here
    assert len(texts(run_sumi, tmp_path, address, "--job", job)) == PAGES + 1
    assert run_sumi("state", "check", address, "--job", job, "--deep").returncode == 0
    down = run_sumi("state", "migrate", address, "back", "--job", job, "--to", backend)
    assert down.returncode == 0, down.stderr
    assert outcomes(run_sumi, "back") == here
    assert texts(run_sumi, tmp_path, "back") == before
    whole = run_sumi("state", "check", "back", "--deep")
    assert whole.returncode == 0, whole.stdout
    asked = len(site.answers)
    assert run_sumi("mirror", site.url, *FAST, "--assets", "-o", "back").returncode == 1
    assert len(site.answers) <= asked + 1  # what is gone is tried again


def test_a_half_done_mirror_goes_on_in_the_database_and_half_done_comes_back(
    postgres: Postgres, run_sumi: RunSumi, site: FolderSite, tmp_path: Path, job: str
) -> None:
    address, env = postgres.address(), moto().environ
    shared = ("--state", address, "--job", job)
    assert run_sumi("mirror", site.url, *FAST, "-o", "whole").returncode == 1
    assert run_sumi("mirror", site.url, *FAST, "--max-pages", "12", "--state", "sqlite").returncode == 0
    up = run_sumi(
        *("state", "migrate", "output", address, "--job", job, "--store", f"s3://{BUCKET}/{job}"), env=env
    )
    assert up.returncode == 0, up.stderr
    site.answers.clear()
    more = run_sumi("mirror", site.url, *FAST, *shared, "--max-pages", "25", "-o", "w", env=env)
    assert more.returncode == 0, more.stderr
    assert len([each for each in site.answers if "/p" in each.path]) == 25 - 12
    assert run_sumi("state", "migrate", address, "back", "--job", job, env=env).returncode == 0
    site.answers.clear()
    assert run_sumi("mirror", site.url, *FAST, "-o", "back").returncode == 1
    assert len([each for each in site.answers if "/p" in each.path]) == PAGES + 1 - 25
    assert outcomes(run_sumi, "back") == outcomes(run_sumi, "whole")
    assert texts(run_sumi, tmp_path, "back").keys() == texts(run_sumi, tmp_path, "whole").keys()


def test_a_kill_at_any_moment_leaves_the_source_whole_and_the_target_absent_or_complete(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, site: FolderSite, tmp_path: Path, job: str
) -> None:
    address = postgres.address()
    run_sumi("mirror", site.url, *FAST)
    up = ("state", "migrate", "output", address, "--job", job, "--store", f"file://{tmp_path}/store")
    complete = 0
    for delay in (0.05, 0.2, 0.3, 0.4, 0.6, 1.0, 60.0):
        running = spawn_sumi(*up)
        killed_after(delay, running)
        if "there is no job" in run_sumi("status", address, "--job", job).stderr:
            continue
        complete += 1
        assert run_sumi("state", "check", address, "--job", job, "--deep").returncode == 0
        break
    assert complete == 1
    assert run_sumi("state", "check", "output", "--deep").returncode == 0
    for delay in (0.2, 0.4, 0.6, 60.0):
        running = spawn_sumi("state", "migrate", address, "back", "--job", job)
        killed_after(delay, running)
        if (tmp_path / "back").exists():
            break
    assert run_sumi("state", "check", "back", "--deep").returncode == 0


@pytest.mark.parametrize("message", [5, 20])
def test_a_kill_in_the_midst_of_a_copy_leaves_the_target_absent_or_complete(
    postgres: Postgres, site: FolderSite, tmp_path: Path, job: str, message: int
) -> None:
    assert KilledCopies(postgres, site, tmp_path, job).attempt(message) == []


def test_a_login_without_the_right_to_write_is_told_so(
    postgres: Postgres, run_sumi: RunSumi, site: FolderSite, tmp_path: Path, job: str
) -> None:
    address, reader = postgres.address(), f"reader_{os.getpid()}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {reader} LOGIN IN ROLE sumi_reader")
    assert run_sumi("mirror", site.url, *FAST, "--max-pages", "3").returncode == 0
    place = address.replace("sumi@", f"{reader}@")
    up = run_sumi("state", "migrate", "output", place, "--job", job, "--store", f"file://{tmp_path}/store")
    assert up.returncode == 2
    assert "permission denied" in up.stderr
    assert "bug" not in up.stderr

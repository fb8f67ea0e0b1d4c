"""A capture that many machines share: each has all its pages in the end, those of one machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.commands import FinishedSumi, RunSumi, SpawnSumi, wait_until
from tests.object_stores import BUCKET, moto
from tests.postgres import Postgres

pytest.importorskip("obstore")

HOSTS, PAGES = 4, 5
TEXTS = HOSTS * (PAGES - 1) + 1


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


@pytest.fixture
def web() -> Iterator[ManyHosts]:
    """The last page of every host has the same text."""
    with many_hosts(hosts=HOSTS, pages=PAGES) as found:
        own, last = found.body, PAGES - 1
        found.body = lambda host, number: own(host if number < last else found.names[0], number)  # type: ignore[method-assign]
        yield found


def capture_of(web: ManyHosts, *more: str) -> tuple[str, ...]:
    bases = [f"http://{name}:{web.port}/" for name in web.names]
    return ("capture", *bases, "--rate-limit", "20", "-q", "--raw", *web.options()[2:], *more)


def pages_in(file: Path) -> list[tuple[str, str]]:
    """Title and text of each: which of the URLs of a text comes first is chance."""
    found = map(msgspec.json.decode, file.read_text().splitlines())
    return sorted((page["title"], page.get("text") or page["content"]) for page in found)


def test_two_machines_share_a_capture_and_both_have_it(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: ManyHosts
) -> None:
    address = postgres.address()
    env = {**moto().environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    alone = run_sumi(*capture_of(web, "--captures", "alone"))
    assert alone.returncode == 0, alone.stderr
    web.log.clear()
    shared = ("--state", address, "--job", job, "--store", f"s3://{BUCKET}/{job}", "--captures", "one")
    first = spawn_sumi(*capture_of(web, *shared), env=env)
    wait_until(first, lambda: bool(web.log))
    done = run_sumi("worker", address, "--job", job, "-q", "-o", "two", env=env)
    assert done.returncode == 0, done.stderr
    assert first.process.wait(timeout=60) == 0, first.stderr.read_text()
    assert set(web.pages_asked().values()) == {1}
    assert len(web.pages_asked()) == HOSTS * PAGES
    for folder in ("alone", "one", "two"):
        assert exported(run_sumi, folder).returncode == 0
    wanted = pages_in(tmp_path / "alone.jsonl")
    assert len(wanted) == TEXTS
    assert pages_in(tmp_path / "one.jsonl") == wanted
    assert pages_in(tmp_path / "two.jsonl") == wanted
    checked = run_sumi("state", "check", address, "--job", job, "--deep", env=env)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "complete" in run_sumi("status", address, "--job", job).stdout
    explained = run_sumi("explain", f"http://h3.web.test:{web.port}/2", "--in", address, "--job", job)
    assert "captured" in explained.stdout
    found = run_sumi("search", '"page 3 of h2.web.test"', "--in", f"{address}#{job}", env=env)
    assert f"http://h2.web.test:{web.port}/3" in found.stdout, found.stderr


def exported(run_sumi: RunSumi, folder: str) -> FinishedSumi:
    words = ("--captures", folder, "--format", "jsonl", "-o", f"{folder}.jsonl")
    return run_sumi("capture", "export", *words)


def test_a_capture_that_was_stopped_from_elsewhere_goes_on_by_the_same_command(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: ManyHosts
) -> None:
    shared = ("--state", postgres.address(), "--job", job, "--store", f"file://{tmp_path}/store")
    words = capture_of(web, *shared, "--captures", "one")
    running = spawn_sumi(*words)
    wait_until(running, lambda: len(web.log) > HOSTS)
    for wish in ("pause", "resume", "stop"):  # from another machine
        assert run_sumi(wish, postgres.address(), "--job", job).returncode == 0
    assert running.process.wait(timeout=60) == 3
    done = run_sumi(*words)
    assert done.returncode == 0, done.stderr
    assert set(web.pages_asked().values()) == {1}
    assert exported(run_sumi, "one").returncode == 0
    assert len(pages_in(tmp_path / "one.jsonl")) == TEXTS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--store", "s3://pages"), "--state"),
        (("--job", "docs"), "--state"),
        (("--state", "sqlite"), "postgresql://"),
        (("--state", "postgresql://127.0.0.1:1/none"), "--store s3://BUCKET/PREFIX"),
        (
            ("--state", "postgresql://127.0.0.1:1/none", "--store", "s3://pages", "--limit", "3"),
            "capture them separately",
        ),
    ],
)
def test_half_a_shared_capture_is_refused_in_a_sentence(
    run_sumi: RunSumi, web: ManyHosts, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    refused = run_sumi(*capture_of(web, *words))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert said in refused.stderr
    assert not (tmp_path / "captures").exists()


def test_a_folder_is_still_named_by_store(run_sumi: RunSumi, web: ManyHosts, tmp_path: Path) -> None:
    assert run_sumi(*capture_of(web, "--store", "old")).returncode == 0
    assert (
        run_sumi("capture", "list", "--store", "old").stdout
        == run_sumi("capture", "list", "--captures", "old").stdout
    )

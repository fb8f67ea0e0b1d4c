"""Whichever write of an archive fails or is the last, the next run leaves every page told of exactly once."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi, sumi_command, sumi_environment
from tests.e2e.pipeline.workspaces import Workspace, make_workspace
from tests.site import MakeSite, RunningSite, running_site
from tests.torture.harness import SECONDS, why_no_strace

REASON = why_no_strace()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "strace works")

CONFIG = ("--config", "crawl.yaml", "-q", "--run-id", "one")
UNIFIED = ("run", *CONFIG, "--unified")
CRAWL, SCRAPE, BOTH = ("crawl", "run", *CONFIG), ("scrape", "run", *CONFIG), ("run", *CONFIG)
METADATA, INDEX, EDGES = "metadata/crawl_metadata.jsonl", "index/page_index.jsonl", "logs/edges.csv"
SEGMENT = "spool/discoveries/discoveries-1700000000.jsonl"
CSV, BOOKMARK_DRAFT = "logs/pages-one.csv", "state/.spool_bookmark.json.tmp"
DICTIONARIES = "store/html/dictionaries"
ANYWHERE = ""  # these calls are made for bodies only, or nearly so
KILL, FULL, BROKEN = "signal=KILL", "error=ENOSPC", "error=EIO"
KILLED = (-9, 128 + 9)
DISK_FAILED = 8


@pytest.mark.parametrize(
    ("path", "call", "number", "fault"),
    [
        (METADATA, "write", 1, KILL),
        (METADATA, "write", 1, FULL),
        (METADATA, "fdatasync", 1, BROKEN),
        (INDEX, "fdatasync", 1, KILL),
        (EDGES, "write", 1, FULL),
        (ANYWHERE, "renameat", 20, KILL),
        (ANYWHERE, "renameat", 20, FULL),
        (ANYWHERE, "mkdirat", 30, FULL),
        (ANYWHERE, "syncfs", 1, KILL),
        (ANYWHERE, "syncfs", 1, BROKEN),
    ],
)
def test_unified(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, path: str, call: str, number: int, fault: str
) -> None:
    workspace = make_workspace(tmp_path, make_site(pages=1, github=1), 1)
    fail(workspace, UNIFIED, path, call, f"{fault}:when={number}")
    again = run_sumi(*UNIFIED)
    assert again.returncode == 0, again.stderr
    assert workspace.faults(workspace.metadata()) == []
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()
    edges = (workspace.folder / EDGES).read_text().splitlines()[1:]
    assert sorted(edge.split(",")[2] for edge in edges) == sorted(workspace.truth)


@pytest.mark.parametrize("fault", [KILL, FULL])
def test_while_a_dictionary_is_put_in_its_place(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, fault: str
) -> None:
    store = {"compress": True, "dictionary": "auto"}
    workspace = make_workspace(tmp_path, make_site(pages=1, github=5), 5, store=store)
    (workspace.folder / DICTIONARIES).mkdir(parents=True)
    fail(workspace, UNIFIED, DICTIONARIES, "renameat", f"{fault}:when=1")
    again = run_sumi(*UNIFIED)
    assert again.returncode == 0, again.stderr
    assert workspace.faults(workspace.metadata()) == []


@pytest.mark.parametrize(
    ("path", "call", "number", "fault"),
    [
        (SEGMENT, "write", 1, KILL),
        (SEGMENT, "write", 1, FULL),
        (SEGMENT, "fdatasync", 1, KILL),
        (SEGMENT, "fdatasync", 1, BROKEN),
        (ANYWHERE, "renameat", 20, KILL),
        (ANYWHERE, "syncfs", 1, BROKEN),
    ],
)
def test_the_crawler(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, path: str, call: str, number: int, fault: str
) -> None:
    workspace = with_a_segment(make_workspace(tmp_path, make_site(pages=1, github=1), 1))
    fail(workspace, CRAWL, path, call, f"{fault}:when={number}")
    again = run_sumi(*CRAWL)
    assert again.returncode == 0, again.stderr
    found = [discovery["url"] for discovery in workspace.discoveries()]
    assert sorted(found) == sorted(workspace.truth)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningSite, Path]]:
    """A site, and a folder in which it has been crawled and waits for its scraper."""
    folder = tmp_path_factory.mktemp("crawled")
    with running_site(pages=1, github=1) as site:
        make_workspace(folder, site, 1)
        subprocess.run(sumi_command(CRAWL), cwd=folder, env=sumi_environment(None), check=True)
        yield site, folder


@pytest.mark.parametrize(
    ("path", "call", "fault"),
    [
        (CSV, "write", KILL),
        (CSV, "write", FULL),
        (CSV, "fdatasync", KILL),
        (CSV, "fdatasync", BROKEN),
        (INDEX, "write", KILL),
        (BOOKMARK_DRAFT, "write", KILL),
        (ANYWHERE, "syncfs", KILL),
        (ANYWHERE, "syncfs", BROKEN),
    ],
)
def test_the_scraper(
    crawled: tuple[RunningSite, Path], run_sumi: RunSumi, tmp_path: Path, path: str, call: str, fault: str
) -> None:
    site, folder = crawled
    workspace = make_workspace(tmp_path, site, 1)
    shutil.copytree(folder / "workspace", workspace.folder, dirs_exist_ok=True)
    fail(workspace, SCRAPE, path, call, f"{fault}:when=1")
    again = run_sumi(*SCRAPE)
    assert again.returncode == 0, again.stderr
    assert workspace.faults([*workspace.rows()]) == []
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()


@pytest.mark.parametrize(("path", "call"), [(SEGMENT, "fdatasync"), (CSV, "write")])
def test_one_of_the_two_dies_beside_the_other(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, path: str, call: str
) -> None:
    workspace = with_a_segment(make_workspace(tmp_path, make_site(pages=1, github=1), 1))
    code, error = run_with(workspace, BOTH, path, call, f"{KILL}:when=1")
    assert code != 0, error
    again = run_sumi(*BOTH)
    assert again.returncode == 0, again.stderr
    assert workspace.faults([*workspace.rows()]) == []


def with_a_segment(workspace: Workspace) -> Workspace:
    """So that the name of the segment that is written to is known."""
    segment = workspace.folder / SEGMENT
    segment.parent.mkdir(parents=True)
    segment.touch()
    return workspace


def fail(workspace: Workspace, words: tuple[str, ...], path: str, call: str, fault: str) -> None:
    code, error = run_with(workspace, words, path, call, fault)
    if fault.startswith(KILL):
        assert code in KILLED, error
    else:
        assert code == DISK_FAILED, error
        assert error.count("sumi: error:") == 1


def run_with(
    workspace: Workspace, words: tuple[str, ...], path: str, call: str, fault: str
) -> tuple[int, str]:
    where = ("-P", str(workspace.folder / path)) if path else ()
    strace = ("strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{fault}")
    done = subprocess.run(
        [*strace, *where, *sumi_command((*words, "--processes", "0"))],
        cwd=workspace.config.parent,
        env=sumi_environment(None),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stderr

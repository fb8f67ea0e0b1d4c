"""After a power cut no file has a page that was lost, and the next run completes every file."""

import random
import time
from pathlib import Path

import pytest

from sumi.model import PageFacts
from sumi.state.journal.journal import Place, synced_upto
from sumi.state.journal.records import Ended, decode
from tests.commands import RunSumi, SpawnedSumi, SpawnSumi
from tests.e2e.pipeline.test_pipeline_kills import kill, wait_for_requests
from tests.e2e.pipeline.workspaces import Workspace, make_workspace
from tests.site import MakeSite
from tests.thoroughness import usually

REPOSITORIES = 6
CUTS = 2
SLOW = {"req_per_sec": 30, "global_concurrency": 8, "per_host_concurrency": 8}
# A unified run's, a crawler's and a scraper's; each where it is kept.
FOLLOWERS = ("metadata/crawl_metadata.jsonl", "index/page_index.jsonl", "logs/edges.csv")


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    site = make_site(pages=1, github=REPOSITORIES, delay_ms=2)
    # Apart, each side asks for every page, so that both have bodies, or none, of their own.
    return make_workspace(tmp_path, site, REPOSITORIES, limits=SLOW, spool={"hand_over": False})


def test_unified(workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi) -> None:
    chance = random.Random(11)
    words = ("run", "--config", "crawl.yaml", "--unified", "-q")
    for _ in range(CUTS):
        running = spawn_sumi(*words)
        wait_for_requests(workspace.site, running, 1)  # by then, what was missing is there and synced
        before = {name: size_of(workspace.folder / name) for name in FOLLOWERS}
        # Two syncs and more, so that lines are written.
        wait_for_requests(workspace.site, running, chance.randrange(75, 95))
        assert kill(running)
        gone = cut_power(workspace, "frontier", chance)
        told = {line["url"] for line in workspace.metadata()}
        assert told
        assert told.isdisjoint(gone)
        for name, size in before.items():
            harm_tail(workspace.folder / name, size, chance)
    assert run_sumi(*words).returncode == 0
    assert workspace.faults(workspace.metadata()) == []
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()
    edges = (workspace.folder / "logs" / "edges.csv").read_text().splitlines()[1:]
    assert sorted(edge.split(",")[2] for edge in edges) == sorted(workspace.truth)


def test_crawler_and_then_scraper(workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi) -> None:
    chance = random.Random(12)
    words = ("--config", "crawl.yaml", "-q", "--run-id", "one")
    crawler = spawn_sumi("crawl", "run", *words)
    wait_for_requests(workspace.site, crawler, 90)
    assert kill(crawler)
    gone = cut_power(workspace, "frontier", chance)
    found = {line["url"] for line in workspace.discoveries()}
    assert found
    assert found.isdisjoint(gone)
    harm_tail(workspace.segments()[-1], 0, chance)
    assert run_sumi("crawl", "run", *words).returncode == 0

    scraper = spawn_sumi("scrape", "run", *words)
    wait_for_requests(workspace.site, scraper, 90)
    assert kill(scraper)
    cut_power(workspace, "scraper", chance)
    harm_tail(workspace.folder / "logs" / "pages-one.csv", 0, chance)
    resumed = run_sumi("scrape", "resume", "--config", "crawl.yaml", "-q")
    assert resumed.returncode == 0, resumed.stderr
    assert [path.name for path in (workspace.folder / "logs").glob("pages-*.csv")] == ["pages-one.csv"]
    assert workspace.faults([*workspace.rows()]) == []


GONE_SEGMENT = '{"file": "discoveries-0000000001.jsonl", "offset": 7}'


@pytest.mark.parametrize("bookmark", usually([None], [None, "past", GONE_SEGMENT]))
def test_both_at_once(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, bookmark: str | None
) -> None:
    site = make_site(pages=1, github=REPOSITORIES, delay_ms=2)
    workspace = make_workspace(tmp_path, site, REPOSITORIES, limits=SLOW)
    chance = random.Random(str(bookmark))
    words = ("run", "--config", "crawl.yaml", "-q", "--run-id", "one")
    running = spawn_sumi(*words)
    csv = workspace.folder / "logs" / "pages-one.csv"
    wait_for_file(csv, running)  # by then, both sides have synced what the first rows tell of
    assert kill(running)
    for state in ("frontier", "scraper"):
        cut_power(workspace, state, chance)
    harm_tail(csv, 0, chance)
    harm_tail(workspace.folder / "index" / "page_index.jsonl", 0, chance)
    lose_bookmark(workspace, bookmark)
    final = run_sumi(*words)
    assert final.returncode == 0, final.stderr
    assert workspace.faults([*workspace.rows()]) == []
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()


def wait_for_file(path: Path, running: SpawnedSumi) -> None:
    deadline = time.monotonic() + 60
    while not size_of(path) and running.process.poll() is None:
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.01)  # waits for another process, which no injected clock can hurry


def lose_bookmark(workspace: Workspace, bookmark: str | None) -> None:
    """It is not synced, so a cut may leave none, an empty one, or one of another time."""
    place = workspace.folder / "state" / "spool_bookmark.json"
    if bookmark is None:
        place.unlink(missing_ok=True)
    elif bookmark == "past":
        place.write_text(f'{{"file": "{workspace.segments()[-1].name}", "offset": 99999999}}')
    else:
        place.write_text(bookmark)


def cut_power(workspace: Workspace, state: str, chance: random.Random) -> set[str]:
    """What was never synced is lost: the end of the journal, and the bodies of its pages. Says which."""
    (journal,) = (workspace.folder / "state" / state).glob("journal-*.log")
    content = journal.read_bytes()
    lines = content.splitlines(keepends=True)
    safe = max((Place(synced_upto(line)).offset for line in lines), default=0)
    assert safe, "nothing was synced yet: the cut would come too early to show anything"
    safe_facts, lost_facts = facts_in(content[:safe]), facts_in(content[safe:])
    journal.write_bytes(content[: chance.randrange(safe, len(content) + 1)])
    safe_bodies = {facts.path for facts in safe_facts.values()}
    for facts in lost_facts.values():
        if facts.path is not None and facts.path not in safe_bodies:
            harm_body(workspace.folder / facts.path, chance)
    return {url for url in lost_facts if url not in safe_facts}


def facts_in(content: bytes) -> dict[str, PageFacts]:
    records = (decode(line[18:-1]) for line in content.splitlines(keepends=True) if line.endswith(b"\n"))
    return {record.url: record.facts for record in records if isinstance(record, Ended)}


def harm_tail(path: Path, since: int, chance: random.Random) -> None:
    """The file, as far as the run that died wrote it, ends anywhere."""
    if path.exists():
        content = path.read_bytes()
        path.write_bytes(content[: chance.randrange(min(since, len(content)), len(content) + 1)])


def harm_body(path: Path, chance: random.Random) -> None:
    """Renamed to its place, but its content is not, or only partly, on the disk; or not even its name."""
    if chance.random() < 0.3:
        path.unlink(missing_ok=True)
    elif path.exists():
        path.write_bytes(path.read_bytes()[: chance.randrange(10)])


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0

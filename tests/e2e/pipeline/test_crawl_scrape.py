"""The scraper archives what the crawler finds: each page once, in the documented files."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.pipeline.workspaces import COLUMNS, FAST, Workspace, make_workspace
from tests.site import MakeSite

REPOSITORIES = 2


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, make_site(pages=1, github=REPOSITORIES), REPOSITORIES)


def test_crawl_then_scrape_archives_and_fetches_every_page_once(
    workspace: Workspace, run_sumi: RunSumi
) -> None:
    crawled = run_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    assert crawled.returncode == 0, crawled.stderr
    scraped = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    assert scraped.returncode == 0, scraped.stderr
    rows = workspace.rows("one")
    assert workspace.faults([*rows]) == []
    assert set(workspace.page_requests().values()) == {1}
    first = (workspace.folder / "logs" / "pages-one.csv").read_text().splitlines()[0]
    assert first == COLUMNS
    by_url = {row["url"]: row for row in rows}
    seed = by_url[f"{workspace.origin}/topics"]
    assert (seed["depth"], seed["referrer"], seed["http_status"]) == ("0", "", "200")
    assert seed["etag"].startswith('W/"')
    assert int(seed["content_bytes"]) == len(workspace.body(seed["stored_path"]))
    deeper = next(row for row in rows if row["depth"] == "1")
    assert deeper["referrer"] in (f"{workspace.origin}/topics", f"{workspace.origin}/trending")


def test_discoveries_index_and_bookmark_are_as_documented(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    run_sumi("scrape", "run", "--config", "crawl.yaml")
    for found in workspace.discoveries():
        assert list(found) == ["url", "page_type", "depth", "referrer", "metadata"]
        assert list(found["metadata"])[:3] == ["status_code", "content_length", "latency_ms"]
    for record in workspace.index():
        assert list(record) == ["url", "sha256", "stored_path", "etag", "last_modified", "timestamp"]
        sha256 = record["sha256"]
        assert record["stored_path"] == f"store/html/{sha256[:2]}/{sha256[2:4]}/{sha256}.html.zst"
    bookmark = msgspec.json.decode((workspace.folder / "state" / "spool_bookmark.json").read_bytes())
    last = workspace.segments()[-1]
    assert bookmark == {"file": last.name, "offset": last.stat().st_size, "others": {}}
    edges = (workspace.folder / "logs" / "edges.csv").read_text().splitlines()
    assert edges[0] == "timestamp,source,target,hop,depth,page_type"
    assert len(edges) == 1 + len(workspace.truth)


def test_replay_writes_the_same_csv_without_the_network(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    before = len(workspace.site.requests())
    replayed = run_sumi("scrape", "replay", "--config", "crawl.yaml", "--run-id", "again")
    assert replayed.returncode == 0, replayed.stderr
    assert len(workspace.site.requests()) == before
    assert sorted(workspace.rows("again"), key=_url) == sorted(workspace.rows("one"), key=_url)
    lost = workspace.rows("one")[0]
    (workspace.folder / lost["stored_path"]).unlink()
    gappy = run_sumi("scrape", "replay", "--config", "crawl.yaml", "--run-id", "gappy")
    assert gappy.returncode == 1
    assert lost["url"] in gappy.stderr


def test_a_resumed_run_keeps_its_run_id(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    renamed = run_sumi("scrape", "resume", "--config", "crawl.yaml", "--run-id", "two")
    assert renamed.returncode == 2
    assert "--run-id" in renamed.stderr
    resumed = run_sumi("scrape", "resume", "--config", "crawl.yaml", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.events[-1]["output"].endswith("/logs/pages-one.csv")
    assert workspace.faults([*workspace.rows()]) == []


def test_a_run_with_nothing_to_do_creates_its_csv(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    for run_id in ("one", "two", "two"):
        done = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", run_id, "--json")
        named = Path(done.events[-1]["output"])
        assert named.name == f"pages-{run_id}.csv"
        assert named.read_text().startswith(COLUMNS)
    assert named.read_text() == f"{COLUMNS}\n"


def test_both_together_end_together_across_rotations(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=4)
    workspace = make_workspace(tmp_path, site, 4, spool={"segment_mb": 0.005}, frontier={"backend": "lmdb"})
    done = run_sumi("run", "--config", "crawl.yaml", "--run-id", "one")
    assert done.returncode == 0, done.stderr
    assert workspace.faults([*workspace.rows("one")]) == []
    assert set(workspace.page_requests().values()) == {1}


def test_the_spool_rotates_and_is_read_across_its_segments(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=2)
    workspace = make_workspace(tmp_path, site, 2, spool={"segment_mb": 0.001})
    for _ in range(2):  # each run appends at least once, to a segment that is full by then
        run_sumi("crawl", "run", "--config", "crawl.yaml", "--again")
    assert len(workspace.segments()) > 1
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    rows = workspace.rows("one")
    assert len(rows) == 2 * len(workspace.truth)
    assert {row["url"] for row in rows} == workspace.truth.keys()


def test_an_unchanged_page_costs_a_304_and_gets_a_row(workspace: Workspace, run_sumi: RunSumi) -> None:
    for again in ((), ("--again",)):
        run_sumi("crawl", "run", "--config", "crawl.yaml", *again)
        run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "again" if again else "one")
    second = workspace.rows("again")
    assert workspace.faults([*second]) == []
    assert {(row["http_status"], row["content_bytes"]) for row in second} == {("304", "0")}
    statuses = [request.status for request in workspace.site.requests() if request.path == "/topics"]
    assert statuses == [200, 304]


def test_without_hand_over_the_scraper_makes_conditional_requests(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=1)
    workspace = make_workspace(tmp_path, site, 1, spool={"hand_over": False})
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    assert not (workspace.folder / "store" / "html").exists() or not workspace.rows()
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    assert workspace.faults([*workspace.rows("one")]) == []
    assert set(workspace.page_requests().values()) == {2}
    assert "content_sha256" not in workspace.discoveries()[0]["metadata"]
    spool = workspace.segments()[0]
    shutil.copy(spool, spool.with_name("discoveries-9999999999.jsonl"))  # found again, by whomever
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "two")
    assert {row["http_status"] for row in workspace.rows("two")} == {"304"}


def test_a_missing_body_is_fetched_again(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    lost = workspace.discoveries()[0]
    sha256 = lost["metadata"]["content_sha256"]
    next(workspace.folder.glob(f"store/html/*/*/{sha256}*")).unlink()
    scraped = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    assert scraped.returncode == 0, scraped.stderr
    assert workspace.faults([*workspace.rows("one")]) == []
    assert workspace.page_requests()[lost["url"]] == 2


@pytest.mark.parametrize(
    "bookmark",
    ["", "{", '{"file": "../x", "offset": 0}', '{"file": "discoveries-0000000001.jsonl", "offset": 7}', None],
)
def test_no_bookmark_can_make_a_page_appear_twice(
    workspace: Workspace, run_sumi: RunSumi, bookmark: str | None
) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    place = workspace.folder / "state" / "spool_bookmark.json"
    if bookmark is None:
        mark = msgspec.json.decode(place.read_bytes())
        place.write_bytes(msgspec.json.encode(mark | {"offset": mark["offset"] - 3}))
    else:
        place.write_text(bookmark)
    again = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "two")
    assert again.returncode == 0, again.stderr
    assert "bookmark.json" in again.stderr
    assert workspace.faults([*workspace.rows()]) == []


def test_lines_that_are_not_discoveries_are_skipped(workspace: Workspace, run_sumi: RunSumi) -> None:
    spool = workspace.folder / "spool" / "discoveries"
    spool.mkdir(parents=True)
    good = f'{{"url": "{workspace.origin}/topics", "metadata": {{"latency_ms": "slow"}}}}'
    lines = [b"\xff\xfe", b"{", b"[]", b'{"url": 7}', b"x" * 100_000, good.encode(), b'{"url": "unfini']
    (spool / "discoveries-1700000000.jsonl").write_bytes(b"\n".join(lines))
    scraped = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    assert scraped.returncode == 1, scraped.stderr
    assert [row["url"] for row in workspace.rows("one")] == [f"{workspace.origin}/topics"]
    assert "discoveries-1700000000.jsonl:1: passed over, it is not JSON" in scraped.stderr


def test_the_crawler_pauses_while_too_much_is_unread(
    make_site: MakeSite, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=8)
    slow = FAST | {"req_per_sec": 60}
    workspace = make_workspace(tmp_path, site, 8, spool={"max_backlog_gb": 0.000001}, limits=slow)
    crawler = spawn_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    _wait(lambda: any(event.get("state") == "paused" for event in crawler.events))
    scraped = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one")
    assert crawler.process.wait(60) == 0
    assert scraped.returncode == 0, scraped.stderr  # it read on for as long as the crawler was at work
    assert workspace.faults([*workspace.rows("one")]) == []


def test_flag_files_pause_and_stop_crawler_and_scraper_separately(
    workspace: Workspace, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    (workspace.folder / "pause.scraper").touch()
    scraper = spawn_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one", "--follow", "--json")
    _wait(lambda: any(event.get("state") == "paused" for event in scraper.events))
    status = run_sumi("scrape", "status", "--config", "crawl.yaml", "--json")
    assert msgspec.json.decode(status.stdout)["state"] == "paused"
    (workspace.folder / "pause.scraper").unlink()
    _wait(lambda: sum(event["event"] == "page" for event in scraper.events) >= len(workspace.truth))
    (workspace.folder / "stop.scraper").touch()
    assert scraper.process.wait(30) == 0  # nothing was waiting any more
    assert workspace.faults([*workspace.rows("one")]) == []


def test_status_shows_frontier_spool_archive_and_index(workspace: Workspace, run_sumi: RunSumi) -> None:
    nothing = run_sumi("crawl", "status", "--config", "crawl.yaml")
    assert nothing.returncode == 2
    assert "nothing has run in this workspace" in nothing.stderr
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    crawler = msgspec.json.decode(run_sumi("crawl", "status", "--config", "crawl.yaml", "--json").stdout)
    assert crawler["state"] == "complete"
    assert crawler["outcomes"]["captured"] == len(workspace.truth)
    assert sum(crawler["outcomes"].values()) == crawler["discovered"]
    assert "pending" not in crawler["outcomes"]
    assert crawler["files"]["unread"] == crawler["files"]["bytes"] > 0
    run_sumi("scrape", "run", "--config", "crawl.yaml")
    scraper = msgspec.json.decode(run_sumi("scrape", "status", "--config", "crawl.yaml", "--json").stdout)
    assert scraper["files"]["indexed"] == len(workspace.truth)
    assert scraper["files"]["unread"] == 0
    assert "captured" in run_sumi("scrape", "status", "--config", "crawl.yaml").stdout


def test_the_two_modes_do_not_mix_in_one_workspace(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("crawl", "run", "--config", "crawl.yaml")
    mixed = run_sumi("run", "--config", "crawl.yaml", "--unified")
    assert mixed.returncode == 2
    assert "its own workspace" in mixed.stderr


def _url(row: dict[str, str]) -> str:
    return row["url"]


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not until():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)  # waits for another process, which no injected clock can hurry

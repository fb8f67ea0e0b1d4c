"""Every field of every file that a crawl writes for other programs is there and correct."""

import asyncio
import csv
import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import lmdb
import msgspec
import pytest

from tests.commands import RunSumi
from tests.e2e.pipeline.workspaces import COLUMNS, FAST, Workspace, make_workspace
from tests.fetch.proxy_server import proxying
from tests.site import MakeSite
from tests.site.github_answers import LAST_MODIFIED

ONE_BY_ONE = {**FAST, "global_concurrency": 1}  # so that a page is found first on the page that is nearest
HTML = "text/html; charset=utf-8"
SECONDS = re.compile(r"1[0-9]{9}|2[0-9]{9}")
WEAK_TAG = re.compile(r'W/"[0-9a-f]{32}"')


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, make_site(pages=1, github=1), 1, limits=ONE_BY_ONE)


def test_files_of_crawler_and_scraper(workspace: Workspace, run_sumi: RunSumi) -> None:
    done = run_sumi("run", "--config", "crawl.yaml", "--run-id", "one", "-q")
    assert done.returncode == 0, done.stderr
    page = repository_page(workspace)

    (segment,) = workspace.segments()
    assert re.fullmatch(r"discoveries-[0-9]{10}\.jsonl", segment.name)
    found = {line["url"]: line for line in workspace.discoveries()}[page["url"]]
    assert list(found) == ["url", "page_type", "depth", "referrer", "metadata"]
    assert all(found[name] == page[name] for name in ("url", "page_type", "depth", "referrer"))
    metadata = found["metadata"]
    assert list(metadata)[:4] == ["status_code", "content_length", "latency_ms", "content_type"]
    assert (metadata["status_code"], metadata["content_length"]) == (200, page["size"])
    assert metadata["latency_ms"] >= 0
    assert (metadata["content_type"], metadata["content_sha256"]) == (HTML, page["sha256"])

    row = {line["url"]: line for line in workspace.rows("one")}[page["url"]]
    assert ",".join(row) == COLUMNS
    check_row(row, page)

    (record,) = (line for line in workspace.index() if line["url"] == page["url"])
    check_index_record(record, page)

    bookmark = workspace.folder / "state" / "spool_bookmark.json"
    assert msgspec.json.decode(bookmark.read_bytes()) == {
        "file": segment.name,
        "offset": segment.stat().st_size,
        "others": {},
    }
    for name in ("crawler_metrics.csv", "scraper_metrics-one.csv"):
        check_metrics(workspace.folder / "logs" / name, len(workspace.truth))
    check_edges(workspace, page)
    check_store(workspace)


def test_files_of_a_unified_run(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=1, github=1)
    workspace = make_workspace(tmp_path, site, 1, index={"backend": "lmdb"}, limits=ONE_BY_ONE)
    assert run_sumi("run", "--config", "crawl.yaml", "--unified", "-q").returncode == 0
    page = repository_page(workspace)
    line = {line["url"]: line for line in workspace.metadata()}[page["url"]]
    assert ",".join(line) == COLUMNS
    assert line["proxy_id"] is None
    assert isinstance(line["timestamp"], int)
    check_row({name: "" if value is None else str(value) for name, value in line.items()}, page)
    assert line["metadata"] == page["metadata"]
    with lmdb.open(str(workspace.folder / "state" / "page_index.lmdb"), readonly=True) as index:
        assert index.stat()["entries"] == len(workspace.truth)
        with index.begin() as tx:
            check_index_record(msgspec.json.decode(tx.get(page["url"].encode()) or b""), page)
    check_store(workspace)


@pytest.mark.parametrize("unified", [True, False])
def test_the_proxy_that_a_page_came_through_is_named(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, unified: bool
) -> None:
    site = make_site(pages=1, github=1)
    with proxy_beside() as port:
        network = {
            "allow_private": True,
            "resolve": [f"github.com:{site.port}:127.0.0.1"],
            "proxies": [f"socks5h://somebody:secret@127.0.0.1:{port}"],
        }
        workspace = make_workspace(tmp_path, site, 1, network=network)
        mode = ["--unified"] if unified else []
        done = run_sumi("run", "--config", "crawl.yaml", "-q", *mode)
    assert done.returncode == 0, done.stderr
    told = workspace.metadata() if unified else workspace.rows()
    assert {line["proxy_id"] for line in told} == {f"127.0.0.1:{port}"}
    files = [path for path in workspace.folder.rglob("*") if path.is_file()]
    assert [path for path in files if b"secret" in path.read_bytes()] == []


# ── what is expected, from the site itself ─────────────────────────────────────────────────────────────────


def repository_page(workspace: Workspace) -> dict[str, Any]:
    """All that can be known of the page of the only repository, from who served it."""
    repository = workspace.world.repository(0)
    page = workspace.world.page(repository.path)
    assert page is not None
    body = next(body for body in bodies(workspace).values() if f"<title>{page.title}<".encode() in body)
    digest = hashlib.sha256(body).hexdigest()
    return {
        "url": workspace.origin + repository.path,
        "page_type": "repo_root",
        "depth": 1,
        "referrer": f"{workspace.origin}/trending",
        "size": len(body),
        "sha256": digest,
        "stored_path": f"store/html/{digest[:2]}/{digest[2:4]}/{digest}.html.zst",
        "metadata": {"title": page.title, "language": "en", "links": len(page.links)},
    }


def check_row(row: dict[str, str], page: dict[str, Any]) -> None:
    exact = {
        "url": page["url"],
        "page_type": "repo_root",
        "depth": "1",
        "referrer": page["referrer"],
        "http_status": "200",
        "content_type": HTML,
        "encoding": "UTF-8",
        "content_sha256": page["sha256"],
        "content_bytes": str(page["size"]),
        "stored_path": page["stored_path"],
        "last_modified": LAST_MODIFIED,
        "retries": "0",
        "proxy_id": "",
    }
    assert {name: row[name] for name in exact} == exact
    assert SECONDS.fullmatch(row["timestamp"])
    assert WEAK_TAG.fullmatch(row["etag"])
    assert row["fetch_latency_ms"].isdecimal()


def check_index_record(record: dict[str, Any], page: dict[str, Any]) -> None:
    assert list(record) == ["url", "sha256", "stored_path", "etag", "last_modified", "timestamp"]
    assert (record["url"], record["sha256"]) == (page["url"], page["sha256"])
    assert (record["stored_path"], record["last_modified"]) == (page["stored_path"], LAST_MODIFIED)
    assert WEAK_TAG.fullmatch(record["etag"])
    assert SECONDS.fullmatch(str(record["timestamp"]))


def check_metrics(path: Path, pages: int) -> None:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["timestamp", "metric", "value"]
    assert all(SECONDS.fullmatch(row["timestamp"]) and row["value"].isdecimal() for row in rows)
    assert {row["metric"]: int(row["value"]) for row in rows}["pages_saved"] == pages


def check_edges(workspace: Workspace, page: dict[str, Any]) -> None:
    with (workspace.folder / "logs" / "edges.csv").open(newline="") as file:
        edges = {row["target"]: row for row in csv.DictReader(file)}
    assert edges.keys() == workspace.truth.keys()
    edge = edges[page["url"]]
    assert list(edge) == ["timestamp", "source", "target", "hop", "depth", "page_type"]
    assert (edge["source"], edge["hop"], edge["depth"]) == (page["referrer"], "link", "1")


def check_store(workspace: Workspace) -> None:
    """Nothing is there but bodies, each under its own hash and with the permissions that were asked for."""
    for path, body in bodies(workspace).items():
        digest = hashlib.sha256(body).hexdigest()
        assert path == f"store/html/{digest[:2]}/{digest[2:4]}/{digest}.html.zst"
        assert (workspace.folder / path).stat().st_mode & 0o777 == 0o644


def bodies(workspace: Workspace) -> dict[str, bytes]:
    files = (path for path in (workspace.folder / "store").rglob("*") if path.is_file())
    paths = (path.relative_to(workspace.folder).as_posix() for path in files)
    return {path: workspace.body(path) for path in paths}


@contextmanager
def proxy_beside() -> Iterator[int]:
    """The port of a proxy in an event loop of its own."""
    ports: Queue[int] = Queue()
    ended = threading.Event()

    async def serve() -> None:
        async with proxying() as proxy:
            ports.put(proxy.port)
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield ports.get(timeout=30)
    finally:
        ended.set()
        thread.join()

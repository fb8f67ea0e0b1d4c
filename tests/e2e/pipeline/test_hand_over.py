"""The scraper records pages that the crawler handed over as if it had fetched them itself."""

import csv
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from warcio.archiveiterator import ArchiveIterator

from tests.commands import RunSumi
from tests.threaded_server import ThreadedServer

CONFIG = ("--config", "crawl.yaml", "-q", "--run-id", "one")
LICENCE = "https://creativecommons.org/licenses/by/4.0"
PAGE = (
    "<html lang=en><title>A page</title><meta name=robots content=noarchive>"
    f'<p>Text, and its <a rel=license href="{LICENCE}">licence</a>.'
)
ETAG = '"one"'


class Site:
    """A page that fails twice before it comes, and says all that a page can say about its use."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                site.asked[self.path] += 1
                if self.path == "/robots.txt":
                    self.answer(200, b"User-agent: *\nContent-Signal: search=yes\nAllow: /\n")
                elif self.headers.get("If-None-Match") == ETAG:
                    self.answer(304, b"")
                elif site.asked[self.path] <= 2:
                    self.answer(500, b"")
                else:
                    self.answer(200, PAGE.encode())

            def answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                headers = {"ETag": ETAG, "X-Robots-Tag": "nosnippet", "Content-Signal": "ai-train=no"}
                headers |= {"Content-Type": "text/html; charset=utf-8", "X-Of-The-Site": "yes"}
                for name, value in headers.items() if self.path == "/" else ():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadedServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """With a workspace for it."""
    running = Site()
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/seeds.txt").write_text(f"http://127.0.0.1:{running.port}/\n")
    settings = {
        "user_agent": "bot/1.0 (+https://example.org/bot)",
        "profile": "generic",
        "scope": {"allowed_hosts": [f"127.0.0.1:{running.port}"]},
        "limits": {"req_per_sec": 1000, "backoff_base_ms": 1, "backoff_cap_ms": 5},
    }
    (tmp_path / "crawl.yaml").write_text(yaml.safe_dump(settings))
    yield running
    running.stop()


def rows(tmp_path: Path, run_id: str = "one") -> list[dict[str, Any]]:
    with (tmp_path / f"workspace/logs/pages-{run_id}.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    return [row | {"metadata": msgspec.json.decode(row["metadata"])} for row in found]


def records(path: Path, kind: str) -> list[tuple[dict[str, str], bytes]]:
    """HTTP headers, or else those of the record; and the payload."""
    with path.open("rb") as file:
        return [
            (dict((one.http_headers or one.rec_headers).headers), one.content_stream().read())
            for one in ArchiveIterator(file, check_digests="raise")
            if one.rec_type == kind
        ]


def test_a_row_is_the_same_with_and_without_hand_over(site: Site, run_sumi: RunSumi, tmp_path: Path) -> None:
    assert run_sumi("crawl", "run", *CONFIG).returncode == 0
    assert run_sumi("scrape", "run", *CONFIG).returncode == 0
    (row,) = rows(tmp_path)
    assert site.asked["/"] == 3
    assert row["retries"] == "2"
    said = row["metadata"]
    assert said["robots_meta"] == "noarchive, nosnippet"
    assert said["content_signal"] == "search=yes, ai-train=no"
    assert said["licenses"] == [LICENCE]
    replayed = run_sumi("scrape", "replay", "--config", "crawl.yaml", "--run-id", "again")
    assert replayed.returncode == 0, replayed.stderr
    assert rows(tmp_path, "again") == [row]

    site.asked.clear()
    (tmp_path / "crawl.yaml").write_text((tmp_path / "crawl.yaml").read_text() + "workspace: other\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/seeds.txt").write_text((tmp_path / "workspace/seeds.txt").read_text())
    assert run_sumi("run", "--unified", *CONFIG).returncode == 0
    lines = (tmp_path / "other/metadata/crawl_metadata.jsonl").read_bytes().splitlines()
    (unified,) = (msgspec.json.decode(line) for line in lines)
    assert unified["metadata"] == said
    assert str(unified["retries"]) == row["retries"]


def test_a_page_that_was_not_modified_before_the_first_scrape_gets_such_a_row(
    site: Site, run_sumi: RunSumi, tmp_path: Path
) -> None:
    for again in ((), ("--again",), ("--again",)):
        assert run_sumi("crawl", "run", *CONFIG, *again).returncode == 0
    assert run_sumi("scrape", "run", *CONFIG).returncode == 0
    told = rows(tmp_path)
    assert [(row["http_status"], row["content_bytes"]) for row in told] == [
        ("200", str(len(PAGE))),
        ("304", "0"),
        ("304", "0"),
    ]
    assert len({(row["content_sha256"], row["stored_path"], row["etag"]) for row in told}) == 1
    assert [row["retries"] for row in told] == ["2", "0", "0"]
    status = run_sumi("scrape", "status", "--config", "crawl.yaml", "--json")
    assert msgspec.json.decode(status.stdout)["files"]["indexed"] == 1


def test_a_line_of_an_earlier_version_is_still_read(site: Site, run_sumi: RunSumi, tmp_path: Path) -> None:
    run_sumi("crawl", "run", *CONFIG)
    (segment,) = (tmp_path / "workspace/spool/discoveries").glob("*.jsonl")
    line = msgspec.json.decode(segment.read_bytes())
    for name in ("retries", "robots_meta", "robots_rule", "content_signal"):
        del line["metadata"][name]
    segment.write_bytes(msgspec.json.encode(line) + b"\n")
    scraped = run_sumi("scrape", "run", *CONFIG)
    assert (scraped.returncode, site.asked["/"]) == (0, 3)
    (row,) = rows(tmp_path)
    assert (row["retries"], row["metadata"]["robots_meta"]) == ("0", "noarchive")


def test_a_warc_has_a_response_only_if_there_was_one(site: Site, run_sumi: RunSumi, tmp_path: Path) -> None:
    assert run_sumi("crawl", "run", *CONFIG, "--warc", "crawled.warc.gz").returncode == 0
    ((headers, body),) = records(tmp_path / "crawled.warc.gz", "response")
    assert (headers["X-Of-The-Site"], body) == ("yes", PAGE.encode())
    assert run_sumi("scrape", "run", *CONFIG, "--warc", "scraped.warc.gz").returncode == 0
    assert records(tmp_path / "scraped.warc.gz", "response") == []
    ((fields, body),) = records(tmp_path / "scraped.warc.gz", "resource")
    assert (fields["WARC-Target-URI"], body) == (f"http://127.0.0.1:{site.port}/", PAGE.encode())
    assert fields["Content-Type"] == "text/html; charset=utf-8"

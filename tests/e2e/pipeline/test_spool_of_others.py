"""A spool of another program: URLs are requested as written, and no line or file is lost."""

import asyncio
import csv
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from sumi.engine.changed_rules import PRESET_NOTE
from sumi.policy import FrontierPolicy
from sumi.state.journal import FilesStore
from tests.commands import FinishedSumi, RunSumi
from tests.threaded_server import ThreadedServer

ETAG = '"one"'


class Site:
    """Every target is a page of its own; it remembers what was asked for, byte for byte."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.conditional: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.path = self.requestline.split()[1]  # which the base class does not keep as it came
                if self.path == "/robots.txt":
                    return self.answer(404, b"")
                site.asked.append(self.path)
                if self.headers.get("If-None-Match") == ETAG:
                    site.conditional.append(self.path)
                    return self.answer(304, b"")
                if self.path == "/moved?a=1":
                    return self.answer(302, b"", Location="/target/?b=2")
                return self.answer(200, f"<title>x</title><p>This is {self.path!r}".encode())

            def answer(self, status: int, body: bytes, **headers: str) -> None:
                self.send_response(status)
                for name, value in ({"ETag": ETAG, "Content-Type": "text/html"} | headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadedServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Spool:
    def __init__(self, site: Site, home: Path, run_sumi: RunSumi) -> None:
        self.site = site
        self.workspace = home / "workspace"
        self.folder = self.workspace / "spool" / "discoveries"
        self.folder.mkdir(parents=True)
        self._config = home / "crawl.yaml"
        self._run_sumi = run_sumi
        (self.workspace / "seeds.txt").write_text(f"{site.origin}/\n")
        self.configure()

    def configure(self, **sections: Any) -> None:
        settings = {
            "user_agent": "bot/1.0 (+https://example.org/bot)",
            "profile": "generic",
            "limits": {"req_per_sec": 1000},
        }
        self._config.write_text(yaml.safe_dump(settings | sections))

    def write(self, name: str, *lines: bytes | dict[str, Any], end: bytes = b"\n") -> None:
        texts = [line if isinstance(line, bytes) else msgspec.json.encode(line) for line in lines]
        with (self.folder / name).open("ab") as file:
            file.write(b"\n".join(texts) + end)

    def listed(self, target: str, **more: Any) -> dict[str, Any]:
        return {"url": self.site.origin + target, **more}

    def scrape(self, run_id: str = "one") -> FinishedSumi:
        return self._run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", run_id, "--json")

    def state(self) -> dict[str, Any]:
        shown = self._run_sumi("scrape", "status", "--config", "crawl.yaml", "--json")
        found: dict[str, Any] = msgspec.json.decode(shown.stdout)
        return found

    def rows(self, run_id: str = "one") -> list[dict[str, Any]]:
        with (self.workspace / f"logs/pages-{run_id}.csv").open(newline="") as file:
            found = list(csv.DictReader(file))
        return [row | {"metadata": msgspec.json.decode(row["metadata"])} for row in found]

    def archived(self, run_id: str = "one") -> list[str]:
        return sorted(row["url"].removeprefix(self.site.origin) for row in self.rows(run_id))


@pytest.fixture
def spool(tmp_path: Path, run_sumi: RunSumi) -> Iterator[Spool]:
    site = Site()
    yield Spool(site, tmp_path, run_sumi)
    site.stop()


def warnings(done: FinishedSumi) -> list[str]:
    return [event["message"] for event in done.events if event["event"] == "warning"]


TARGETS = (
    "/q", "/q?a=7", "/q?a=8", "/q?", "/q?a=7&b=", "/q?b=&a=7", "/d", "/d/", "/d//", "//d", "/%7Ex", "/~x",
    "/%7ex",
    "/a%2Fb", "/a%2fb", "/a/b", "/p;v=1", "/q?utm_source=x&ref=y", "/q?a=%20", "/q?a=+", "/caf%C3%A9",
)  # fmt: skip


@pytest.mark.parametrize("keep_query", [[], ["b"]])
def test_every_url_is_requested_and_stored_as_written(spool: Spool, keep_query: list[str]) -> None:
    spool.configure(scope={"keep_query": keep_query})
    spool.write("discoveries-1.jsonl", *map(spool.listed, TARGETS))
    done = spool.scrape()
    assert done.returncode == 0, done.stdout
    assert sorted(spool.site.asked) == sorted(TARGETS)
    assert spool.archived() == sorted(TARGETS)
    assert done.events[-1]["discovered"] == len(TARGETS)


def test_the_state_of_an_earlier_version_continues_with_urls_as_written(spool: Spool) -> None:
    spool.write("discoveries-1.jsonl", spool.listed("/a"))
    spool.scrape()

    async def as_it_was() -> None:
        store = FilesStore(spool.workspace / "state" / "scraper", FrontierPolicy(), 0.0)
        await store.put_note(PRESET_NOTE, "crawl (keeping b)")
        await store.aclose()

    asyncio.run(as_it_was())
    spool.write("discoveries-2.jsonl", spool.listed("/a"), spool.listed("/a?x=1"))
    done = spool.scrape("two")
    assert done.returncode == 0, done.stderr
    assert (sorted(spool.site.asked), spool.site.conditional) == (["/a", "/a", "/a?x=1"], ["/a"])


def test_a_redirect_leads_to_the_very_url_that_it_names(spool: Spool) -> None:
    spool.write("discoveries-1.jsonl", spool.listed("/moved?a=1"))
    spool.scrape()
    assert spool.site.asked == ["/moved?a=1", "/target/?b=2"]
    assert spool.archived() == ["/target/?b=2"]


def test_a_deny_pattern_applies_to_the_written_and_the_normalized_url(spool: Spool) -> None:
    spool.configure(scope={"deny_patterns": ["[?&]action=", "/secret$"], "allow_patterns": ["/[a-z]+$"]})
    spool.write("discoveries-1.jsonl", *map(spool.listed, ("/a/?x=1", "/a?action=x", "/secret/", "/B")))
    done = spool.scrape()
    assert spool.site.asked == ["/a/?x=1"]
    assert done.events[-1]["outcomes"] == {"captured": 1, "excluded": 3}


def test_files_are_read_in_order_and_when_they_appear_or_grow(spool: Spool) -> None:
    spool.write("discoveries-10.jsonl", spool.listed("/10"))
    spool.write("discoveries-9.jsonl", spool.listed("/9"))
    spool.write("discoveries-crawl a.jsonl", spool.listed("/a"))
    assert spool.scrape().returncode == 0
    assert spool.archived() == ["/10", "/9", "/a"]
    spool.write("discoveries-1.jsonl", spool.listed("/1"))
    spool.write("discoveries-9.jsonl", spool.listed("/more"), end=b"")
    assert spool.scrape("two").returncode == 0
    assert spool.archived("two") == ["/1", "/more"]
    assert spool.state()["state"] == "complete"


@pytest.mark.parametrize("name", ["discoveries.jsonl", "found.jsonl", "discoveries-1.json", "notes.txt"])
def test_a_file_that_is_not_read_is_named_and_the_run_is_not_complete(spool: Spool, name: str) -> None:
    spool.write("discoveries-1.jsonl", spool.listed("/a"))
    spool.write(name, spool.listed("/b"))
    for run_id in ("one", "two"):
        done = spool.scrape(run_id)
        assert (done.returncode, done.events[-1]["status"]) == (1, "partial")
        assert any(name in words for words in warnings(done))
        assert any(name in note for note in done.events[-1]["notes"])
    assert spool.state()["state"] == "partial"
    (spool.folder / name).unlink()
    assert spool.scrape("three").events[-1]["status"] == "complete"


BAD = {
    b"{": "it is not JSON",
    b'"text"': "it is not a JSON object",
    b'{"link": "x"}': "it has no url",
    b'{"url": 7}': "its url is not text",
    b'{"url": "\xff"}': "it is not UTF-8",
    b'{"url": "mailto:me@example.org"}': "its url cannot be requested as written",
    b'{"url": "/a"}': "its url cannot be requested as written",
    b'{"url": "http://me:SECRET@127.0.0.1/"}': "its url cannot be requested as written",
    b'{"url": "x", "metadata": ' + b"[" * 5000 + b"]" * 5000 + b"}": "it is nested too deeply",
    b'{"url": "' + b"x" * 1_100_000 + b'"}': "it is longer than 1 MiB",
}


def test_each_line_that_is_not_a_discovery_is_reported_and_counted(spool: Spool) -> None:
    spool.write("discoveries-1.jsonl", spool.listed("/first"), *BAD, b"", spool.listed("/last"))
    done = spool.scrape()
    assert (done.returncode, done.events[-1]["status"]) == (1, "partial")
    assert spool.archived() == ["/first", "/last"]
    expected = [f"discoveries-1.jsonl:{n}: passed over, {why}" for n, why in enumerate(BAD.values(), 2)]
    assert warnings(done) == expected
    assert done.events[-1]["unread"] == len(BAD)
    assert "SECRET" not in done.stdout + done.stderr
    again = spool.scrape("two")
    assert (again.events[-1]["status"], again.events[-1]["unread"]) == ("partial", len(BAD))
    assert spool.state()["state"] == "partial"
    (spool.folder / "discoveries-1.jsonl").unlink()
    assert spool.scrape("three").events[-1]["status"] == "complete"


def test_other_line_ends_and_byte_order_marks_are_read(spool: Spool) -> None:
    first, second = (msgspec.json.encode(spool.listed(target)) for target in ("/a", "/b"))
    spool.write("discoveries-1.jsonl", b"\xef\xbb\xbf" + first + b"\r", second + b"\r")
    spool.write("discoveries-2.jsonl", spool.listed("/c"), spool.listed("/d"), end=b"")
    spool.write("discoveries-3.jsonl", spool.listed("/e"), b'{"url": "http://127.0', end=b"")
    done = spool.scrape()
    assert spool.archived() == ["/a", "/b", "/c", "/d", "/e"]
    assert (done.events[-1]["status"], done.events[-1]["unread"]) == ("partial", 1)
    assert any("discoveries-3.jsonl:2" in note for note in done.events[-1]["notes"])
    spool.write("discoveries-3.jsonl", f'.0.1:{spool.site.origin.rpartition(":")[2]}/f"}}'.encode())
    assert spool.scrape("two").events[-1]["status"] == "complete"
    assert spool.archived("two") == ["/f"]


def test_metadata_of_a_discovery_are_in_the_row(spool: Spool) -> None:
    said = {
        "topic": "=1+1",
        "tags": ["a\n", {"deep": None}],
        "status_code": "odd",
        "big": 10**25,
        "bidi": "\u202e",
    }
    spool.write("discoveries-1.jsonl", spool.listed("/a", metadata=said | {"latency_ms": 3}, depth=2))
    spool.write(
        "discoveries-1.jsonl", spool.listed("/b", metadata="just text"), spool.listed("/c", depth="deep")
    )
    huge = {"first": 1, "huge": "x" * 100_000, "last": 2}
    spool.write("discoveries-1.jsonl", spool.listed("/d", metadata=huge))
    done = spool.scrape()
    assert done.returncode == 0, done.stdout
    rows = {row["url"].removeprefix(spool.site.origin): row for row in spool.rows()}
    assert (rows["/a"]["metadata"]["discovery"], rows["/a"]["depth"]) == (said, "2")
    assert rows["/b"]["metadata"]["discovery"] == "just text"
    assert "discovery" not in rows["/c"]["metadata"]
    assert rows["/d"]["metadata"]["discovery"] == {"first": 1, "last": 2}
    assert [words.partition(":")[2].partition(":")[0] for words in warnings(done)] == ["3", "4"]


def test_a_unified_run_reads_no_spool(spool: Spool, run_sumi: RunSumi) -> None:
    spool.configure(scope={"allowed_hosts": [spool.site.origin.removeprefix("http://")]})
    spool.write("discoveries-1.jsonl", spool.listed("/a", metadata={"topic": "ink"}))
    done = run_sumi("run", "--config", "crawl.yaml", "--unified", "--json")
    assert done.returncode == 0, done.stderr
    assert spool.site.asked == ["/"]
    lines = (spool.workspace / "metadata" / "crawl_metadata.jsonl").read_bytes().splitlines()
    assert ["discovery" in msgspec.json.decode(line)["metadata"] for line in lines] == [False]


def test_a_url_listed_twice_is_requested_once_with_merged_metadata(spool: Spool) -> None:
    spool.write("discoveries-1.jsonl", spool.listed("/a", metadata={"x": 1, "y": 1}), spool.listed("/b"))
    spool.write("discoveries-2.jsonl", spool.listed("/a", metadata={"y": 2}), spool.listed("/a#part"))
    assert spool.scrape().returncode == 0
    assert sorted(spool.site.asked) == ["/a", "/b"]
    assert spool.archived() == ["/a", "/b"]
    said = {row["url"]: row["metadata"].get("discovery") for row in spool.rows()}
    assert said[f"{spool.site.origin}/a"] == {"x": 1, "y": 2}
    assert spool.state()["files"]["unread"] == 0
    spool.write("discoveries-3.jsonl", spool.listed("/a", metadata={"z": 3}))
    assert spool.scrape("two").returncode == 0
    assert spool.site.conditional == ["/a"]
    (row,) = spool.rows("two")
    assert (row["http_status"], row["metadata"]["discovery"]) == ("304", {"x": 1, "y": 2, "z": 3})

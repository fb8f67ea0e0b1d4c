"""A small site that stops a run in its midst, so that it is under way for as long as a test wants.

Some of its pages are answered, then a request waits until the run has been paused by its flag file. Nothing
is held by that: how long the commands take that a test then starts beside the run makes no difference.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import yaml

from tests.threaded_server import ThreadedServer

LONGEST_SECONDS = 25.0  # less than a run waits for an answer
PAUSED = re.compile(r'"state": ?"paused"')


class HeldSite:
    """An index and the pages that it links to, under whatever name it is asked for. ``free``: how many of the
    pages are answered before the others have to wait."""

    def __init__(self, pages: int, free: int) -> None:
        self.paths = [f"/p{number}" for number in range(pages)]
        self.asked: list[str] = []
        self._free = free
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._gone = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer()

            def do_GET(self) -> None:
                self._answer()

            def _answer(self) -> None:
                site.asked.append(self.path)
                if site.has_to_wait(self.path):
                    site.wait()
                text = site.text(self.path)
                body = (text or "<h1>Not found</h1>").encode()
                self.send_response(404 if text is None else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadedServer(("127.0.0.1", 0), Handler)

    @property
    def port(self) -> int:
        return self.server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def home(self) -> str:
        return f"127.0.0.1_{self.port}"

    @property
    def urls(self) -> set[str]:
        return {self.url, *(self.url + path[1:] for path in self.paths)}

    @property
    def is_holding(self) -> bool:
        return bool(self._held)

    def let_go(self) -> None:
        """Everybody, from here on."""
        self._gone.set()

    def hold_again(self, free: int) -> None:
        with self._lock:
            self._free = free
            self._held.clear()
        self._gone.clear()

    def has_to_wait(self, path: str) -> bool:
        with self._lock:
            if path not in self.paths or self._gone.is_set():
                return False
            self._free -= 1
            if self._free >= 0:
                return False
            self._held.add(path)
            return True

    def wait(self) -> None:
        self._gone.wait(LONGEST_SECONDS)

    def text(self, path: str) -> str | None:
        if path == "/":
            links = "".join(f'<p><a href="{each}">a page</a>' for each in self.paths)
            return f"<html lang=en><title>Index</title><main><h1>Index</h1>{links}</main>"
        if path in self.paths:
            words = f"Words of {path}, and more of them than of any other page: {path * 3}."
            return f"<html lang=en><title>{path}</title><main><h1>Page {path}</h1><p>{words}</main>"
        return None


@contextmanager
def held_site(pages: int = 6, free: int = 2) -> Iterator[HeldSite]:
    site = HeldSite(pages, free)
    threading.Thread(target=site.server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield site
    finally:
        site.let_go()
        site.server.shutdown()
        site.server.server_close()


def pause(site: HeldSite, flag: Callable[[], Path], said: Path, ended: Callable[[], bool]) -> str:
    """Once the site has answered as many pages as it was to; why it did not come to that, or nothing.
    ``flag``: the file that pauses the run; ``said``: its events."""
    deadline = time.monotonic() + 120
    is_flagged = False
    while not PAUSED.search(said.read_text()):
        if ended() or time.monotonic() > deadline:
            return f"the run could not be paused: {said.read_text()}"
        if site.is_holding and not is_flagged:
            flag().touch()
            is_flagged = True
        time.sleep(0.01)  # waits for another process
    site.let_go()
    return ""


def archive_of(site: HeldSite, path: Path) -> Path:
    """A WARC file with all of its pages, for commands that need no network."""
    records = []
    for url_path in ("/", *site.paths):
        body = (site.text(url_path) or "").encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        block = head.encode() + body
        names = f"WARC-Type: response\r\nWARC-Target-URI: {site.url}{url_path[1:]}\r\n"
        about = "WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\n"
        length = f"Content-Length: {len(block)}\r\n\r\n"
        records.append(f"WARC/1.1\r\n{names}{about}{length}".encode() + block + b"\r\n\r\n")
    path.write_bytes(b"".join(records))
    return path


def crawl_config(folder: Path, site: HeldSite, **sections: object) -> Path:
    """Of a crawl of the site, one page at a time, in ``workspace`` beside it."""
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "seeds.txt").write_text(f"http://site.test:{site.port}/\n")
    settings: dict[str, object] = {
        "profile": "generic",
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "scope": {"allowed_hosts": [f"site.test:{site.port}"]},
        "limits": {"req_per_sec": 10_000, "global_concurrency": 1},
        "network": {"allow_private": True, "resolve": [f"site.test:{site.port}:127.0.0.1"]},
    }
    path = folder / "crawl.yaml"
    path.write_text(yaml.safe_dump(settings | sections))
    return path


def map_config(folder: Path, site: HeldSite) -> Path:
    """Of a map of the site, one page at a time, in ``map.db`` beside it."""
    lines = [
        "[crawler]",
        "max-depth = 2",
        "minimum-time-on-page = 100",
        "max-concurrent-pages-open = 1",
        "[output]",
        f'database-path = "{folder / "map.db"}"',
        f'summary-path = "{folder / "map.md"}"',
        "[user-agent]",
        'crawler-name = "Mapper"',
        'contact-email = "me@example.org"',
        "[http]",
        "allow-http = true",
        f'resolve = ["site.test:{site.port}:127.0.0.1"]',
        "[[quality]]",
        'domain = "site.test"',
        f'seeds = ["http://site.test:{site.port}/"]',
    ]
    path = folder / "web.toml"
    path.write_text("\n".join(lines) + "\n")
    return path

"""A plain site on loopback for ``sumi run``: an index, pages, dead links, and a log of requests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import yaml

from tests.threaded_server import ThreadedServer

LIMITS = {
    "req_per_sec": 200,
    "global_concurrency": 4,
    "per_host_concurrency": 4,
    "max_retries": 2,
    "backoff_base_ms": 50,
    "backoff_cap_ms": 200,
}


class PlainSite:
    def __init__(self, pages: int, dead: int, delay: float) -> None:
        self.paths = [f"/p{number}" for number in range(pages)]
        self.delay = delay  # before each answer to a page
        self.asked: list[tuple[float, str]] = []  # when and for what, robots.txt included
        links = [*self.paths, *(f"/dead{number}" for number in range(dead))]
        self.index = "".join(f'<p><a href="{path}">a page</a>' for path in links)
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append((time.monotonic(), self.path))
                if self.path != "/robots.txt":
                    threading.Event().wait(site.delay)
                text = site.text(self.path)
                body = (text or "<h1>Not found</h1>").encode()
                self.send_response(200 if text is not None else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadedServer(("127.0.0.1", 0), Handler)

    def text(self, path: str) -> str | None:
        if path == "/":
            return f"<title>Index</title><main><h1>Index</h1>{self.index}</main>"
        if path in self.paths:
            return f"<title>{path}</title><main><h1>Page {path}</h1><p>Words of {path}.</main>"
        return None

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    def pages_asked(self) -> set[str]:
        return {self.url + path for _, path in [*self.asked] if path in ("/", *self.paths)}


@contextmanager
def plain_site(pages: int = 6, dead: int = 0, delay: float = 0.0) -> Iterator[PlainSite]:
    site = PlainSite(pages, dead, delay)
    site.server.daemon_threads = True
    threading.Thread(target=site.server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()


def configured_crawl(folder: Path, site: PlainSite, **sections: Any) -> Path:
    """``crawl.yaml`` and its workspace. A seed that is a literal loopback address, and nothing else that
    would open it."""
    (folder / "workspace").mkdir()
    (folder / "workspace" / "seeds.txt").write_text(f"{site.url}/\n")
    settings: dict[str, Any] = {
        "user_agent": "bot/1.0 (+https://example.org/bot)",
        "profile": "generic",
        "scope": {"allowed_hosts": [site.authority]},
        "limits": LIMITS,
    }
    config = folder / "crawl.yaml"
    config.write_text(yaml.safe_dump(settings | sections))
    return config

"""The demo site, served on this machine only, from memory: no request can reach a file."""

import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple
from urllib.parse import urlsplit

_TEMPLATES = {
    "/robots.txt",
    "/sitemap.xml",
}  # these name the site's own address, known only once it is served


class Site(NamedTuple):
    bodies: dict[str, bytes]  # by path
    redirects: dict[str, str]


def load_site(folder: Traversable, origin: str) -> Site:
    bodies: dict[str, bytes] = {}
    redirects: dict[str, str] = {}
    for path, file in _walk(folder, "/"):
        body = file.read_bytes()
        if path == "/_redirects":
            redirects = _parse_redirects(body.decode())
            continue
        if path in _TEMPLATES:
            body = body.replace(b"{origin}", origin.encode())
        bodies[path] = body
        if path.endswith("/index.html"):
            bodies[path.removesuffix("index.html")] = body
    return Site(bodies, redirects)


class _Server(ThreadingHTTPServer):
    # A mirror opens more connections at once than the five that may wait by default. One that is turned away
    # tries again after a second.
    request_queue_size = 128


@contextmanager
def serving(folder: Traversable | None = None) -> Iterator[str]:
    """Serve the packaged site on a free loopback port while the block runs; yields its origin."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        site = load_site(folder if folder is not None else files("sumi.demo_site"), origin)
        server.RequestHandlerClass = type("SiteHandler", (_Handler,), {"site": site})
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield origin
        finally:
            server.shutdown()
            thread.join()


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith("__"):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _parse_redirects(text: str) -> dict[str, str]:
    rows = (line.split() for line in text.splitlines())
    return {row[0]: row[1] for row in rows if len(row) >= 2 and not row[0].startswith("#")}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    site: Site = Site({}, {})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        target = self.site.redirects.get(path)
        if target is None and f"{path}/" in self.site.bodies:
            target = f"{path}/"
        if target is not None:
            self._answer(HTTPStatus.MOVED_PERMANENTLY, b"", {"Location": target})
        elif path in self.site.bodies:
            self._answer(HTTPStatus.OK, self.site.bodies[path], {"Content-Type": _content_type(path)})
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"<h1>Not found</h1>", {"Content-Type": "text/html"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The crawl reports for itself."""


def _content_type(path: str) -> str:
    name = "index.html" if path.endswith("/") else path
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_text = guessed.startswith("text/") or guessed.endswith("xml")
    return f"{guessed}; charset=utf-8" if is_text else guessed

"""Several domains on one loopback port, over TLS or not, and a map's configuration for them."""

import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

import trustme

from tests.threaded_server import ThreadedServer


class Page(NamedTuple):
    links: tuple[str, ...] = ()  # "host/path", or a path on the same host
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html"
    refuses_head: bool = False
    body: str | None = None  # instead of a page with those links


class Asked(NamedTuple):
    method: str
    address: str  # host and path
    headers: dict[str, str]
    body: bytes = b""
    at: float = 0.0  # noted before the answer goes out, so that nobody who waits for it is early by our clock


@dataclass
class Web:
    """``pages`` are by "host/path", and may change while it runs."""

    pages: dict[str, Page]
    scheme: str
    port: int = 0
    ca_file: Path | None = None
    log: list[Asked] = field(default_factory=list)
    held: set[str] = field(default_factory=set)  # addresses that are not answered while they are in here

    def url(self, address: str) -> str:
        host, _, path = address.partition("/")
        return f"{self.scheme}://{host}:{self.port}/{path}"

    def address(self, url: str) -> str:
        return url.removeprefix(f"{self.scheme}://").replace(f":{self.port}", "", 1)

    def asked(self, address: str) -> list[str]:
        return [asked.method for asked in self.log if asked.address == address]

    def config(self, folder: Path, quality: Mapping[str, str], extra: str = "", **crawler: int) -> Path:
        """``quality``: domains and the seed of each. Delays are as short as allowed."""
        hosts = sorted({address.partition("/")[0] for address in self.pages})
        values = {"max-depth": 2, "minimum-time-on-page": 100} | {
            name.replace("_", "-"): value for name, value in crawler.items()
        }
        lines = ["[crawler]", *(f"{name} = {value}" for name, value in values.items())]
        lines += ["[user-agent]", 'crawler-name = "Mapper"', 'contact-email = "me@example.org"', "[http]"]
        if self.ca_file is not None:
            lines.append(f'ca-file = "{self.ca_file}"')
        else:
            lines.append("allow-http = true")
        lines.append(f"resolve = {[f'{host}:{self.port}:127.0.0.1' for host in hosts]}")
        for domain, seed in quality.items():
            lines += ["[[quality]]", f'domain = "{domain}"', f'seeds = ["{self.url(seed)}"]']
        path = folder / "web.toml"
        path.write_text("\n".join(lines) + "\n" + extra)
        return path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        web = self.server.web
        address = self.headers.get("host", "").partition(":")[0] + self.path
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        web.log.append(Asked(self.command, address, headers, body, time.monotonic()))
        while address in web.held:
            time.sleep(0.01)
        page = web.pages.get(address, Page(status=404))
        status = 405 if page.refuses_head and self.command == "HEAD" else page.status
        if ("ETag", headers.get("if-none-match")) in page.headers:
            status = 304
        self._send(status, page, _html(web, address, page))

    def _send(self, status: int, page: Page, content: bytes) -> None:
        self.send_response(status)
        for name, value in page.headers:
            self.send_header(name, value)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", "0" if status == 304 else str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
        """Kept in ``Web.log``."""


def _html(web: Web, address: str, page: Page) -> bytes:
    if page.body is not None:
        return page.body.encode()
    links = "".join(
        f'<a href="{link if link.startswith("/") else web.url(link)}">x</a>' for link in page.links
    )
    return f"<html><head><title>{address}</title></head><body>{links}</body></html>".encode()


class _Server(ThreadedServer):
    web: Web


@contextmanager
def running_web(pages: dict[str, Page], folder: Path, *, tls: bool = True) -> Iterator[Web]:
    server = _Server(("127.0.0.1", 0), _Handler)
    web = server.web = Web(pages, "https" if tls else "http", server.server_address[1])
    if tls:
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*{address.partition("/")[0] for address in pages}).configure_cert(context)
        web.ca_file = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(web.ca_file))
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def wait_for_more(web: Web, count: int) -> None:
    enough = len(web.log) + count
    deadline = time.monotonic() + 60
    while len(web.log) < enough:
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.01)  # waits for another process, which no injected clock can hurry

"""A computed web of many hosts on one port, with a log of every request: names are pinned to loopback."""

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple

from tests.threaded_server import ThreadedServer


class Asked(NamedTuple):
    host: str
    path: str
    began: float
    ended: float


class ManyHosts:
    """Every page links to the next one of its host and to the same one of the next host."""

    def __init__(self, hosts: int, pages: int, seconds: float = 0.0) -> None:
        self.names = [f"h{number}.web.test" for number in range(hosts)]
        self.pages = pages
        self.seconds = seconds  # that an answer takes
        self.log: list[Asked] = []
        self.port = 0
        self.lock = threading.Lock()

    @property
    def start(self) -> str:
        return f"http://{self.names[0]}:{self.port}/"

    def options(self) -> list[str]:
        """Of a mirror of all hosts, without a pause."""
        pins = [word for name in self.names for word in ("--resolve", f"{name}:{self.port}:127.0.0.1")]
        return ["--hosts", f"*.web.test:{self.port}", "--allow-private", *pins]

    def body(self, host: str, number: int) -> str:
        here = self.names.index(host)
        neighbour = self.names[(here + 1) % len(self.names)]
        links = [f"http://{neighbour}:{self.port}/{number or ''}"]
        if number + 1 < self.pages:
            links.append(f"/{number + 1}")
        listed = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        words = f"This is page {number} of {host}. " * 20
        main = f"<main><h1>{host} {number}</h1><p>{words}</p><ul>{listed}</ul></main>"
        return f"<html><head><title>{host} {number}</title></head><body>{main}</body></html>"

    def pages_asked(self) -> dict[str, int]:
        found: dict[str, int] = defaultdict(int)
        for asked in self.log:
            if (asked.path.removeprefix("/") or "0").isdigit():
                found[asked.host + asked.path] += 1
        return found

    def by_host(self) -> dict[str, list[Asked]]:
        found: dict[str, list[Asked]] = defaultdict(list)
        for asked in sorted(self.log, key=lambda each: each.began):
            found[asked.host].append(asked)
        return found

    def require_polite(self, pause: float) -> None:
        """Never two requests at once to a host, and never a gap shorter than its pause."""
        for host, asked in self.by_host().items():
            for before, after in itertools.pairwise(asked):
                assert after.began >= before.ended, f"{host}: {before} and {after} at once"
                assert after.began - before.began >= pause, f"{host}: {before} and {after} too near"


@contextmanager
def many_hosts(hosts: int, pages: int, seconds: float = 0.0) -> Iterator[ManyHosts]:
    web = ManyHosts(hosts, pages, seconds)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            began = time.monotonic()
            host = self.headers.get("Host", "").partition(":")[0]
            name = self.path.removeprefix("/") or "0"
            known = host in web.names and name.isdigit() and int(name) < web.pages
            body = web.body(host, int(name)).encode() if known else b"no"
            if web.seconds:
                time.sleep(web.seconds)  # an answer that takes its time, as sites' do
            with web.lock:
                web.log.append(Asked(host, self.path, began, time.monotonic()))
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadedServer(("127.0.0.1", 0), Handler)
    web.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

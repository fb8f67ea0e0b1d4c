"""A site whose pages a test writes, changes and removes: a folder behind a real server that answers 304."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

from tests.threaded_server import ThreadedServer


class Answered(NamedTuple):
    path: str
    status: int


class FolderSite:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[Answered] = []
        self.received: list[dict[str, str]] = []  # the header fields of each request
        self.times: list[float] = []  # when each was received
        self.moved: dict[str, str] = {}  # path to Location
        self.bodies: dict[str, bytes] = {}  # path, as requested, to what is sent as if of no known type
        self.headers: dict[str, dict[str, str]] = {}  # path to further header fields
        self.broken: set[str] = set()  # paths that are answered with 503
        self.negotiated: dict[str, bytes] = {}  # path to what is sent to those who would rather have Markdown
        self._server: ThreadedServer | None = None
        self._clock = 1_700_000_000

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}/"

    @property
    def home(self) -> str:
        return self.url.removeprefix("http://").rstrip("/").replace(":", "_")

    def write(self, name: str, text: str, title: str = "") -> None:
        """A page of its own; each writing is a little later than the one before."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"<html lang=en><title>{title or name}</title><body><main><h1>{title or name}</h1>"
        path.write_text(text if name.endswith((".xml", ".txt")) else f"{head}{text}</main>")
        self._clock += 1
        os.utime(path, (self._clock, self._clock))

    def put(self, name: str, content: bytes) -> None:
        """A file as it is."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._clock += 1
        os.utime(path, (self._clock, self._clock))

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def stop(self) -> None:
        """Nobody answers any more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def start(self) -> None:
        site = self

        class Handler(SimpleHTTPRequestHandler):
            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                site.answers.append(Answered(self.path, int(code)))
                site.times.append(time.monotonic())
                site.received.append({name.lower(): value for name, value in self.headers.items()})

            def log_message(self, *_: object) -> None:
                pass

            def end_headers(self) -> None:
                for name, value in site.headers.get(self.path, {}).items():
                    self.send_header(name, value)
                if site.negotiated:
                    self.send_header("Vary", "Accept")
                super().end_headers()

            def do_GET(self) -> None:
                if self.path in site.negotiated and "text/markdown" in self.headers.get("Accept", ""):
                    self.send_response(200)
                    self.send_header("Content-Type", "text/markdown; charset=utf-8")
                    self.send_header("Content-Length", str(len(site.negotiated[self.path])))
                    self.end_headers()
                    self.wfile.write(site.negotiated[self.path])
                    return
                if self.path in site.broken:
                    self.send_error(503)
                    return
                if self.path in site.moved:
                    self.send_response(301)
                    self.send_header("Location", site.moved[self.path])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                if self.path in site.bodies:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(site.bodies[self.path])))
                    self.end_headers()
                    self.wfile.write(site.bodies[self.path])
                    return
                super().do_GET()

        handler = partial(Handler, directory=str(self.folder))
        self._server = ThreadedServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()


@contextmanager
def folder_site(folder: Path) -> Iterator[FolderSite]:
    folder.mkdir()
    site = FolderSite(folder)
    site.start()
    try:
        yield site
    finally:
        site.stop()

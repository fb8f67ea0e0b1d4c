"""A real server that notifications are sent to."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

import msgspec

from tests.threaded_server import ThreadedServer


class Posted(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Hook:
    """A server for notifications. It answers with these statuses in turn, then with 200."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.posts: list[Posted] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.posts.append(Posted(self.path, dict(self.headers), body))
                self.send_response(hook._statuses.pop(0) if hook._statuses else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadedServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook?key=abc"

    @contextmanager
    def serving(self) -> Iterator["Hook"]:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    @property
    def told(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(post.body) for post in self.posts]

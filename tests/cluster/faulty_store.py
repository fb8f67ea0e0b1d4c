"""Before an S3 server: answers that it is busy or full, holds what is written back, or loses the answer."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.object_stores import ObjectServer
from tests.threaded_server import ThreadedServer

_REFUSALS = {"busy": (503, "SlowDown"), "full": (507, "InsufficientStorage")}


class FaultyStore:
    def __init__(self) -> None:
        self.port = 0
        self.fault = ""  # busy, full, slow (held until released) or cut; of writes only
        self.released = threading.Event()
        self.struck = threading.Event()

    def environ(self, server: ObjectServer) -> dict[str, str]:
        return {**server.environ, "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.port}"}


@contextmanager
def faulty(server: ObjectServer) -> Iterator[FaultyStore]:
    store = FaultyStore()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fault = store.fault
            if fault:
                store.struck.set()
            if fault in _REFUSALS:
                status, code = _REFUSALS[fault]
                self._answer(status, f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode(), [])
                return
            if fault == "slow":
                store.released.wait()
            answer = self._passed_on(body)
            if fault == "cut":
                self.close_connection = True
                return
            self._answer(*answer)

        def do_GET(self) -> None:
            self._answer(*self._passed_on(b""))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def _passed_on(self, body: bytes) -> tuple[int, bytes, list[tuple[str, str]]]:
            line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            try:
                line.request(self.command, self.path, body or None, dict(self.headers.items()))
                answer = line.getresponse()
                return answer.status, answer.read(), answer.getheaders()
            finally:
                line.close()

        def _answer(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
            self.send_response(status)
            dropped = {"transfer-encoding", "connection", "date", "server"}
            dropped |= set() if self.command == "HEAD" else {"content-length"}
            for name, value in headers:
                if name.lower() not in dropped:
                    self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if self.command != "HEAD" else b"")

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadedServer(("127.0.0.1", 0), Handler) as web:
        store.port = web.server_port
        thread = threading.Thread(target=web.serve_forever, daemon=True)
        thread.start()
        try:
            yield store
        finally:
            store.released.set()
            web.shutdown()
            thread.join()

"""Contradicting answers of a server fail those pages, with a reason, and no others."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.commands import RunSumi

PAGE = b"<title>A page</title><h1>A page</h1><p>All of this sentence has to arrive.</p>"
SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)
BAD: dict[str, bytes] = {
    "/empty": SIZED % 0 + PAGE,
    "/short": SIZED % 20 + PAGE,
    "/both": CHUNKED + b"Content-Length: %d\r\n\r\n" % len(PAGE) + CHUNKS,
    "/split": SIZED % len(PAGE) + PAGE + SIZED % 4 + b"evil",
    "/behind": CHUNKED + b"\r\n" + CHUNKS + SIZED % 4 + b"evil",
}
GOOD = {f"/good{number}": SIZED % len(PAGE) + PAGE for number in range(5)}
LINKS = b"".join(b'<p><a href="%s">a page</a></p>' % path.encode() for path in (*BAD, *GOOD))
START = b"<title>Start</title><h1>Start</h1>" + LINKS
ANSWERS = {"/": SIZED % len(START) + START, **BAD, **GOOD}
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while line := self.rfile.readline():
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            self.wfile.write(ANSWERS.get(line.split()[1].decode(), NOT_FOUND))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def contradicting_site() -> Iterator[str]:
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def test_they_fail_with_a_reason_and_other_pages_are_whole(run_sumi: RunSumi, tmp_path: Path) -> None:
    with contradicting_site() as url:
        finished = run_sumi("mirror", url, "-o", "out", "--rate-limit", "0", "--retries", "0", "--json")
    assert finished.returncode == 1, finished.stderr
    outcomes = next(event["outcomes"] for event in reversed(finished.events) if "outcomes" in event)
    assert outcomes["bad_http"] == len(BAD)
    assert outcomes["captured"] + outcomes.get("duplicate", 0) == 1 + len(GOOD)
    written = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.md"))
    assert "All of this sentence has to arrive." in written
    assert "evil" not in written

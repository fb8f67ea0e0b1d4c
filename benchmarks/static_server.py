"""``python -m benchmarks.static_server FOLDER PORT``: files from memory, as fast as one Python process can.

Answers GET over keep-alive connections, with pages in gzip where the client takes it. Only for loopback.
"""

import sys
from pathlib import Path

import uvloop

from benchmarks.answering import answer_for_ever

TYPES = {".html": "text/html; charset=utf-8", ".xml": "application/xml", ".txt": "text/plain"}
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Files:
    """Complete responses by path, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._ready: dict[tuple[str, bool], bytes] = {}

    def response(self, path: str, request: bytes) -> bytes:
        gzipped = b"gzip" in request.lower()
        key = (path, gzipped)
        if key not in self._ready:
            self._ready[key] = self._compose(path, gzipped)
        return self._ready[key]

    def _compose(self, path: str, gzipped: bool) -> bytes:
        plain = (self._root / (path.lstrip("/") or "index.html")).resolve()
        if not plain.is_relative_to(self._root) or not plain.is_file():
            return NOT_FOUND
        packed = plain.with_name(plain.name + ".gz")
        use_packed = gzipped and packed.is_file()
        body = (packed if use_packed else plain).read_bytes()
        coding = "Content-Encoding: gzip\r\n" if use_packed else ""
        kind = TYPES.get(plain.suffix, "application/octet-stream")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{coding}Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


if __name__ == "__main__":
    uvloop.run(answer_for_ever(Files(Path(sys.argv[1])).response, int(sys.argv[2])))

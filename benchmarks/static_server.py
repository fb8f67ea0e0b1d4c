"""``python -m benchmarks.static_server FOLDER PORT``: files from memory, as fast as one Python process can.

Answers GET over keep-alive connections, with pages in gzip where the client takes it. Only for loopback.
"""

import asyncio
import sys
from pathlib import Path

import uvloop

TYPES = {".html": "text/html; charset=utf-8", ".xml": "application/xml", ".txt": "text/plain"}
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Files:
    """Complete responses by path, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._ready: dict[tuple[str, bool], bytes] = {}

    def response(self, path: str, gzipped: bool) -> bytes:
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


class Connection(asyncio.Protocol):
    def __init__(self, files: Files) -> None:
        self._files = files
        self._pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._pending = (self._pending + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1].split(b"?")[0].decode("latin-1")
            self._transport.write(self._files.response(path, b"gzip" in request.lower()))  # type: ignore[attr-defined]


async def serve(folder: Path, port: int) -> None:
    files = Files(folder)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(files), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), int(sys.argv[2])))

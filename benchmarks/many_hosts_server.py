"""``python -m benchmarks.many_hosts_server LOG HOSTS``: any number of endless sites on one loopback port.

``hub.test`` links to the front page of every host, each page of a host to the next few. Every request is
noted with the time of its arrival; the log is written when standard input closes. The first line of output is
the port, the second comes when every host has been asked for something.
"""

import asyncio
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import uvloop

WORDS = "<p>A paragraph of some length, so that there is something to convert and to write.</p>" * 10
HEAD = "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\r\n"


class Sites:
    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self.arrivals: list[tuple[float, str, str]] = []
        self._unasked = {f"h{n}.test" for n in range(hosts)}

    def answer(self, host: str, path: str) -> bytes:
        self._note(time.monotonic(), host.partition(":")[0], path)
        if path == "/" and host.startswith("hub."):
            port = host.partition(":")[2]
            return _page(f"http://h{n}.test:{port}/" for n in range(self._hosts))
        if path == "/" or path[1:].isdecimal():
            number = int(path[1:] or 0)
            return _page(f"/{number + step}" for step in range(1, 5))
        return HEAD.format(status="404 Not Found", length=0).encode()

    def _note(self, now: float, name: str, path: str) -> None:
        self.arrivals.append((now, name, path))
        if name in self._unasked:
            self._unasked.remove(name)
            if not self._unasked:
                print("every host was asked", flush=True)


def _page(links: Iterable[str]) -> bytes:
    anchors = "".join(f'<a href="{link}">Page</a> ' for link in links)
    body = f"<!DOCTYPE html><title>Page</title><main><h1>Page</h1>{WORDS}<p>{anchors}</p></main>".encode()
    return HEAD.format(status="200 OK", length=len(body)).encode() + body


class Connection(asyncio.Protocol):
    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._pending = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._pending = (self._pending + data).split(b"\r\n\r\n")
        for request in requests:
            lines = request.decode("latin-1").split("\r\n")
            host = next(line[5:].strip() for line in lines[1:] if line.lower().startswith("host:"))
            self._transport.write(self._sites.answer(host, lines[0].split(" ")[1]))


async def serve(log: Path, hosts: int) -> None:
    loop = asyncio.get_running_loop()
    sites, over = Sites(hosts), asyncio.Event()
    server = await loop.create_server(lambda: Connection(sites), "127.0.0.1", 0, backlog=4096)
    loop.add_reader(sys.stdin.fileno(), over.set)
    print(server.sockets[0].getsockname()[1], flush=True)
    await over.wait()
    log.write_text("".join(f"{at:.6f} {host} {path}\n" for at, host, path in sites.arrivals))


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), int(sys.argv[2])))

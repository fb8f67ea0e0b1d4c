"""The hostile website as a process of its own: ``python -m tests.site.server --port-file F --log F``.

Hand-written HTTP/1.1 on the bare transport, because most of what it says no HTTP library would agree to send.
"""

import argparse
import asyncio
import os
import signal
import socket
import ssl
import struct
import sys
import time
from collections.abc import Coroutine
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec
import trustme
import uvloop

from tests.site.content import Content, RobotsPreset, SiteOptions
from tests.site.log import LoggedRequest, RequestLog
from tests.site.sitemaps import SitemapPreset
from tests.site.wire import Asked, Pause, Reply, Reset, Script, Stall, Step, page

MAX_REQUEST_HEAD = 64 * 1024
MAX_REQUEST_BODY = 1024 * 1024
NAMES = ("127.0.0.1", "localhost", "*.test", "github.com")


class Ports(msgspec.Struct, frozen=True):
    http: int
    https: int | None = None


class Connection(asyncio.Protocol):
    """One request at a time; what comes early waits in the buffer."""

    _numbers = count(1)

    def __init__(self, content: Content, log: RequestLog, *, tls: bool) -> None:
        self._content = content
        self._log = log
        self._tls = tls
        self._number = next(self._numbers)
        self._buffer = bytearray()
        self._transport: asyncio.Transport
        self._busy = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._play: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._play is not None:
            self._play.cancel()
        if self._timer is not None:
            self._timer.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        while not self._busy and not self._transport.is_closing():
            asked = self._take()
            if asked is None:
                return
            self._answer(asked, time.monotonic(), time.time())

    def _take(self) -> Asked | None:
        """The next request, once all of it is here."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_REQUEST_HEAD:
                self._refuse(431)
            return None
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        headers = dict(_field(line) for line in lines[1:])
        length = headers.get("content-length", "0")
        if len(words) != 3 or not length.isdecimal() or int(length) > MAX_REQUEST_BODY:
            self._refuse(400)
            return None
        whole = end + 4 + int(length)
        if len(self._buffer) < whole:
            return None
        del self._buffer[:whole]
        return Asked(words[0], words[1], headers, self._tls)

    def _refuse(self, status: int) -> None:
        self._transport.write(Reply(status, page("Bad request")).encode())
        self._transport.close()

    def _answer(self, asked: Asked, monotonic: float, wall: float) -> None:
        answer = self._content.answer(asked)
        if isinstance(answer, Reply):
            reply = _conditional(asked, answer)
            self._record(asked, monotonic, wall, reply.status)
            self._send(asked, reply)
            return
        first = next(answer, b"")
        self._record(asked, monotonic, wall, _status_of(first))
        self._busy = True
        self._play = asyncio.get_running_loop().create_task(self._perform(first, answer))

    def _record(self, asked: Asked, monotonic: float, wall: float, status: int) -> None:
        agent = asked.headers.get("user-agent", "")
        words = (asked.method, asked.target, asked.host, status, agent)
        self._log.write(LoggedRequest(monotonic, wall, *words, connection=self._number, tls=self._tls))

    def _send(self, asked: Asked, reply: Reply) -> None:
        closing = asked.headers.get("connection", "").lower() == "close"
        delay = self._content.options.delay_ms
        if not delay:
            self._finish(reply.encode(asked.method), closing=closing)
            return
        self._busy = True
        self._timer = asyncio.get_running_loop().call_later(
            delay / 1000, lambda: self._finish(reply.encode(asked.method), closing=closing)
        )

    def _finish(self, data: bytes, *, closing: bool) -> None:
        self._transport.write(data)
        if closing:
            self._transport.close()
        if self._busy:
            self._busy = False
            self._advance()

    async def _perform(self, first: Step, script: Script) -> None:
        await self._take_step(first)
        for step in script:
            if self._transport.is_closing():
                return
            await self._take_step(step)
        self._transport.close()

    async def _take_step(self, step: Step) -> None:
        match step:
            case bytes():
                self._transport.write(step)
                await self._writable.wait()
            case Pause():
                await asyncio.sleep(step.seconds)
            case Stall():
                await asyncio.Event().wait()
            case Reset():
                self._reset()

    def _reset(self) -> None:
        """With lingering off, the kernel says RST instead of FIN."""
        channel: socket.socket = self._transport.get_extra_info("socket")
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _conditional(asked: Asked, reply: Reply) -> Reply:
    wanted = asked.headers.get("if-none-match")
    if wanted and reply.status == 200 and ("ETag", wanted) in reply.headers:
        return Reply(304, headers=reply.headers, content_type=None)
    return reply


def _status_of(first: Step) -> int:
    words = first[:16].split(b" ") if isinstance(first, bytes) and first.startswith(b"HTTP/") else []
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def tls_context(folder: Path) -> ssl.SSLContext:
    """A certificate of an authority made for the occasion, which is left in the folder as ``ca.pem``."""
    authority = trustme.CA()
    certificate = authority.issue_cert(*NAMES)
    folder.mkdir(parents=True, exist_ok=True)
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def serve(arguments: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if arguments.stop_with_stdin:
        loop.add_reader(sys.stdin.fileno(), stopped.set)
    content, log = Content(_options(arguments)), RequestLog(arguments.log)
    plain = await listen(content, log, None)
    ports = Ports(_port(plain))
    if arguments.tls_dir is not None:
        secure = await listen(content, log, tls_context(arguments.tls_dir))
        ports = Ports(ports.http, _port(secure))
    announce(ports, arguments.port_file)
    await stopped.wait()


async def listen(content: Content, log: RequestLog, context: ssl.SSLContext | None) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    return await loop.create_server(
        lambda: Connection(content, log, tls=context is not None), "127.0.0.1", 0, ssl=context, backlog=1024
    )


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


def announce(ports: Ports, port_file: Path) -> None:
    """Whoever reads the file or the first line of output finds all of it, with the server listening."""
    text = msgspec.json.encode(ports)
    draft = port_file.with_name(port_file.name + ".tmp")
    draft.write_bytes(text)
    os.replace(draft, port_file)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def _options(arguments: argparse.Namespace) -> SiteOptions:
    return SiteOptions(
        pages=arguments.pages,
        seed=arguments.seed,
        body_size=arguments.body_size,
        sitemap=arguments.sitemap,
        robots=arguments.robots,
        delay_ms=arguments.delay_ms,
        github=arguments.github,
    )


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.site.server", description="Serve the hostile website.")
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--body-size", type=int, default=4096, help="bytes of a page, about")
    parser.add_argument("--port-file", type=Path, required=True, help="gets the ports as JSON")
    parser.add_argument("--log", type=Path, required=True, help="gets a JSON line for every request")
    parser.add_argument("--tls-dir", type=Path, help="serve HTTPS too; gets ca.pem")
    parser.add_argument("--delay-ms", type=int, default=0, help="before every answer of the ordinary site")
    parser.add_argument("--github", type=int, default=0, help="repositories of a simulated GitHub")
    parser.add_argument("--robots", default="default", help=f"a file, or one of {', '.join(RobotsPreset)}")
    parser.add_argument("--sitemap", type=SitemapPreset, default="index", help=", ".join(SitemapPreset))
    parser.add_argument("--stop-with-stdin", action="store_true", help="stop when standard input closes")
    return parser.parse_args(words)


def run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)


if __name__ == "__main__":
    run(serve(parse_arguments()))

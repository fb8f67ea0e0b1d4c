"""A small forward proxy: CONNECT, absolute-form requests and SOCKS5, with a record of its requests."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

TUNNEL_OPEN = b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n"
NEEDS_PASSWORD = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


class ProxyServer:
    """``password``: ``user:password`` that it insists on. ``refuses``: it answers every request so."""

    def __init__(self, password: str | None, refuses: bytes | None) -> None:
        self._password = password
        self._refuses = refuses
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.heads: list[bytes] = []  # of requests for tunnels and pages
        self.targets: list[str] = []  # what it was asked to connect to

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                first = await reader.readexactly(1)
                await (self._socks if first == b"\x05" else self._http)(first, reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _http(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = first + await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        refusal = self._refuses or (None if self._is_welcome(head) else NEEDS_PASSWORD)
        if refusal is not None:
            writer.write(refusal)
            return
        if method == "CONNECT":
            await self._tunnel(target, TUNNEL_OPEN, reader, writer)
            return
        self.targets.append(target)
        body = b"by proxy"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    async def _socks(self, _first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        assert b"\x00" in methods
        writer.write(b"\x05\x00")
        _version, _command, _reserved, kind = await reader.readexactly(4)
        if kind == 1:
            host = ".".join(str(octet) for octet in await reader.readexactly(4))
        else:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        port = int.from_bytes(await reader.readexactly(2), "big")
        await self._tunnel(f"{host}:{port}", b"\x05\x00\x00\x01" + bytes(6), reader, writer)

    async def _tunnel(
        self, target: str, said: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.targets.append(target)
        port = int(target.rpartition(":")[2])
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()
            with suppress(OSError):
                await far_writer.wait_closed()

    def _is_welcome(self, head: bytes) -> bool:
        if self._password is None:
            return True
        expected = base64.b64encode(self._password.encode())
        return b"proxy-authorization: basic " + expected.lower() in head.lower()

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
        await sink.drain()
    sink.write_eof() if sink.can_write_eof() else sink.close()


@asynccontextmanager
async def proxying(password: str | None = None, refuses: bytes | None = None) -> AsyncIterator[ProxyServer]:
    proxy = ProxyServer(password, refuses)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()

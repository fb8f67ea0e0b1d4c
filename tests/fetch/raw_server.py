"""A server on loopback that sends exactly the given bytes, however wrong."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Writer: TypeAlias = asyncio.StreamWriter
Script: TypeAlias = Callable[[bytes, Writer], Awaitable[None]]


class RawServer:
    """Runs ``script`` with the head of each request, one per connection unless ``keep_alive``."""

    def __init__(self, script: Script, *, keep_alive: bool) -> None:
        self._script = script
        self._keep_alive = keep_alive
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.scheme = "http"
        self.heads: list[bytes] = []
        self.connections = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._converse(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            await self._script(head, writer)
            if writer.is_closing():
                return
            await writer.drain()
            if not self._keep_alive:
                return

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving(
    script: Script, *, keep_alive: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawServer]:
    raw = RawServer(script, keep_alive=keep_alive)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0, ssl=tls, limit=1024 * 1024)
    raw.port = server.sockets[0].getsockname()[1]
    raw.scheme = "https" if tls else "http"
    try:
        yield raw
    finally:
        server.close()
        await raw.close()
        await server.wait_closed()


def saying(answer: bytes) -> Script:
    """Always the same answer."""

    async def script(_head: bytes, writer: Writer) -> None:
        writer.write(answer)

    return script


async def reset(writer: Writer) -> None:
    """Break the connection as a crashing server does: a reset instead of an orderly end."""
    await writer.drain()
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()

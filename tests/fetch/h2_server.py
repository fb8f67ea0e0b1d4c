"""An HTTP/2 server over TLS that follows a script, down to single frames."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import trustme


class H2Peer:
    """One connection. ``raw`` puts bytes on the wire behind the library's back."""

    def __init__(self, number: int, writer: asyncio.StreamWriter) -> None:
        self.number = number  # of the connection, from 0
        self.writer = writer
        self.requests: list[tuple[int, str]] = []  # stream, path
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))

    def page(self, stream: int, body: bytes = b"ok", *, end: bool = True) -> None:
        fields = [(":status", "200"), ("content-type", "text/html")]
        self.h2.send_headers(stream, fields)
        self.h2.send_data(stream, body, end_stream=end)

    def raw(self, frames: bytes) -> None:
        self.flush()
        if not self.writer.is_closing():
            self.writer.write(frames)

    def flush(self) -> None:
        if not self.writer.is_closing():
            self.writer.write(self.h2.data_to_send())


H2Script: TypeAlias = Callable[[H2Peer, int, str], None]  # connection, stream, path


class H2Server:
    def __init__(self, script: H2Script) -> None:
        self._script = script
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.peers: list[H2Peer] = []

    def url(self, path: str = "/") -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        """Every request that was received, over all connections."""
        return [path for peer in self.peers for _, path in peer.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        peer = H2Peer(len(self.peers), writer)
        self.peers.append(peer)
        try:
            with suppress(OSError, h2.exceptions.ProtocolError, asyncio.CancelledError):
                await self._converse(peer, reader)
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _converse(self, peer: H2Peer, reader: asyncio.StreamReader) -> None:
        peer.h2.initiate_connection()
        peer.flush()
        while not peer.writer.is_closing() and (data := await reader.read(65536)):
            for event in peer.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self._answer(peer, event)
            peer.flush()
            await peer.writer.drain()

    def _answer(self, peer: H2Peer, event: h2.events.RequestReceived) -> None:
        fields = dict(event.headers or ())
        path = (fields.get(b":path") or b"").decode("ascii")
        assert event.stream_id is not None
        peer.requests.append((event.stream_id, path))
        self._script(peer, event.stream_id, path)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving_h2(script: H2Script, authority: trustme.CA) -> AsyncIterator[H2Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    served = H2Server(script)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=context)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        await served.close()
        await server.wait_closed()

"""A loopback server as small as can be: complete responses over keep-alive connections, nothing else."""

import asyncio
from collections.abc import Callable


class Connection(asyncio.Protocol):
    def __init__(self, answer: Callable[[str, bytes], bytes]) -> None:
        self._answer = answer
        self._pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._pending = (self._pending + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1].split(b"?")[0].decode("latin-1")
            self._transport.write(self._answer(path, request))  # type: ignore[attr-defined]


async def answer_for_ever(answer: Callable[[str, bytes], bytes], port: int) -> None:
    """``answer`` takes a path, without its query, and the head of the request."""
    server = await asyncio.get_running_loop().create_server(lambda: Connection(answer), "127.0.0.1", port)
    await server.serve_forever()

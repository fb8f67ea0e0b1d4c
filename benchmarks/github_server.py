"""``python -m benchmarks.github_server REPOS SEED PORT``: the simulated GitHub, composed beforehand.

Every page is made once, before the port opens, so that a crawl shares the machine with as little as can be:
an answer costs one look into a dict. Only for loopback.
"""

import asyncio
import sys

import uvloop

from tests.site.github import HOST, GithubWorld
from tests.site.github_answers import Github
from tests.site.wire import Asked


class Answers:
    """Complete responses by path. What no page of the world's list is, is composed when first asked for."""

    def __init__(self, world: GithubWorld, port: int) -> None:
        self._site = Github(world)
        self._host = {"host": f"{HOST}:{port}"}
        self._ready = {path: self._compose(path) for path, _ in world.pages()}

    def response(self, path: str) -> bytes:
        known = self._ready.get(path)
        if known is None:
            known = self._ready[path] = self._compose(path)
        return known

    def _compose(self, path: str) -> bytes:
        return self._site.answer(Asked("GET", path, self._host)).encode()


class Connection(asyncio.Protocol):
    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._pending = (self._pending + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1].split(b"?")[0].decode("latin-1")
            self._transport.write(self._answers.response(path))  # type: ignore[attr-defined]


async def serve(world: GithubWorld, port: int) -> None:
    answers = Answers(world, port)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(answers), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(GithubWorld(int(sys.argv[1]), int(sys.argv[2])), int(sys.argv[3])))

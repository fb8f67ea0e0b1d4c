"""What the tests of the fetcher share: an event loop, a server, an exchange with it."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

import pytest
import uvloop

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.outcomes import Trouble
from sumi.policy import FetchLimits, NetworkPolicy
from tests.fetch.raw_server import Script, Writer, saying, serving

Result: TypeAlias = Response | Trouble
Loop: TypeAlias = Callable[[], asyncio.AbstractEventLoop]

MIB = 1024 * 1024
LOOPBACK = NetworkPolicy(user_agent="sumi-test", allow_private=True)
PAGE = b"<html>" + b"<p>hello</p>" * 2000 + b"</html>"
GZIP_HEAD = "HTTP/1.1 200 OK\nContent-Encoding: gzip"

on_both_loops = pytest.mark.parametrize(
    "loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def run(loop: Loop, main: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine on a loop, and finds every file closed behind it."""
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.sleep(0))  # libuv opens two descriptors once per process
    before = len(os.listdir("/proc/self/fd"))
    with asyncio.Runner(loop_factory=loop) as runner:
        result = runner.run(main)
    assert len(os.listdir("/proc/self/fd")) <= before
    return result


async def with_fetcher(
    use: Callable[[HttpFetcher], Awaitable[Any]],
    limits: FetchLimits | None = None,
    network: NetworkPolicy = LOOPBACK,
) -> Any:
    fetcher = HttpFetcher(limits or FetchLimits(), network, SystemClock())
    try:
        return await use(fetcher)
    finally:
        await fetcher.aclose()


async def exchange(script: Script, limits: FetchLimits | None = None, **request: Any) -> Result:
    """A single request to a server that follows ``script``."""
    async with serving(script) as server:
        asked = Request(server.url(), **request)
        result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked), limits)
        return result


async def ask_each(urls: list[str], network: NetworkPolicy = LOOPBACK) -> list[Result]:
    """One request after another, from one fetcher."""

    async def ask(fetcher: HttpFetcher) -> list[Result]:
        return [await fetcher.fetch(Request(url)) for url in urls]

    results: list[Result] = await with_fetcher(ask, network=network)
    return results


def answer(head: str, body: bytes = b"") -> Script:
    return saying(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)


OK = answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok")


def dripping(head: bytes, piece: bytes, pause: float) -> Script:
    async def script(_head: bytes, writer: Writer) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return script


async def silence(_head: bytes, writer: Writer) -> None:
    await asyncio.sleep(60)

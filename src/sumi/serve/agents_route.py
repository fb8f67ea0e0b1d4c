"""``/mcp``: the tools of ``sumi mcp`` over streamable HTTP, reading only, behind the window's own checks.

The SDK takes a second to load, so that happens with the first request. Sessions are not kept.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from sumi.agents.server import HttpEndpoint


class Agents:
    """An ASGI application; close it at the end."""

    def __init__(self, places: Sequence[Path]) -> None:
        self._places = places
        self._begun = asyncio.Lock()
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._endpoint: asyncio.Future[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            endpoint = await self._loaded()
        except ModuleNotFoundError:
            words = "MCP needs its SDK: pip install 'sumi[mcp]'"
            await PlainTextResponse(words, status_code=501)(scope, receive, send)
        else:
            await endpoint(scope, receive, send)

    async def _loaded(self) -> ASGIApp:
        async with self._begun:
            if self._task is None or self._endpoint is None:
                self._endpoint = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._run(self._endpoint))
            return await asyncio.shield(self._endpoint)

    async def _run(self, ready: "asyncio.Future[ASGIApp]") -> None:
        """The SDK wants to begin and to end in one task."""
        try:
            make_endpoint = await asyncio.to_thread(_load)
        except ModuleNotFoundError as error:
            ready.set_exception(error)
            return
        endpoint = make_endpoint(self._places)
        async with endpoint.running():
            ready.set_result(endpoint)
            await self._ended.wait()

    async def aclose(self) -> None:
        self._ended.set()
        if self._task is not None:
            await self._task


def _load() -> "Callable[[Sequence[Path]], HttpEndpoint]":
    from sumi.agents.desk import Desk
    from sumi.agents.server import HttpEndpoint

    return lambda places: HttpEndpoint(Desk(places))

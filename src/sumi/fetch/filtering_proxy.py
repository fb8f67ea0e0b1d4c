"""The browser's only way out: a proxy on loopback that dials nobody whom the crawler itself would not.

Whatever a page makes the browser ask for (a script, a redirect's target, a worker's request) and the
browser's own chatter arrive here, because the browser knows no other way. Each page has a pass with a secret
and a budget; without one nothing is dialled, so no other program on the machine can use it as a relay.
"""

import asyncio
import base64
import secrets
from contextlib import suppress

from sumi.fetch.address_book import AddressBook, Found
from sumi.fetch.filtering_proxy_wire import (
    FORBIDDEN,
    HEAD_BYTES,
    NEEDS_PASS,
    TUNNEL_OPEN,
    UNREACHABLE,
    Wanted,
    answer_head,
    read_request,
)
from sumi.fetch.guard import AddressGuard
from sumi.fetch.resolver import Resolver, SystemResolver
from sumi.fetch.target import Target
from sumi.fetch.trackers import is_tracker
from sumi.outcomes import Verdict
from sumi.policy import FetchLimits, NetworkPolicy
from sumi.ports import Clock

_CHUNK = 64 * 1024
_TLS_HANDSHAKE = b"\x16"  # first byte of a TLS connection; anything else in a tunnel is not the web


class Pass:
    """What one page may use, and what it is using."""

    def __init__(self, name: str, secret: str, bytes_left: int) -> None:
        self.name = name
        self.secret = secret
        self.bytes_left = bytes_left
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def authorization(self) -> str:
        return "Basic " + base64.b64encode(f"{self.name}:{self.secret}".encode()).decode("ascii")

    def spend(self, count: int) -> bool:
        self.bytes_left -= count
        return self.bytes_left >= 0


class FilteringProxy:
    """To be used within one running event loop; listens from ``start`` to ``aclose``."""

    def __init__(
        self,
        limits: FetchLimits,
        network: NetworkPolicy,
        clock: Clock,
        *,
        resolver: Resolver | None = None,
    ) -> None:
        self._limits = limits
        self._https_only = network.https_only
        self._guard = AddressGuard(network)
        self._book = AddressBook(resolver or SystemResolver(limits.connect), self._guard, clock)
        self._passes: dict[str, Pass] = {}
        self._issued = 0
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def start(self) -> None:
        """Idempotent, also for several at once."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_BYTES)
                self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def issue(self, most_bytes: int) -> Pass:
        self._issued += 1
        issued = Pass(f"page-{self._issued}", secrets.token_urlsafe(24), most_bytes)
        self._passes[issued.authorization] = issued
        return issued

    async def revoke(self, issued: Pass) -> None:
        """The page is done: its connections end, and its name opens nothing any more."""
        self._passes.pop(issued.authorization, None)
        await _ended(issued.tasks)

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
            await _ended(self._tasks)
            await self._server.wait_closed()
        await self._book.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # Cancelled only by us, to end the connection; the stream server would log it as an error.
            with suppress(OSError, asyncio.CancelledError, TimeoutError):
                await self._answer(reader, writer, task)
        finally:
            self._tasks.discard(task)
            await _closed(writer)

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: "asyncio.Task[None]"
    ) -> None:
        wanted = await read_request(reader, self._limits.first_byte)
        if wanted is None:
            return
        held = self._passes.get(wanted.authorization)
        if held is None:
            await _say(writer, NEEDS_PASS)
            return
        held.tasks.add(task)
        try:
            await self._connect(held, wanted, reader, writer)
        finally:
            held.tasks.discard(task)

    async def _connect(
        self, held: Pass, wanted: Wanted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        found = await self._found(wanted)
        if found is None:
            if wanted.is_tunnel:  # any answer to a plain request would look to the page like the site's own
                await _say(writer, FORBIDDEN)
            return
        line = await self._dial(wanted.target, found)
        if line is None:
            if wanted.is_tunnel:
                await _say(writer, UNREACHABLE)
            return
        far_reader, far_writer = line
        try:
            if wanted.is_tunnel:
                await self._tunnel(held, reader, writer, far_reader, far_writer)
            else:
                await self._forward(held, wanted, writer, far_reader, far_writer)
        finally:
            await _closed(far_writer)

    async def _found(self, wanted: Wanted) -> Found | None:
        """Checked addresses; None where there are none, or nobody may be asked."""
        target = wanted.target
        if is_tracker(target.host) or (self._https_only and not wanted.is_tunnel):
            return None
        if self._guard.check_target(target) is not None:
            return None
        found = await self._book.find(target.host, target.port)
        return None if isinstance(found, Verdict) else found

    async def _dial(
        self, target: Target, found: Found
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for address in found.addresses or (target.host.strip("[]"),):
            try:
                async with asyncio.timeout(self._limits.connect):
                    line = await asyncio.open_connection(address, target.port, limit=HEAD_BYTES)
            except (OSError, TimeoutError):
                continue
            peer = str(line[1].get_extra_info("peername")[0])
            if self._guard.check_peer(target.host, target.port, peer) is None:
                return line
            await _closed(line[1])
        return None

    async def _tunnel(
        self,
        held: Pass,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        await _say(writer, TUNNEL_OPEN)
        async with asyncio.timeout(self._limits.first_byte):
            first = await reader.read(_CHUNK)
        if not first.startswith(_TLS_HANDSHAKE):
            return
        await _say(far_writer, first)
        ways = [
            asyncio.create_task(self._pump(held, reader, far_writer)),
            asyncio.create_task(self._pump(held, far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended(set(ways))

    async def _forward(
        self,
        held: Pass,
        wanted: Wanted,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        """One request and its answer. Nothing more is taken from the browser on this connection: what came
        next could be meant for another host, which nobody would have checked."""
        await _say(far_writer, wanted.head + wanted.body)
        head = await answer_head(far_reader, self._limits.first_byte)
        if head is None:
            return
        await _say(writer, head)
        await self._pump(held, far_reader, writer)

    async def _pump(self, held: Pass, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):
            while True:
                async with asyncio.timeout(self._limits.idle):
                    data = await source.read(_CHUNK)
                if not data or not held.spend(len(data)):
                    return
                await _say(sink, data)


async def _say(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()

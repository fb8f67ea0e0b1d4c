"""Surplus bytes on kept connections.

Bytes after the end of a response mean that it was longer than declared: what was read may be half a page, and
on a kept connection the next page would start with the rest. curl checks only connections that were idle for
a while. So we remember the connection of each response, check it before the next request to the same server,
and close it if there is something to read.

curl drops such bytes. It logs those that it has read; the others are still in the socket. With TLS the socket
cannot be checked: only what came together with the end of the response is seen.
"""

import asyncio
import os
import select
import socket
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from sumi.fetch.route import Route

_MAX_SERVERS = 4096


class KeptConnections:
    """For HTTP/1 only: in HTTP/2 every byte belongs to a stream."""

    def __init__(self, is_used: Callable[[int], bool]) -> None:
        self._is_used = is_used  # whether a running transfer uses this socket
        self._of_server: OrderedDict[str, _Connections] = OrderedDict()

    def keep(self, route: Route, descriptor: int, local_port: int) -> None:
        server = _server(route)
        self._of_server.setdefault(server, _Connections()).add(descriptor, local_port)
        self._of_server.move_to_end(server)
        if len(self._of_server) > _MAX_SERVERS:
            self._of_server.popitem(last=False)

    def look(self, route: Route) -> "Look":
        """Check the idle connections to a server, and close those with something to read."""
        kept = self._of_server.get(_server(route))
        if not kept:
            return QUIET
        surplus = ended = False
        for descriptor in kept.with_news():
            if self._is_used(descriptor) or (unread := _peek(descriptor)) is None:
                continue
            if _local_port(descriptor) != kept.local_port(
                descriptor
            ):  # curl closed it; the number may be reused
                kept.remove(descriptor)
            elif unread and not route.speaks_tls:
                kept.remove(descriptor)
                _close_for_curl(descriptor)
                surplus = True
            else:
                ended = True
        return Look(surplus, ended)


class _Connections:
    """Those to one server. The kernel is asked about all of them at once: with a call for each, a page on
    sixteen connections would take thirty more."""

    def __init__(self) -> None:
        self._local_ports: dict[int, int] = {}  # by socket
        self._poll = select.poll()

    def add(self, descriptor: int, local_port: int) -> None:
        if descriptor not in self._local_ports:
            self._poll.register(descriptor, select.POLLIN)
        self._local_ports[descriptor] = local_port

    def remove(self, descriptor: int) -> None:
        del self._local_ports[descriptor]
        self._poll.unregister(descriptor)

    def local_port(self, descriptor: int) -> int:
        return self._local_ports[descriptor]

    def with_news(self) -> list[int]:
        """Sockets with something to read, at their end, broken or closed."""
        return [descriptor for descriptor, _ in self._poll.poll(0)]


class Look(NamedTuple):
    surplus: bool  # there was something to read
    ended: bool  # the server has closed one, which curl may not know yet; with TLS perhaps a surplus


QUIET = Look(surplus=False, ended=False)


def is_unread(descriptor: int) -> bool:
    """Whether a connection has bytes to read now."""
    return bool(_peek(descriptor))


def _peek(descriptor: int) -> bytes | None:
    """The first unread byte; empty at the end of the stream, None if nothing has come."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, descriptor)
    except OSError:  # closed by now
        return b""
    try:
        return borrowed.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:  # broken, or no connection at all
        return b""
    finally:
        borrowed.detach()


def _server(route: Route) -> str:
    scheme, host, port = route.target.origin
    return route.proxy_name or f"{scheme}://{host}:{port}"


def _local_port(descriptor: int) -> int:
    """-1 if it is not a connection."""
    try:
        borrowed = socket.socket(fileno=descriptor)
    except OSError:
        return -1
    try:
        name = borrowed.getsockname()
    finally:
        borrowed.detach()
    return int(name[1]) if isinstance(name, tuple) else -1


def _close_for_curl(descriptor: int) -> None:
    """Close a connection that curl still holds: under its number curl finds a closed socket."""
    dead, other = socket.socketpair()
    other.close()
    with dead:
        os.dup2(dead.fileno(), descriptor, inheritable=False)


# How long a server that closes the connection after its response may take to do so. Most send the end of the
# stream within microseconds.
_LINGER_SECONDS = 0.5
# The same if curl closed it, having too many: no end follows then, only what was already sent.
_GLANCE_SECONDS = 0.01

# curl's own messages.
_SURPLUS = (b"Excess found", b"Leftovers after chunking")
_RETRIES = b"Connection died, retrying"
_REFUSED = (b"HTTP/2 stream ", b"refused by server")


def speaks_of_surplus(words: bytes) -> bool:
    """Whether curl reports that it dropped bytes after the end of a body."""
    return words.startswith(_SURPLUS)


def retries_request(words: bytes) -> bool:
    """Whether curl reports that a reused connection ended without a response, and is about to repeat the
    request on a new one."""
    return words.startswith(_RETRIES)


def was_refused(words: bytes) -> bool:
    """Whether curl reports that an HTTP/2 server refused the request unprocessed, and repeats it; such a
    request does not count as sent."""
    return words.startswith(_REFUSED[0]) and _REFUSED[1] in words


async def follows(descriptors: Sequence[int], *, by_server: bool) -> bool:
    """Whether bytes arrive on one of these connections, which are no longer read, before it ends."""
    for descriptor in descriptors:
        await _readable(descriptor, _LINGER_SECONDS if by_server else _GLANCE_SECONDS)
        if is_unread(descriptor):
            return True
    return False


async def _readable(descriptor: int, seconds: float) -> None:
    """Wait until there is something to read, or the stream ends, or the time is over."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), seconds)
    finally:
        loop.remove_reader(descriptor)

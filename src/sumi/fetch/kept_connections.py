"""Bytes behind the end of an answer: it was longer than it said, so what was read may be half a page, and on
a kept connection the next page would be read from the rest.

curl looks only at connections that have been idle for a while. So we remember which one each answer came by,
look before the next request to the same server, and take an unclean one out of use.

curl drops such bytes. It mentions those that it has read; the others are still in the socket. Within TLS
nobody can look into the socket: there, only what came together with the end of the answer is seen.
"""

import asyncio
import os
import socket
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from sumi.fetch.route import Route

_MAX_SERVERS = 4096


class KeptConnections:
    """Of HTTP/1 only: in HTTP/2 every byte says which answer it belongs to."""

    def __init__(self, is_used: Callable[[int], bool]) -> None:
        self._is_used = is_used  # whether a transfer under way has this socket
        self._of_server: OrderedDict[str, dict[int, int]] = OrderedDict()  # socket -> its local port

    def keep(self, route: Route, descriptor: int, local_port: int) -> None:
        server = _server(route)
        self._of_server.setdefault(server, {})[descriptor] = local_port
        self._of_server.move_to_end(server)
        if len(self._of_server) > _MAX_SERVERS:
            self._of_server.popitem(last=False)

    def look(self, route: Route) -> "Look":
        """At the connections to a server that wait. Those in which there is something to read are closed."""
        kept = self._of_server.get(_server(route))
        if not kept:
            return QUIET
        surplus = ended = False
        for descriptor, local_port in tuple(kept.items()):
            unread = _peek(descriptor)
            if unread is None or self._is_used(descriptor):
                continue
            if _local_port(descriptor) != local_port:  # curl has closed it, and the number may be another's
                del kept[descriptor]
            elif unread and not route.speaks_tls:
                del kept[descriptor]
                _bury(descriptor)
                surplus = True
            else:
                ended = True
        return Look(surplus, ended)


class Look(NamedTuple):
    surplus: bool  # there was something to read
    ended: bool  # the server has closed one, which curl may not know yet; within TLS it may be a surplus, too


QUIET = Look(surplus=False, ended=False)


def is_unread(descriptor: int) -> bool:
    """Whether there are bytes to read in a connection, now."""
    return bool(_peek(descriptor))


def _peek(descriptor: int) -> bytes | None:
    """The first unread byte; none at the end, None where nothing has come."""
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
    """-1 for what is no connection."""
    try:
        borrowed = socket.socket(fileno=descriptor)
    except OSError:
        return -1
    try:
        name = borrowed.getsockname()
    finally:
        borrowed.detach()
    return int(name[1]) if isinstance(name, tuple) else -1


def _bury(descriptor: int) -> None:
    """Close a connection that curl still has. It finds the end of another one under its number."""
    dead, other = socket.socketpair()
    other.close()
    with dead:
        os.dup2(dead.fileno(), descriptor, inheritable=False)


# How long a server that closes the connection after its answer may take to do so. Those that send the head by
# itself send the rest within microseconds, and the end right behind it.
_LINGER_SECONDS = 0.5
# The same where curl closed it, having too many: then no end follows, only what is on its way already.
_GLANCE_SECONDS = 0.01

# What curl says, in its own words.
_WORDS = (b"Excess found", b"Leftovers after chunking")
_ASKS_AGAIN = b"Connection died, retrying"
_REFUSED = (b"HTTP/2 stream ", b"refused by server")


def speaks_of_surplus(words: bytes) -> bool:
    """Whether curl says that it has left out bytes behind the end of a body."""
    return words.startswith(_WORDS)


def asks_again(words: bytes) -> bool:
    """Whether curl says that a used connection ended without an answer, so that it is about to ask once more
    in a new one."""
    return words.startswith(_ASKS_AGAIN)


def was_refused(words: bytes) -> bool:
    """Whether curl says that an HTTP/2 server refused the request unseen, and that it asks once more: what a
    server did not look at was not asked."""
    return words.startswith(_REFUSED[0]) and _REFUSED[1] in words


async def follows(descriptors: Sequence[int], *, by_server: bool) -> bool:
    """Whether bytes come in one of these connections, which nobody reads any more, before it ends."""
    for descriptor in descriptors:
        await _readable(descriptor, _LINGER_SECONDS if by_server else _GLANCE_SECONDS)
        if is_unread(descriptor):
            return True
    return False


async def _readable(descriptor: int, seconds: float) -> None:
    """Returns when there is something to read, be it the end, or after a while."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), seconds)
    finally:
        loop.remove_reader(descriptor)

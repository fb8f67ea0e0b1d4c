"""Connections that wait for their next request must be silent: bytes there belong to an answer that was
longer than it said, and the next page would be read from them.

curl looks only at connections that have been idle for a while. So we remember which one each answer came by,
look before the next request to the same server, and take an unclean one out of use.
"""

import os
import socket
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from sumi.fetch.route import Route

_MOST_SERVERS = 4096


class KeptConnections:
    """Of HTTP/1 only: in HTTP/2 every byte says which answer it belongs to."""

    def __init__(self, is_used: Callable[[int], bool]) -> None:
        self._is_used = is_used  # whether a transfer under way has this socket
        self._of_server: OrderedDict[str, dict[int, int]] = OrderedDict()  # socket -> its local port

    def keep(self, route: Route, descriptor: int, local_port: int) -> None:
        server = _server(route)
        self._of_server.setdefault(server, {})[descriptor] = local_port
        self._of_server.move_to_end(server)
        if len(self._of_server) > _MOST_SERVERS:
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

"""Connections that wait for their next request must be silent: bytes there belong to an answer that was
longer than it said, and the next page would be read from them.

curl looks only at connections that have been idle for a while. So we remember which one each answer came by,
look before the next request to the same server, and take an unclean one out of use.
"""

import os
import socket
from collections import OrderedDict
from collections.abc import Callable

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

    def cleanse(self, route: Route) -> bool:
        """Take a server's connections out of use in which there is something to read; tell if any was."""
        kept = self._of_server.get(_server(route))
        if not kept:
            return False
        unclean = [entry for entry in kept.items() if is_unread(entry[0]) and not self._is_used(entry[0])]
        for descriptor, local_port in unclean:
            del kept[descriptor]
            if _local_port(descriptor) == local_port:  # curl may have closed it, and the number is another's
                _bury(descriptor)
        return bool(unclean)


def is_unread(descriptor: int) -> bool:
    """Whether there are bytes to read in a connection, now."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, descriptor)
    except OSError:  # closed by now
        return False
    try:
        return bool(borrowed.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except OSError:  # nothing there, or no connection at all
        return False
    finally:
        borrowed.detach()


def _server(route: Route) -> str:
    scheme, host, port = route.target.origin
    return route.proxy_name or f"{scheme}://{host}:{port}"


def _local_port(descriptor: int) -> int:
    borrowed = socket.socket(fileno=descriptor)
    try:
        return int(borrowed.getsockname()[1])
    finally:
        borrowed.detach()


def _bury(descriptor: int) -> None:
    """Close a connection that curl still has. It finds the end of another one under its number."""
    dead, other = socket.socketpair()
    other.close()
    with dead:
        os.dup2(dead.fileno(), descriptor, inheritable=False)

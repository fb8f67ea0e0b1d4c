"""Bytes on an idle connection are a surplus only where they can be read: within TLS they may be its own."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from sumi.fetch.kept_connections import QUIET, KeptConnections, Look


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Ours, and the server's."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as ours,
    ):
        theirs, _ = listening.accept()
        with theirs:
            yield ours, theirs


def route(scheme: str) -> Any:
    class Direct:
        target = type("Target", (), {"origin": (scheme, "e.org", 443)})
        proxy_name = ""
        speaks_tls = scheme == "https"

    return Direct()


@pytest.mark.parametrize(
    ("scheme", "told", "is_open"),
    [("https", Look(surplus=False, ended=True), True), ("http", Look(surplus=True, ended=False), False)],
)
def test_what_an_idle_connection_has_to_read(
    ends: tuple[socket.socket, socket.socket], scheme: str, told: Look, is_open: bool
) -> None:
    ours, theirs = ends
    kept, way = KeptConnections(is_used=lambda _: False), route(scheme)
    kept.keep(way, ours.fileno(), ours.getsockname()[1])
    assert kept.look(way) == QUIET
    theirs.sendall(b"more")
    ours.recv(1, socket.MSG_PEEK)  # until it is there
    assert kept.look(way) == told
    assert (ours.recv(4) == b"more") is is_open

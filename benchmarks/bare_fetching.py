"""How the bare loop fetches: curl's multi handle on one event loop, callbacks all the way, nothing awaited.

curl says which sockets and which timer it waits for; the loop says when they are ready. The sockets are in an
epoll of their own, of which the loop watches the one descriptor: curl begins and ends a watch for every page,
and that takes fewer system calls than with the loop's own watches.
"""

import asyncio
import select
import socket
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pycurl
import uvloop

from benchmarks.peers.kept_pages import CONCURRENCY

CONNECT_SECONDS, WHOLE_SECONDS = 10, 60
MOST_BYTES = 50_000_000
EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}


class Fetching:
    """Hands every answer to ``done`` (URL, status, body as it came); done may append to ``waiting``."""

    def __init__(self, urls: list[str], done: Callable[[str, int, bytes], None]) -> None:
        self.waiting = list(urls)
        self._done = done
        self._loop = uvloop.new_event_loop()
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._timer: asyncio.Handle | None = None
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._idle = [_transfer() for _ in range(CONCURRENCY)]

    def run(self) -> None:
        self._loop.add_reader(self._epoll.fileno(), self._ready)
        self._start()
        self._loop.run_forever()
        self._multi.close()
        self._epoll.close()
        self._loop.close()

    def _start(self) -> None:
        while self.waiting and self._idle:
            curl = self._idle.pop()
            curl.url, curl.body = self.waiting.pop(), BytesIO()
            curl.setopt(pycurl.URL, curl.url)
            curl.setopt(pycurl.WRITEDATA, curl.body)
            self._multi.add_handle(curl)
        if len(self._idle) == CONCURRENCY:
            self._loop.stop()

    def _watch(self, what: int, fd: int, _multi: Any, _data: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            self._watched.discard(fd)
            self._epoll.unregister(fd)
        elif fd in self._watched:
            self._epoll.modify(fd, EVENTS[what])
        else:
            self._watched.add(fd)
            self._epoll.register(fd, EVENTS[what])

    def _set_timer(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if milliseconds < 0 else self._loop.call_later(milliseconds / 1000, self._expired)

    def _expired(self) -> None:
        self._timer = None
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._collect()

    def _ready(self) -> None:
        for fd, events in self._epoll.poll(0):
            if fd in self._watched:  # or serving another one ended this one
                readable = pycurl.CSELECT_IN if events & ~select.EPOLLOUT else 0
                writable = pycurl.CSELECT_OUT if events & select.EPOLLOUT else 0
                self._multi.socket_action(fd, readable | writable)
        self._collect()

    def _collect(self) -> None:
        _, finished, failed = self._multi.info_read()
        if failed:
            raise SystemExit(f"the bare loop met an error: {failed[0][2]}")
        for curl in finished:
            self._multi.remove_handle(curl)
            self._idle.append(curl)
            self._done(curl.url, curl.getinfo(pycurl.RESPONSE_CODE), curl.body.getvalue())
        if finished:
            self._start()


def _transfer() -> Any:
    curl = pycurl.Curl()
    curl.setopt(pycurl.HTTPHEADER, ["Accept-Encoding: gzip"])
    curl.setopt(pycurl.OPENSOCKETFUNCTION, _open_socket)
    curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_SECONDS)
    curl.setopt(pycurl.TIMEOUT, WHOLE_SECONDS)
    curl.setopt(pycurl.MAXFILESIZE, MOST_BYTES)
    return curl


def _open_socket(_purpose: int, address: Any) -> socket.socket:
    """Where a crawler looks at the address before it is dialled."""
    return socket.socket(address.family, address.socktype, address.protocol)

"""libcurl's multi handle on an asyncio loop: curl says which sockets and which timer it waits for, the loop
says when they are ready. This is the only module that knows both; it works on asyncio's loop and on uvloop.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pycurl

# Idle connections kept for reuse over all hosts, well below the usual limit of 1024 open files.
_KEPT_CONNECTIONS = 256


class Ending(NamedTuple):
    """How a transfer ended: curl's error code, 0 if complete, and curl's words."""

    code: int
    words: str = ""


COMPLETE = Ending(pycurl.E_OK)
STOPPED = Ending(pycurl.E_ABORTED_BY_CALLBACK, "stopped")


class CurlLoop:
    """Bound to the loop that first performs something."""

    def __init__(self) -> None:
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, _KEPT_CONNECTIONS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[Any, asyncio.Future[Ending]] = {}  # every handle that curl holds
        self._running: set[Any] = set()  # those of them that curl has not reported as done
        self._watched: dict[int, int] = {}  # socket -> POLL_IN | POLL_OUT
        self._timer: asyncio.Handle | None = None

    async def perform(self, handle: Any) -> Ending:
        """Run a transfer to its end. Cancelling it takes the handle back from curl, ready for another use."""
        loop = self._loop = self._loop or asyncio.get_running_loop()
        done: asyncio.Future[Ending] = loop.create_future()
        self._multi.add_handle(handle)
        self._waiting[handle] = done
        self._running.add(handle)
        try:
            return await done
        finally:
            self._take_back(handle)

    def stop(self, handle: Any) -> None:
        """End a transfer early. Not from within one of curl's callbacks."""
        done = self._waiting.get(handle)
        if done is not None and not done.done():
            done.set_result(STOPPED)

    def close(self) -> None:
        """End every transfer and let go of all sockets."""
        for handle, done in tuple(self._waiting.items()):
            self._take_back(handle)
            if not done.done():
                done.set_result(STOPPED)
        self._cancel_timer()
        for fd in tuple(self._watched):
            self._watch(fd, 0)
        self._multi.close()

    def _take_back(self, handle: Any) -> None:
        self._running.discard(handle)
        if self._waiting.pop(handle, None) is not None:
            self._multi.remove_handle(handle)

    # What curl asks for

    def _watch_socket(self, what: int, fd: int, _multi: Any, _data: Any) -> None:
        self._watch(fd, 0 if what == pycurl.POLL_REMOVE else what)

    def _watch(self, fd: int, wanted: int) -> None:
        assert self._loop is not None
        watched = self._watched.pop(fd, 0)
        if wanted:
            self._watched[fd] = wanted
        changed = watched ^ wanted
        if changed & pycurl.POLL_IN:
            _toggle(
                wanted & pycurl.POLL_IN, fd, self._loop.add_reader, self._loop.remove_reader, self._readable
            )
        if changed & pycurl.POLL_OUT:
            _toggle(
                wanted & pycurl.POLL_OUT, fd, self._loop.add_writer, self._loop.remove_writer, self._writable
            )

    def _set_timer(self, milliseconds: int) -> None:
        self._cancel_timer()
        if milliseconds < 0:
            return
        assert self._loop is not None
        if milliseconds == 0:
            self._timer = self._loop.call_soon(self._expired)
        else:
            self._timer = self._loop.call_later(milliseconds / 1000, self._expired)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the loop reports

    def _readable(self, fd: int) -> None:
        self._advance(fd, pycurl.CSELECT_IN)

    def _writable(self, fd: int) -> None:
        self._advance(fd, pycurl.CSELECT_OUT)

    def _expired(self) -> None:
        self._timer = None
        self._advance(pycurl.SOCKET_TIMEOUT, 0)

    def _advance(self, fd: int, events: int) -> None:
        _, running = self._multi.socket_action(fd, events)
        if running < len(self._running):
            self._collect()

    def _collect(self) -> None:
        queued = 1
        while queued:
            queued, complete, failed = self._multi.info_read()
            for handle in complete:
                self._settle(handle, COMPLETE)
            for handle, code, words in failed:
                self._settle(handle, Ending(code, words))

    def _settle(self, handle: Any, ending: Ending) -> None:
        self._running.discard(handle)
        done = self._waiting.get(handle)
        if done is not None and not done.done():
            done.set_result(ending)


def _toggle(
    on: int,
    fd: int,
    add: Callable[..., Any],
    remove: Callable[[int], Any],
    ready: Callable[[int], None],
) -> None:
    if on:
        add(fd, ready, fd)
    else:
        remove(fd)

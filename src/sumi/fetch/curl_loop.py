"""libcurl's multi handle on an asyncio loop: curl says which sockets and which timer it waits for, the loop
says when they are ready. Works with asyncio's own loop and with uvloop.

curl's sockets are watched by a selector of their own, and the loop watches only that. Every request makes
curl begin and end a watch, which costs one system call here and up to five in uvloop; and all ready sockets
are served in one go.
"""

import asyncio
import resource
import selectors
from collections.abc import Callable
from typing import Any, NamedTuple

import pycurl

# Connections kept for reuse over all hosts: a polite crawl of a thousand hosts comes back to each after a
# second, and would otherwise reconnect for every page. A quarter of the file descriptors is reserved for them
# (see sumi.assembly.parts).
_SHARE_OF_DESCRIPTORS = 4
_MAX_KEPT = 2048


class Ending(NamedTuple):
    """How a transfer ended: curl's error code, 0 if complete, and curl's message."""

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
        self._multi.setopt(pycurl.M_MAXCONNECTS, _kept_connections())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._selector = selectors.DefaultSelector()
        self._waiting: dict[Any, asyncio.Future[Ending]] = {}  # every handle that curl holds
        self._on_complete: dict[Any, Callable[[], None]] = {}
        self._running: set[Any] = set()  # those of them that curl has not reported as done
        self._watched: dict[int, int] = {}  # socket -> POLL_IN | POLL_OUT, which are the selector's words too
        self._due: float | None = None  # when curl wants to be called, by the loop's clock
        self._timer: asyncio.Handle | None = None
        self._rings = 0.0  # when the timer does: never later than due

    async def perform(self, handle: Any, on_complete: Callable[[], None]) -> Ending:
        """Run a transfer to its end. Cancelling it takes the handle back from curl, ready for another use.

        ``on_complete`` is called before the connection can be used for another response.
        """
        loop = self._loop or self._bind(asyncio.get_running_loop())
        done: asyncio.Future[Ending] = loop.create_future()
        self._multi.add_handle(handle)
        self._waiting[handle] = done
        self._on_complete[handle] = on_complete
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

    def is_used(self, fd: int) -> bool:
        """Whether a running transfer uses this connection."""
        return any(handle.getinfo(pycurl.ACTIVESOCKET) == fd for handle in self._running)

    def is_performing(self, handle: Any) -> bool:
        return handle in self._running and not self._waiting[handle].done()

    def close(self) -> None:
        """End every transfer and close all sockets."""
        for handle, done in tuple(self._waiting.items()):
            self._take_back(handle)
            if not done.done():
                done.set_result(STOPPED)
        self._cancel_timer()
        if self._loop is not None:
            self._loop.remove_reader(self._selector)
        self._multi.close()
        self._selector.close()

    def _bind(self, loop: asyncio.AbstractEventLoop) -> asyncio.AbstractEventLoop:
        self._loop = loop
        loop.add_reader(self._selector, self._ready)
        return loop

    def _take_back(self, handle: Any) -> None:
        self._running.discard(handle)
        self._on_complete.pop(handle, None)
        if self._waiting.pop(handle, None) is not None:
            self._multi.remove_handle(handle)

    # Called by curl.

    def _watch_socket(self, what: int, fd: int, _multi: Any, _data: Any) -> None:
        wanted = 0 if what == pycurl.POLL_REMOVE else what
        watched = self._watched.pop(fd, 0)
        if wanted:
            self._watched[fd] = wanted
        if watched and wanted:
            self._selector.modify(fd, wanted)
        elif wanted:
            self._selector.register(fd, wanted)
        elif watched:
            self._selector.unregister(fd)

    def _set_timer(self, milliseconds: int) -> None:
        """Called several times per transfer. A timer that rings early costs less than a new one."""
        if milliseconds < 0:
            self._due = None
            return
        assert self._loop is not None
        self._due = self._loop.time() + milliseconds / 1000
        if self._timer is None or self._due < self._rings:
            self._cancel_timer()
            self._arm(self._loop, self._due)

    def _arm(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._rings = due
        self._timer = loop.call_at(due, self._expired) if due > loop.time() else loop.call_soon(self._expired)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Called by the event loop.

    def _ready(self) -> None:
        for key, events in self._selector.select(0):
            if key.fd in self._watched:  # serving another one may have ended this one
                _, running = self._multi.socket_action(key.fd, events)
                if running < len(self._running):
                    self._collect()

    def _expired(self) -> None:
        self._timer = None
        if self._due is None:
            return
        assert self._loop is not None
        if self._due > self._loop.time():
            self._arm(self._loop, self._due)
            return
        self._due = None
        _, running = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if running < len(self._running):
            self._collect()

    def _collect(self) -> None:
        queued = 1
        while queued:
            queued, complete, failed = self._multi.info_read()
            for handle in complete:
                self._running.discard(handle)
                if handle in self._on_complete:
                    self._on_complete[handle]()
                self._settle(handle, COMPLETE)
            for handle, code, words in failed:
                self._settle(handle, Ending(code, words))

    def _settle(self, handle: Any, ending: Ending) -> None:
        self._running.discard(handle)
        done = self._waiting.get(handle)
        if done is not None and not done.done():
            done.set_result(ending)


def _kept_connections() -> int:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    affordable = files // _SHARE_OF_DESCRIPTORS if files >= 0 else _MAX_KEPT
    return max(1, min(affordable, _MAX_KEPT))

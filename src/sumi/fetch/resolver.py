"""Asking the system for a name's addresses without ever holding up the event loop."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

_LOOKUPS_AT_ONCE = 16
_MOST_LEFT_BEHIND = 240
_TOOK_TOO_LONG = "the name server did not answer in time"
_WORDS = {
    socket.EAI_NONAME: "the host name does not exist",
    socket.EAI_AGAIN: "the name server could not answer",
    socket.EAI_FAIL: "the name server failed",
}


class Unresolved(NamedTuple):
    """Why a name has no addresses."""

    words: str


Resolution: TypeAlias = tuple[str, ...] | Unresolved


class Resolver(Protocol):
    async def addresses(self, host: str) -> Resolution:
        """Every address of a name, as text, in the order in which to try them."""
        ...


class SystemResolver:
    """``getaddrinfo`` in threads. It cannot be interrupted, so a lookup that takes too long is left to end by
    itself. It gives up its place to another name, so that names without an answer hold up no others, until so
    many were left that the name server must be dead: that costs a bounded number of threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(_LOOKUPS_AT_ONCE)
        self._left_behind = 0

    async def addresses(self, host: str) -> Resolution:
        # A name that waits for its turn is not late. Only of a dead name server no turn may ever come.
        patience = self._seconds if self._left_behind >= _MOST_LEFT_BEHIND else None
        lookup: _Lookup | None = None
        try:
            async with asyncio.timeout(patience):
                await self._places.acquire()
            lookup = _Lookup(self._ended)
            async with asyncio.timeout(self._seconds):
                return await lookup.start(host)
        except TimeoutError:
            if lookup is not None and self._left_behind < _MOST_LEFT_BEHIND:
                lookup.left_behind = True
                self._left_behind += 1
                self._places.release()
            return Unresolved(_TOOK_TOO_LONG)

    def _ended(self, lookup: "_Lookup") -> None:
        if lookup.left_behind:
            self._left_behind -= 1
        else:
            self._places.release()


class _Lookup:
    """One name in a thread of its own."""

    def __init__(self, ended: "Callable[[_Lookup], None]") -> None:
        self._ended = ended
        self.left_behind = False

    def start(self, host: str) -> "asyncio.Future[Resolution]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Resolution] = loop.create_future()

        def done(found: Resolution) -> None:
            self._ended(self)
            if not answer.done():
                answer.set_result(found)

        def look_up() -> None:
            found = _system_addresses(host)
            with suppress(RuntimeError):  # the loop may be gone by now, and nobody waits
                loop.call_soon_threadsafe(done, found)

        # A daemon, unlike the threads of a pool: the process does not wait for it at its end.
        threading.Thread(target=look_up, name="sumi-dns", daemon=True).start()
        return answer


def _system_addresses(host: str) -> Resolution:
    try:
        found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return Unresolved(_WORDS.get(error.errno or 0, "the host name did not resolve"))
    except (OSError, UnicodeError):
        return Unresolved("the host name did not resolve")
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

"""Asking the system for a name's addresses without ever holding up the event loop."""

import asyncio
import socket
import threading
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

_LOOKUPS_AT_ONCE = 16
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
    itself and keeps its place among the few that may run: a dead name server costs a handful of threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(_LOOKUPS_AT_ONCE)

    async def addresses(self, host: str) -> Resolution:
        try:
            async with asyncio.timeout(self._seconds):
                await self._places.acquire()
                return await self._start(host)
        except TimeoutError:
            return Unresolved(_TOOK_TOO_LONG)

    def _start(self, host: str) -> "asyncio.Future[Resolution]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Resolution] = loop.create_future()

        def done(found: Resolution) -> None:
            self._places.release()
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

"""The addresses of a name, looked up without blocking the event loop and checked before any is used."""

import asyncio
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

from sumi.fetch.guard import parse_address
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Clock

_LOOKUPS_AT_ONCE = 16
_MAX_ABANDONED = 240
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
    """``getaddrinfo`` in threads. It cannot be interrupted, so a lookup that takes too long is abandoned and
    its place given to another name: names without an answer do not block others. The number of abandoned
    lookups, and so of threads, is bounded; beyond it the name server must be dead."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(_LOOKUPS_AT_ONCE)
        self._abandoned = 0

    async def addresses(self, host: str) -> Resolution:
        # Waiting for a place has no time limit, except with a dead name server, where none may come free.
        patience = self._seconds if self._abandoned >= _MAX_ABANDONED else None
        lookup: _Lookup | None = None
        try:
            async with asyncio.timeout(patience):
                await self._places.acquire()
            lookup = _Lookup(self._ended)
            async with asyncio.timeout(self._seconds):
                return await lookup.start(host)
        except TimeoutError:
            if lookup is not None and self._abandoned < _MAX_ABANDONED:
                lookup.abandoned = True
                self._abandoned += 1
                self._places.release()
            return Unresolved(_TOOK_TOO_LONG)

    def _ended(self, lookup: "_Lookup") -> None:
        if lookup.abandoned:
            self._abandoned -= 1
        else:
            self._places.release()


class _Lookup:
    """One name in a thread of its own."""

    def __init__(self, ended: "Callable[[_Lookup], None]") -> None:
        self._ended = ended
        self.abandoned = False

    def start(self, host: str) -> "asyncio.Future[Resolution]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Resolution] = loop.create_future()

        def done(found: Resolution) -> None:
            self._ended(self)
            if not answer.done():
                answer.set_result(found)

        def look_up() -> None:
            found = _system_addresses(host)
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(done, found)

        # A daemon, unlike the threads of a pool: the process does not wait for it when it exits.
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


KEPT_SECONDS = 60.0
_KEPT_NAMES = 4096
_MAX_ADDRESSES = 16  # more than any name needs; a name server may send hundreds

STOPPED = Verdict(Outcome.CONNECTION_LOST, "stopped before the name was found")
NO_ADDRESS = Unresolved("the host name has no address")


class Found(NamedTuple):
    """Checked addresses, best first; none if the host is an address itself."""

    addresses: tuple[str, ...]
    expires: float


Entry: TypeAlias = Found | Verdict
_Key: TypeAlias = tuple[str, int]


class Checks(Protocol):
    """Which addresses may be used, and which ones the user gave instead of a lookup."""

    def check(self, host: str, port: int, address: str) -> str | None: ...

    def pinned(self, host: str, port: int) -> tuple[str, ...]: ...


class AddressBook:
    """One lookup per name: the addresses that are checked are the ones that are used.

    A name is refused if any of its addresses is. Results are kept for a minute, so that a name server with
    changing answers cannot choose which one is checked and which one is used.
    """

    def __init__(self, resolver: Resolver, guard: Checks, clock: Clock) -> None:
        self._resolver = resolver
        self._guard = guard
        self._clock = clock
        self._kept: OrderedDict[_Key, Found] = OrderedDict()
        self._asking: dict[_Key, asyncio.Task[Entry]] = {}

    def known(self, host: str, port: int) -> Found | None:
        """What needs no lookup: a literal, a pinned name, a recent result."""
        found = self._kept.get((host, port))
        if found is not None and self._clock.now() < found.expires:
            return found
        pinned = self._guard.pinned(host, port)
        if pinned or parse_address(host) is not None:
            return self._keep((host, port), Found(pinned, float("inf")))
        return None

    async def find(self, host: str, port: int) -> Entry:
        """The addresses of a host, or why there are none."""
        found = self.known(host, port)
        if found is not None:
            return found
        key = (host, port)
        asking = self._asking.get(key)
        if asking is None:
            # A task of its own, because the first caller may be cancelled while others wait.
            asking = self._asking[key] = asyncio.create_task(self._look_up(key))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        await asyncio.wait({asking})
        return STOPPED if asking.cancelled() else asking.result()

    async def aclose(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _look_up(self, key: _Key) -> Entry:
        host, port = key
        resolution: Resolution = await self._resolver.addresses(host) or NO_ADDRESS
        if isinstance(resolution, Unresolved):
            return Verdict(Outcome.DNS_FAILED, resolution.words)
        refusal = self._refusal(host, port, resolution)
        if refusal is not None:
            return Verdict(Outcome.ADDRESS_REFUSED, refusal)
        return self._keep(key, Found(resolution[:_MAX_ADDRESSES], self._clock.now() + KEPT_SECONDS))

    def _refusal(self, host: str, port: int, addresses: tuple[str, ...]) -> str | None:
        refusals = (self._guard.check(host, port, address) for address in addresses)
        return next((refusal for refusal in refusals if refusal is not None), None)

    def _keep(self, key: _Key, found: Found) -> Found:
        self._kept[key] = found
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_NAMES:
            self._kept.popitem(last=False)
        return found

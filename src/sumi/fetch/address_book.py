"""One resolution per name: the addresses that are checked are the ones that are dialled.

A name is refused as a whole if any of its addresses is forbidden. What was found is kept for a minute, so a
name server that answers differently each time cannot choose which answer is checked and which is used.
"""

import asyncio
from collections import OrderedDict
from typing import NamedTuple, Protocol, TypeAlias

from sumi.fetch.resolver import Resolution, Resolver, Unresolved
from sumi.fetch.special_addresses import parse_address
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Clock

KEPT_SECONDS = 60.0
_KEPT_NAMES = 4096
_MOST_ADDRESSES = 16  # more than any name needs; a name server may send hundreds

STOPPED = Verdict(Outcome.CONNECTION_LOST, "stopped before the name was found")
NO_ADDRESS = Unresolved("the host name has no address")


class Found(NamedTuple):
    """Checked addresses, best first; none for a host that is an address itself."""

    addresses: tuple[str, ...]
    expires: float


Entry: TypeAlias = Found | Verdict
_Key: TypeAlias = tuple[str, int]


class Checks(Protocol):
    """What may be dialled, and what the user wrote down instead of a resolution."""

    def check(self, host: str, port: int, address: str) -> str | None: ...

    def pinned(self, host: str, port: int) -> tuple[str, ...]: ...


class AddressBook:
    def __init__(self, resolver: Resolver, guard: Checks, clock: Clock) -> None:
        self._resolver = resolver
        self._guard = guard
        self._clock = clock
        self._kept: OrderedDict[_Key, Found] = OrderedDict()
        self._asking: dict[_Key, asyncio.Task[Entry]] = {}

    def known(self, host: str, port: int) -> Found | None:
        """What needs no waiting: a literal, a pin, a name that was looked up a moment ago."""
        found = self._kept.get((host, port))
        if found is not None and self._clock.now() < found.expires:
            return found
        pinned = self._guard.pinned(host, port)
        if pinned or parse_address(host) is not None:
            return self._keep((host, port), Found(pinned, float("inf")))
        return None

    async def find(self, host: str, port: int) -> Entry:
        """The addresses of a host, or why there are none to be had."""
        found = self.known(host, port)
        if found is not None:
            return found
        key = (host, port)
        asking = self._asking.get(key)
        if asking is None:
            # A task of its own, because whoever asked first may be cancelled while others wait.
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
        return self._keep(key, Found(resolution[:_MOST_ADDRESSES], self._clock.now() + KEPT_SECONDS))

    def _refusal(self, host: str, port: int, addresses: tuple[str, ...]) -> str | None:
        refusals = (self._guard.check(host, port, address) for address in addresses)
        return next((refusal for refusal in refusals if refusal is not None), None)

    def _keep(self, key: _Key, found: Found) -> Found:
        self._kept[key] = found
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_NAMES:
            self._kept.popitem(last=False)
        return found

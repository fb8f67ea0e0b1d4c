"""A host's turns, shared with the other jobs on this machine, and with other hosts on its address: before a
request they are claimed, and after it the others are told when they may ask."""

from collections.abc import Callable
from typing import NamedTuple

from sumi.engine.answers import host_report
from sumi.engine.io import Io
from sumi.frontier.addresses import AddressPaces, Place
from sumi.frontier.pacing import BORROWED
from sumi.model import Request, Response
from sumi.outcomes import Trouble


class Claimed(NamedTuple):
    """The host may be asked now, which must then be done."""

    host: str
    is_shared: bool = False
    place: Place | None = None


class SharedTurns:
    """``delay_of``: the seconds that this job leaves between two requests to a host. A host without any is
    not shared: its owner does not mind."""

    def __init__(self, io: Io, delay_of: Callable[[str], float]) -> None:
        self._io = io
        self._delay_of = delay_of
        self._addresses = AddressPaces(io.per_address) if io.per_address else None

    async def claim(self, host: str, url: str) -> Claimed | float:
        """Allows one request to the host, for the URL; else says when to return. Until then no page of the
        host is leased, so that nobody waits with a page in hand."""
        pace, delay = self._io.pace, self._delay_of(host)
        if not delay or (pace is None and self._addresses is None):
            return Claimed(host)
        place = await self._claim_place(host, url, delay)
        if isinstance(place, float):
            return await self._held(host, place)
        seconds = 0.0 if pace is None else pace.claim(host, delay)
        if not seconds:
            return Claimed(host, is_shared=True, place=place)
        until = self._io.clock.now() + seconds
        if place is not None and self._addresses is not None:
            self._addresses.give_back(place)
            self._tell_unsent(_named(place))
        return await self._held(host, until)

    async def fetch(self, claimed: Claimed, request: Request) -> Response | Trouble:
        if not claimed.is_shared:
            return await self._io.fetcher.fetch(request)
        answer: Response | Trouble | None = None
        try:
            answer = await self._io.fetcher.fetch(request)
            return answer
        finally:
            self._end(claimed, answer)

    def _end(self, claimed: Claimed, answer: Response | Trouble | None) -> None:
        host, _, place = claimed
        now, delay = self._io.clock.now(), self._delay_of(host)
        report = None if answer is None else host_report(answer)
        if place is not None and self._addresses is not None:
            self._addresses.leave(place, 0.0 if report is None else report.reached, delay)
        if report is None:
            self._tell_unsent(host, *([] if place is None else [_named(place)]))
            return
        if self._io.pace is None:
            return
        # A pause that the host asked for is not one of the others on its address.
        self._io.pace.answered(host, max(delay, report.retry_after or 0.0), now - report.reached)
        if place is not None:
            self._io.pace.answered(_named(place), delay, now - report.reached)

    async def _held(self, host: str, until: float) -> float:
        await self._io.frontier.hold_host(host, until, BORROWED)
        return until

    # ── places of addresses ────────────────────────────────────────────────────────────────────────────

    async def _claim_place(self, host: str, url: str, delay: float) -> Place | float | None:
        """None: its address is not known, or does not matter."""
        addresses, find = self._addresses, self._io.address_of
        if addresses is None or find is None or (address := await find(url)) is None:
            return None
        now = self._io.clock.now()
        places = addresses.free(address, host, now, delay)
        if isinstance(places, float):
            return places
        seconds = [0.0]
        for place in places:
            wait = 0.0 if self._io.pace is None else self._io.pace.claim(_named(place), delay)
            if not wait:
                addresses.take(place, host, now)
                return place
            seconds.append(wait)
        until = now + min(seconds[1:])
        addresses.put_off(address, host, until)
        return until

    def _tell_unsent(self, *claims: str) -> None:
        if self._io.pace is not None:
            for claim in claims:
                self._io.pace.unsent(claim)


def _named(place: Place) -> str:
    """In the file that jobs share. No host has a space in its name."""
    return f"{place.address} {place.number}"

"""One pace for all hosts on one address: virtual hosts of one server are asked as one host would be.

An address has a number of places. A request takes one, and frees it once the host's delay has passed since
the server had it. A host that finds none free is told when to come back; those who wait are told different
times, so that a thousand hosts on one address do not all come at once, and whoever is due goes before whoever
just comes by.
"""

from itertools import islice
from typing import Final, NamedTuple

from sumi.frontier.pacing import INFINITY, NOW_WEIGHT

_SHORTEST_WAIT: Final = 0.01  # seconds
_MOST_IDLE: Final = 4096  # addresses that are remembered although nothing is due there


class Place(NamedTuple):
    address: str
    number: int


class _Address:
    __slots__ = ("asked_at", "free_at", "last_promise", "latency", "waiting")

    def __init__(self, places: int) -> None:
        self.asked_at = [0.0] * places
        self.free_at = [0.0] * places  # infinity while a request is under way
        self.waiting: dict[str, float] = {}  # hosts, first come first, and when each comes back
        self.last_promise = 0.0
        self.latency = 0.0  # a moving average

    def is_idle(self, now: float) -> bool:
        return not self.waiting and max(self.free_at) <= now


class AddressPaces:
    """``places``: how many requests each address gets within a delay. Times are those of the caller."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._known: dict[str, _Address] = {}

    def free(self, address: str, host: str, now: float, delay: float) -> list[Place] | float:
        """Places of which the host may ``take`` one; else when to ask again. ``delay``: the seconds between
        two requests to the host."""
        known = self._known.get(address)
        if known is None:
            self._forget_idle(now)
            known = self._known[address] = _Address(self._places)
        self._drop_absent(known, now, delay)
        free = [number for number, at in enumerate(known.free_at) if at <= now]
        if len(free) > self._due_before(known, host, now):
            return [Place(address, number) for number in free]
        return self._promise(known, host, now, delay)

    def take(self, place: Place, host: str, now: float) -> None:
        known = self._known[place.address]
        known.waiting.pop(host, None)
        known.free_at[place.number] = INFINITY
        known.asked_at[place.number] = now

    def put_off(self, address: str, host: str, until: float) -> None:
        """Another job of this machine has the places."""
        self._known[address].waiting[host] = until

    def leave(self, place: Place, reached: float, delay: float) -> None:
        """The request is over: the server had it by then, if it was ever sent."""
        known = self._known[place.address]
        asked = known.asked_at[place.number]
        known.free_at[place.number] = max(reached, asked) + delay
        known.latency += NOW_WEIGHT * (max(reached - asked, 0.0) - known.latency)

    def give_back(self, place: Place) -> None:
        """Nothing was sent."""
        known = self._known[place.address]
        known.free_at[place.number] = known.asked_at[place.number]

    def _due_before(self, known: _Address, host: str, now: float) -> int:
        """How many hosts are due, of those who waited longer: at most as many as there are places."""
        first = islice(known.waiting.items(), self._places)
        count = 0
        for waiting, until in first:
            if waiting == host:
                break
            count += until <= now
        return count

    def _promise(self, known: _Address, host: str, now: float, delay: float) -> float:
        promised = known.waiting.get(host)
        if promised is not None and promised > now:
            return promised
        soonest = min(known.free_at)
        if soonest == INFINITY:
            soonest = now + delay / 2
        soonest = max(soonest, now + _SHORTEST_WAIT)
        if promised is not None and host in islice(known.waiting, self._places):
            known.waiting[host] = soonest
            return soonest
        known.waiting.pop(host, None)
        turn = (delay + known.latency) / self._places
        after_others = known.last_promise + turn if known.waiting else 0.0
        known.waiting[host] = known.last_promise = max(soonest, after_others)
        return known.last_promise

    def _drop_absent(self, known: _Address, now: float, delay: float) -> None:
        """Those who have not come back a while after they were due have nothing to ask for any more."""
        for host, until in list(islice(known.waiting.items(), self._places)):
            if until + 2 * delay < now:
                del known.waiting[host]

    def _forget_idle(self, now: float) -> None:
        if len(self._known) >= _MOST_IDLE:
            self._known = {name: known for name, known in self._known.items() if not known.is_idle(now)}

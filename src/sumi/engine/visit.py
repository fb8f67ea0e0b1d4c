"""Leases of pages in flight are renewed well before they run out: no slow page is given to somebody else.

A lease can be lost all the same (the process was suspended for longer than it lasts); then the page's result
is refused when it is settled, and whoever holds the page now brings it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sumi.model import Lease
from sumi.ports import Clock, Frontier

# Four renewals in a row may fail to come before a lease is lost.
RENEWALS_PER_LEASE = 5
# While nothing is in flight there is nothing to renew; a lease is at least this long.
SHORTEST_PAUSE = 1.0


class LeaseKeeper:
    def __init__(self, frontier: Frontier, clock: Clock) -> None:
        self._frontier = frontier
        self._clock = clock
        self._held: dict[int, Lease] = {}
        self._pause = SHORTEST_PAUSE

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[None]:
        """The lease is kept for as long as the block lasts."""
        self._held[lease.token] = lease
        self._pause = max((lease.deadline - self._clock.now()) / RENEWALS_PER_LEASE, SHORTEST_PAUSE)
        try:
            yield
        finally:
            self._held.pop(lease.token, None)

    async def keep(self) -> None:
        """Runs beside the crawl until cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.now() + self._pause)
            held = list(self._held.values())
            kept = await self._frontier.renew(held, self._clock.now())
            for lease, still_ours in zip(held, kept, strict=True):
                if not still_ours:
                    self._held.pop(lease.token, None)

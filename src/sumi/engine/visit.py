"""A page in flight: a ``Visit`` is made with its lease and gone with it.

A page may need several turns with its host: one for robots.txt, one for HEAD, another for its other spelling
or its Markdown. Each is a lease of its own, so each is a visit; ``Tried`` is what one leaves for the next.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from sumi.model import Candidate, Lease, PageFacts, Response
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.ports import Clock, Frontier, HostReport

HTML: Final = "html"
# Four renewals in a row may fail to come before a lease is lost.
RENEWALS_PER_LEASE = 5
# While nothing is in flight there is nothing to renew; a lease is at least this long.
SHORTEST_PAUSE = 1.0


class Variant(NamedTuple):
    """What is asked for: the page itself, or its site's own Markdown of it (see ``native_markdown``)."""

    target: str
    headers: tuple[tuple[str, str], ...] = ()
    name: str = HTML
    at_hand: Response | None = None  # the answer, if it need not be asked for


class Sample(msgspec.Struct):
    """A page that came as HTML and waits to be compared with its Markdown."""

    request: DigestRequest
    response: Response
    digest: PageDigest
    to_try: deque[str] = msgspec.field(default_factory=deque)  # variants in which it may be had


class Tried(msgspec.Struct):
    """What earlier turns of a page did. In memory only: after a restart some of it is done again."""

    head: bool = False  # its type was asked for
    other_spelling: bool = False
    redirects: int = 0  # to itself, so not in its candidate: the next run counts from 0
    cookies: int = 0  # of those, how many set a cookie
    probes: int = 0  # looks at what its host shows for a page that cannot exist
    markdown: bool = False  # its Markdown was looked at: it is asked for as HTML
    sample: Sample | None = None


class Visit:
    """One page in flight, and all that is known of it until its lease ends."""

    __slots__ = ("base", "before", "content", "decided", "lease", "report", "response", "tried", "variant")

    def __init__(self, lease: Lease, tried: Tried | None = None) -> None:
        self.lease = lease
        self.tried = Tried() if tried is None else tried
        self.before: PageFacts | None = None  # what is recorded of a page that is here, or once was
        self.variant = Variant(lease.target)
        self.report: HostReport | None = None  # what the exchange says about the host; None: it was not asked
        self.response: Response | None = None  # what came over the network, its body included
        self.base: int | None = None  # the base URL whose quota it counts for
        self.content: int | None = None  # the content that it is the first to bring
        self.decided: asyncio.Event | None = None  # for those who wait to know whether that was kept

    @property
    def url(self) -> str:
        return self.lease.candidate.url

    @property
    def candidate(self) -> Candidate:
        return self.lease.candidate

    def let_go_of_body(self) -> None:
        """It does not count as in flight any more, even if something still refers to it."""
        if self.response is not None and self.response.hold is not None:
            self.response.hold.release()
        self.response = None


class Visits:
    """Every page in flight. Leases are renewed well before they run out, so that no slow page is given away.

    A lease can be lost all the same (the process was suspended for longer than it lasts). Then the page's
    result is refused when it is settled, and the visit that holds the page now brings it.
    """

    def __init__(self, frontier: Frontier, clock: Clock) -> None:
        self._frontier = frontier
        self._clock = clock
        self._in_flight: dict[int, Visit] = {}  # by token
        self._tried: dict[str, Tried] = {}  # of pages that wait for another turn
        self._pause = SHORTEST_PAUSE

    @contextmanager
    def of(self, lease: Lease) -> Iterator[Visit]:
        """The lease is renewed for as long as the block lasts."""
        visit = Visit(lease, self._tried.pop(lease.url, None))
        self._in_flight[lease.token] = visit
        self._pause = max((lease.deadline - self._clock.now()) / RENEWALS_PER_LEASE, SHORTEST_PAUSE)
        try:
            yield visit
        finally:
            self._in_flight.pop(lease.token, None)

    def remember(self, visit: Visit) -> None:
        """It is about to be handed back: its next turn goes on where this one ends."""
        if visit.tried != Tried():
            self._tried[visit.url] = visit.tried

    def urls(self) -> tuple[str, ...]:
        return tuple(sorted(visit.url for visit in self._in_flight.values()))

    async def keep_leases(self) -> None:
        """Runs beside the crawl until cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.now() + self._pause)
            held = [visit.lease for visit in self._in_flight.values()]
            kept = await self._frontier.renew(held, self._clock.now())
            for lease, still_ours in zip(held, kept, strict=True):
                if not still_ours:
                    self._in_flight.pop(lease.token, None)

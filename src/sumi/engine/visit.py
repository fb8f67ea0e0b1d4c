"""A page in flight: a ``Visit`` is created with its lease and ends with it.

A page may need several turns with its host: for robots.txt, for HEAD, for its other spelling or its Markdown.
Each is a lease of its own, so each is a visit; ``Tried`` is what one leaves for the next.
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
# A lease is lost only if four renewals in a row do not come through.
RENEWALS_PER_LEASE = 5
# Seconds between renewals, at least; also while nothing is in flight.
SHORTEST_PAUSE = 1.0


class Variant(NamedTuple):
    """What is requested: the page itself, or the site's own Markdown of it (see ``native_markdown``)."""

    target: str
    headers: tuple[tuple[str, str], ...] = ()
    name: str = HTML
    at_hand: Response | None = None  # the response, if it is already here


class Sample(msgspec.Struct):
    """A page that came as HTML and will be compared with its Markdown."""

    request: DigestRequest
    response: Response
    digest: PageDigest
    to_try: deque[str] = msgspec.field(default_factory=deque)  # variants that may exist


class Tried(msgspec.Struct):
    """What earlier turns of a page did. In memory only: after a restart some of it is repeated."""

    head: bool = False  # HEAD was sent
    other_spelling: bool = False
    redirects: int = 0  # to itself, so not in its candidate: the next run counts from 0
    cookies: int = 0  # of those, how many set a cookie
    probes: int = 0  # checks of the probe for soft errors
    markdown: bool = False  # its Markdown was tried: the rest is HTML
    sample: Sample | None = None


class Visit:
    """One page in flight: everything known about it until its lease ends."""

    __slots__ = ("base", "before", "content", "decided", "lease", "report", "response", "tried", "variant")

    def __init__(self, lease: Lease, tried: Tried | None = None) -> None:
        self.lease = lease
        self.tried = Tried() if tried is None else tried
        self.before: PageFacts | None = None  # the record of an earlier copy
        self.variant = Variant(lease.target)
        self.report: HostReport | None = None  # on the host; None: it was not contacted
        self.response: Response | None = None  # as received, with its body
        self.base: int | None = None  # index of the base URL whose quota it uses
        self.content: int | None = None  # key of the content that it is the first to bring
        self.decided: asyncio.Event | None = None  # set once it is known whether that was kept

    @property
    def url(self) -> str:
        return self.lease.candidate.url

    @property
    def candidate(self) -> Candidate:
        return self.lease.candidate

    def release_body(self) -> None:
        """Return its memory to the budget, even if something still refers to it."""
        if self.response is not None and self.response.hold is not None:
            self.response.hold.release()
        self.response = None


class Visits:
    """Every page in flight. Leases are renewed well before they expire, so that slow pages keep theirs.

    A lease can still be lost, if the process is stopped for longer than it lasts. Then the result of the page
    is refused when it is settled, and the visit that holds the new lease delivers it.
    """

    def __init__(self, frontier: Frontier, clock: Clock) -> None:
        self._frontier = frontier
        self._clock = clock
        self._in_flight: dict[int, Visit] = {}  # by token
        self._since: dict[int, float] = {}
        self._tried: dict[str, Tried] = {}  # for pages that wait for another turn
        self._pause = SHORTEST_PAUSE

    @contextmanager
    def of(self, lease: Lease) -> Iterator[Visit]:
        """A visit of the leased page; the lease is renewed until the block ends."""
        visit = Visit(lease, self._tried.pop(lease.url, None))
        self._in_flight[lease.token] = visit
        self._since[lease.token] = self._clock.now()
        self._pause = max((lease.deadline - self._clock.now()) / RENEWALS_PER_LEASE, SHORTEST_PAUSE)
        try:
            yield visit
        finally:
            self._in_flight.pop(lease.token, None)
            self._since.pop(lease.token, None)

    def remember(self, visit: Visit) -> None:
        """Before it is handed back: its next turn continues where this one ends."""
        if visit.tried != Tried():
            self._tried[visit.url] = visit.tried

    def urls(self) -> tuple[str, ...]:
        return tuple(sorted(visit.url for visit in self._in_flight.values()))

    def seconds(self) -> dict[str, float]:
        """How long each page is in flight."""
        now = self._clock.now()
        return {
            visit.url: round(now - self._since.get(token, now), 1) for token, visit in self._in_flight.items()
        }

    async def keep_leases(self) -> None:
        """Runs beside the crawl until cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.now() + self._pause)
            held = [visit.lease for visit in self._in_flight.values()]
            kept = await self._frontier.renew(held, self._clock.now())
            for lease, still_ours in zip(held, kept, strict=True):
                if not still_ours:
                    self._in_flight.pop(lease.token, None)

"""What a frontier keeps about each URL, how many there are of each kind, and who leases which until when."""

import heapq
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from enum import IntEnum
from typing import Protocol, TypeAlias

import msgspec

from sumi.model import Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Attempt, RobotsRecord


class State(IntEnum):
    """The numbers are what databases store."""

    WAITING = 1  # in its host's queue
    DELAYED = 2  # not due yet; joins that queue when it is
    LEASED = 3  # being fetched
    SETTLED = 4  # has its outcome
    REFUSED = 5  # refused by the gate when it was found
    BEHIND = 6  # a retry: waits until it is due and its host has no URL left that was never requested


# Looking up an enum member takes ten times as long as a constant, and happens a dozen times for every page.
WAITING, DELAYED, LEASED, SETTLED, REFUSED, BEHIND = State

# For these a new finding can change the gate's mind; every other refusal is a property of the URL itself.
LIFTED_BY_LISTING = frozenset({Outcome.UNLISTED})
LIFTED_BY_SHORTER_WAY = frozenset({Outcome.TOO_DEEP})
# Not wanted as a page, it may still be an image that a wanted page embeds.
LIFTED_BY_EMBED = frozenset({Outcome.OUT_OF_SCOPE, Outcome.EXCLUDED, Outcome.UNLISTED, Outcome.TOO_DEEP})


class Entry(msgspec.Struct, gc=False, eq=False):
    """One known URL. ``facts`` is whatever the store needs to find its PageFacts again.

    Not tracked by the garbage collector: it contains no reference to itself, and a full collection that
    visits a million of them would stop the crawl for that time.
    """

    candidate: Candidate
    host: str
    sequence: int  # discovery order
    state: State = WAITING
    attempts: int = 0
    verdict: Verdict | None = None
    at: float | None = None
    facts: PageFacts | int | None = None
    latest: int = 0  # number of its latest attempt, where the store numbers them
    deadline: float = 0.0  # of the lease; of the wait, while delayed or behind
    token: int = 0
    holds_host: bool = False
    behind: bool = False  # URLs of its host that were never requested go first

    @property
    def rank(self) -> tuple[bool, int, float, int]:
        """Lower is fetched first: sitemaps, then depth, score, discovery."""
        c = self.candidate
        return (c.kind == "page", c.depth, c.score, self.sequence)

    def could_change(self, depth: int, hop: Hop) -> bool:
        """Whether finding it again, at this depth by this hop, could matter."""
        if self.state is WAITING or self.state is DELAYED or self.state is BEHIND:
            return depth < self.candidate.depth
        if self.state is not REFUSED or self.verdict is None:
            return False
        if hop is Hop.EMBED:
            return self.verdict.outcome in LIFTED_BY_EMBED
        if self.verdict.outcome in LIFTED_BY_SHORTER_WAY:
            return depth < self.candidate.depth
        return hop is not Hop.LINK and self.verdict.outcome in LIFTED_BY_LISTING


class Counts:
    """Kept up to date as URLs move, so that statistics never scan."""

    __slots__ = ("captured", "leased", "leased_of", "listed", "open", "open_of", "outcomes")

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()  # of settled and refused URLs
        self.open: Counter[Kind] = Counter()  # waiting, delayed, behind or leased
        self.open_of: Counter[str] = Counter()  # the same by host
        self.leased: Counter[Kind] = Counter()
        self.leased_of: Counter[str] = Counter()
        self.listed = 0  # pages that a sitemap listed
        self.captured = 0  # pages that count against max_pages


SPARE_DEADLINES = 1000  # of leases that have ended, before they are removed


class Leases:
    def __init__(self) -> None:
        self.held: dict[str, Entry] = {}  # by URL
        self.ids: set[int] = set()  # the discovery numbers of the same
        # When retries were due: they return there after a crash.
        self.due_before: dict[str, float] = {}
        self._deadlines: list[tuple[float, int, str]] = []
        self._last_token = 0

    def give(self, entry: Entry, deadline: float) -> Lease:
        if entry.behind:
            self.due_before[entry.candidate.url] = entry.deadline
        self._last_token += 1
        self._hold(entry, self._last_token, deadline)
        entry.holds_host = True
        return Lease(entry.candidate, entry.host, entry.token, deadline, entry.attempts)

    def held_by(self, lease: Lease) -> Entry | None:
        """The entry, if this lease still holds it."""
        entry = self.held.get(lease.candidate.url)
        return entry if entry is not None and entry.token == lease.token else None

    def renew(self, lease: Lease, deadline: float) -> bool:
        entry = self.held_by(lease)
        if entry is None:
            return False
        entry.deadline = deadline
        heapq.heappush(self._deadlines, (deadline, entry.token, lease.url))
        return True

    def end(self, entry: Entry) -> None:
        url = entry.candidate.url
        del self.held[url]
        self.ids.discard(entry.sequence)
        entry.token, entry.deadline = 0, 0.0
        if entry.behind:
            self.due_before.pop(url, None)
        self._forget_deadlines()

    def expired(self, now: float) -> list[Entry]:
        """Those whose deadline has passed."""
        found: dict[str, Entry] = {}  # one that was renewed at once has the same deadline twice
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, token, url = heapq.heappop(self._deadlines)
            entry = self.held.get(url)
            if entry is not None and entry.token == token and entry.deadline == deadline:
                found[url] = entry
        return list(found.values())

    def inherit(self, other: "Leases", entry_of: dict[str, Entry]) -> None:
        """Whatever is leased there is leased here, with the same token."""
        self._last_token = other._last_token
        for url, held in other.held.items():
            entry = entry_of[url]
            self._hold(entry, held.token, held.deadline)
            entry.holds_host = held.holds_host

    def continue_from(self, other: "Leases") -> None:
        """Nothing is leased, and no token is given twice."""
        self._last_token = other._last_token

    def _hold(self, entry: Entry, token: int, deadline: float) -> None:
        url = entry.candidate.url
        entry.state, entry.token, entry.deadline = LEASED, token, deadline
        self.held[url] = entry
        self.ids.add(entry.sequence)
        heapq.heappush(self._deadlines, (deadline, token, url))

    def _forget_deadlines(self) -> None:
        """Drop those of leases that have ended, which would otherwise stay until they are due."""
        if len(self._deadlines) > 2 * len(self.held) + SPARE_DEADLINES:
            self._deadlines = [(entry.deadline, entry.token, url) for url, entry in self.held.items()]
            heapq.heapify(self._deadlines)


class StoredUrl(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that a store knows about one URL, in a form that any other store can import."""

    candidate: Candidate
    refused: bool = False  # by the gate, when it was found
    verdict: Verdict | None = None  # None: still to do
    at: float | None = None
    attempts: int = 0
    address: str = ""  # of versions whose candidates had none
    not_before: float = 0.0
    behind: bool = False  # URLs of its host that were never requested go first
    facts: PageFacts = PageFacts()
    history: tuple[Attempt, ...] = ()


class StoredHost(msgspec.Struct, frozen=True):
    """What must be remembered about a host when the process ends."""

    host: str
    crawl_delay: float
    hold_until: float
    hold_why: str


class StoredNote(msgspec.Struct, frozen=True):
    key: str
    value: str


class StoredListing(msgspec.Struct, frozen=True):
    """How many pages sitemaps listed. It cannot be counted: a link may since have led to such a page too."""

    pages: int


Stored: TypeAlias = StoredNote | RobotsRecord | StoredHost | StoredUrl | StoredListing


class Exporter(Protocol):
    """A store whose content can be copied into another one."""

    def export(self) -> AsyncIterator[Stored]:
        """Notes, robots.txt and hosts, every URL in discovery order, the listing; streamed."""
        ...


class Importer(Protocol):
    async def restore(self, items: Sequence[Stored]) -> None:
        """Import what ``export`` yielded, in its order, batch by batch, into a store that was empty."""
        ...

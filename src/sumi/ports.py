"""Every seam of the engine, with its promises. One contract suite per port runs over all its backends.

No backend has to offer every port. ``state.memory`` is the executable specification of Frontier and Ledger.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from sumi.events import WaitingHost
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Request, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.policy import FrontierPolicy


class Judged(msgspec.Struct, frozen=True, gc=False):
    """A candidate and what the gate decided. No refusal: it is to be fetched."""

    candidate: Candidate
    refusal: Verdict | None = None


class HostReport(msgspec.Struct, frozen=True):
    """What an exchange showed about its host; drives pacing."""

    reached: float  # when the server had certainly seen the request
    latency: float
    ok: bool = True  # the host answered; a 404 is an answer, a 502 is not
    throttled: bool = False  # it asked for a pause: 429, or 503 with a Retry-After
    retry_after: float | None = None  # seconds
    crawl_delay: float | None = None  # from robots.txt, where just consulted
    status: int = 0  # of its answer; 0: there was none
    asked_for: str = ""  # what was requested, if it was not the page itself: a robots.txt


class Settlement(msgspec.Struct, frozen=True):
    """The end of a lease: the outcome, its record and its discoveries become durable as one unit."""

    lease: Lease
    verdict: Verdict
    at: float
    facts: PageFacts = PageFacts()
    found: tuple[Judged, ...] = ()
    # Everything that the page links to, known or not, if the recipe records links (for a map). None: nothing
    # is known about its links, for instance because the page did not change.
    links: tuple[str, ...] | None = None


class Deferral(msgspec.Struct, frozen=True):
    """A lease given back: a retry, a turn spent on robots.txt, a redirect within the URL's identity."""

    lease: Lease
    at: float
    not_before: float
    why: Verdict | None = None  # the failure, for a retry; counts as an attempt
    address: str = ""  # request this from now on; empty: as before
    found: tuple[Judged, ...] = ()
    head_answered: bool = False  # its next lease says so, in another process too where HEAD comes first


class FrontierStats(msgspec.Struct, frozen=True):
    known: int  # every URL ever added
    pending: int  # waiting, delayed or leased
    leased: int
    outcomes: dict[Outcome, int]  # of settled and refused URLs; with ``pending`` they add up to ``known``
    listed: int  # pages that a sitemap listed and the gate accepted
    captured: int  # pages that count against max_pages
    pending_pages: int = 0  # pending ones that would count


class HostWait(msgspec.Struct, frozen=True):
    """Why nothing is requested from a host that has work, and until when."""

    host: str
    pending: int
    in_flight: int
    ready_at: float
    why: str  # one of USUAL_WAITS, or what the host did

    def as_event(self, why: str | None = None) -> WaitingHost:
        ready_at = self.ready_at if math.isfinite(self.ready_at) else None
        return WaitingHost(self.host, self.pending, self.in_flight, why or self.why, ready_at)


class Frontier(Protocol):
    """The persistent priority queue, the seen set and host politeness, in one place.

    Order: lowest depth, then score, then discovery. Whatever ``lease`` returns may be fetched at once: no
    worker ever sleeps holding a URL.
    """

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        """Atomic test-and-set of a batch; one answer per item: True if it changed what is known.

        A URL enters only once. Only an accepted candidate for a URL that was *refused at discovery* (for
        instance too deep, and now found on a shorter path) replaces the refusal and queues it. An accepted
        candidate with a smaller depth lowers the depth of a URL that is still waiting.
        """
        ...

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        """Those of ``urls``, in order, for which ``add`` at this depth and hop could change anything.

        The hot path: a page has a hundred links and most are known. May return too many. A store that lowers
        depths by ``Settlement.links`` need only return those that are not known at all.
        """
        ...

    async def lease(self, limit: int, now: float) -> list[Lease]:
        """Up to ``limit`` URLs that may be fetched now. Empty never means finished: see ``stats``."""
        ...

    async def next_ready(self, now: float) -> float | None:
        """When the next lease may succeed by the passing of time alone; None if time will not help."""
        ...

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        """Extend deadlines. False for a lease that is no longer held."""
        ...

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        """This lease needs the host's network slot no longer; None: it was not used at all."""
        ...

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        """Each unit atomically, the batch as durable as the store promises. False: stale token, no effect."""
        ...

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        """Settled URLs go back to the queue: a file was lost, a temporary failure is tried again."""
        ...

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        """New facts for settled URLs whose output was rebuilt from what is stored; no URL is queued."""
        ...

    async def hold_host(self, host: str, until: float, why: str) -> None:
        """Nothing of this host is leased before ``until``; a longer hold stays, but for ``BORROWED``."""
        ...

    async def retune(self, policy: FrontierPolicy) -> None:
        """New limits from now on (a reload); hosts that may now be asked sooner are."""
        ...

    async def stats(self) -> FrontierStats: ...

    async def waiting_hosts(self, now: float) -> list[HostWait]: ...

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        """The same for one host, without looking at the others; None if it has no work."""
        ...

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """Everything settled before the call survives a power cut afterwards.

        ``outputs`` makes the files of settled pages durable and is awaited first: a record must never
        survive without the file that it names.
        """
        ...

    async def aclose(self) -> None: ...


class UrlRecord(msgspec.Struct, frozen=True):
    """Everything known about one URL: the row behind manifests and ``sumi explain``."""

    url: str
    hop: Hop
    kind: Kind
    depth: int
    referrer: str | None
    outcome: Outcome
    rule: str
    at: float | None
    attempts: int
    facts: PageFacts
    address: str = ""  # what is requested, if that is not ``url``

    @property
    def target(self) -> str:
        return self.address or self.url


class Attempt(msgspec.Struct, frozen=True):
    """One attempt to fetch a URL, and its result."""

    at: float
    outcome: Outcome
    rule: str


class RobotsRecord(msgspec.Struct, frozen=True):
    """A host's robots.txt as last seen. ``status`` 0: no answer."""

    origin: str
    status: int
    body: bytes
    fetched_at: float
    trouble: str = ""


class Ledger(Protocol):
    """What happened: the read side of manifests, status and explain."""

    def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        """Every URL (with one of these outcomes), in discovery order, streamed."""
        ...

    def waiting_again(self) -> AsyncIterator[UrlRecord]:
        """Pending URLs that an earlier run settled, in discovery order. They are few, and finding them must
        not mean reading a million records."""
        ...

    async def record(self, url: str) -> UrlRecord | None: ...

    async def history(self, url: str) -> list[Attempt]:
        """Every failed attempt and every settlement of a URL, oldest first. May be slow: it is for people."""
        ...

    async def get_robots(self, origin: str) -> RobotsRecord | None: ...

    async def put_robots(self, record: RobotsRecord) -> None: ...

    async def get_note(self, key: str) -> str | None:
        """Small named facts about the job itself: its configuration, when it started."""
        ...

    async def put_note(self, key: str, value: str) -> None: ...


class Store(Frontier, Ledger, Protocol):
    """Where a run keeps what it knows: what is to do and what happened, in one state."""


class JobStore(Store, Protocol):
    """A store whose state survives the process."""

    resumed: bool  # it was not empty when it was opened

    @property
    def torn_bytes(self) -> int:
        """How much had to be cut off on opening: the unfinished write of a crash."""
        ...

    @property
    def unsynced(self) -> list[str]:
        """URLs settled after the last sync mark: after a power cut, their files may be missing."""
        ...

    @property
    def is_read_whole(self) -> bool:
        """Whether opening it reads everything in it."""
        ...


class Snapshot(Ledger, Protocol):
    """A store opened read-only, during a run or after it: no lock, no change."""

    async def stats(self) -> FrontierStats: ...

    async def waiting_hosts(self, now: float) -> list[HostWait]: ...

    async def aclose(self) -> None: ...


class Fetcher(Protocol):
    """One exchange per call, bounded in time and bytes. Redirects are responses; failures are values."""

    async def fetch(self, request: Request) -> Response | Trouble: ...

    async def aclose(self) -> None: ...


class Digester(Protocol):
    """Turns a body into links, metadata and text, where it cannot harm the crawl."""

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested: ...

    async def aclose(self) -> None: ...


class Output(Protocol):
    """Writes the results of a job. Idempotent per page: accepting one again leaves the same files."""

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        """Write the page and return what to record about it. Called before the page is settled."""
        ...

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """The page ended without content: it failed, or a rule refused it after the fetch."""
        ...

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        """The page's record is in the store: append it to files that mirror the store."""
        ...

    async def sync(self) -> None:
        """Everything accepted so far survives a power cut from now on."""
        ...

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        """Write what is derived from all pages: manifests, indexes. Called at every orderly end."""
        ...


class RestorableOutput(Output, Protocol):
    """An output whose files can be reconciled with the store, and checked against it."""

    async def load(self, ledger: Ledger) -> None:
        """Before anything is accepted: rewrite the files that mirror the store, restore the names given."""
        ...

    def remarks(self) -> Sequence[str]:
        """What the summary should say about the output, as of the last ``finish``."""
        ...

    def has_whole(self, facts: PageFacts) -> bool:
        """Whether the file that the page's record names is there and complete; True if it names none."""
        ...


class AssetKeeper(Protocol):
    """Stores images and files unchanged. Idempotent, and called before their settlement, like ``Output``."""

    async def keep(self, lease: Lease, response: Response) -> PageFacts | Verdict:
        """Write it and return what to record about it, or why it is not kept."""
        ...


class Recorder(Protocol):
    """Archives what was requested and what came, as it was sent."""

    async def load(self, ledger: Ledger) -> None:
        """Before anything is recorded: undo what a killed run recorded without settling it."""
        ...

    def record(
        self,
        candidate: Candidate,
        response: Response | None,
        verdict: Verdict,
        before: PageFacts | None,
        now: float,
    ) -> str:
        """Called before the page is settled; returns the name to settle it with (``PageFacts.warc``)."""
        ...

    def withdraw(self, name: str) -> None:
        """The settlement was refused: another visit delivers this page."""
        ...

    def sync(self) -> None:
        """Everything recorded so far survives a power cut from now on."""
        ...

    def close(self) -> None: ...


class Blobs(Protocol):
    """Contents by their SHA-256. A blob is complete and never changes."""

    def put(self, digest: str, data: bytes) -> str:
        """Store ``data`` (compressed, if this store compresses) unless it is there; return its path."""
        ...

    def open(self, digest: str, most: int) -> bytes | None:
        """The content, decompressed; None if it is missing, damaged or larger than ``most`` bytes."""
        ...

    def has_whole(self, digest: str) -> bool:
        """Reads it and compares its hash: after a power cut, a file that was never synced may be empty."""
        ...

    def sync(self) -> None:
        """Everything put so far survives a power cut. Slow: call it in a thread."""
        ...


# Where a content is: the name of a file or an object, its first byte there and its length.
Place: TypeAlias = tuple[str, int, int]


class Segments(Protocol):
    """Contents in an object store, many to an object. A content is complete and never changes."""

    def append(self, kind: str, frame: bytes) -> Place:
        """Where it will be; it is there once ``stored`` has returned."""
        ...

    def close_segment(self) -> None:
        """Store what was appended now, instead of waiting for more."""
        ...

    async def stored(self, places: Iterable[Place]) -> None:
        """Returns once these can be read by anybody. As long as the store cannot be written, it waits."""
        ...

    def read(self, place: Place) -> bytes | None:
        """A frame that is not stored yet."""
        ...


# Queues pages, again if they are known, unless the gate refuses them. One answer each: None for accepted.
Enqueue: TypeAlias = Callable[[Sequence[Candidate]], Awaitable[Sequence[Verdict | None]]]


class Remains(msgspec.Struct, frozen=True):
    """What is left in a source at the end. A run that leaves anything is not complete."""

    behind: bool = False  # it was stopped before it had delivered everything
    unread: int = 0  # lines and files that could not be read
    notes: tuple[str, ...] = ()  # which, and what to do


# What the gate decides about candidates.
Judge: TypeAlias = Callable[[Iterable[Candidate]], Awaitable[Sequence[Judged]]]


class Session(Protocol):
    """The time for which certain hosts are ours."""

    def seconds_left(self) -> float:
        """For which no other worker can ask them, whatever happens; 0 or less: not any more."""
        ...


class Team(Protocol):
    """The other workers of a job, where it has any."""

    @property
    def session(self) -> Session | None: ...

    def may_ask(self, host: str) -> bool:
        """Whether the host is ours now."""
        ...

    def judge_with(self, judge: Judge) -> None:
        """From now on, URLs of our hosts that others found are added as this judges them."""
        ...


class Source(Protocol):
    """A source of pages to visit, besides the links of pages."""

    @property
    def more_to_come(self) -> bool:
        """While true, a crawl with nothing left to do waits."""
        ...

    async def resume(self, enqueue: Enqueue) -> None:
        """Before the first visit: pages that an earlier run took from the source are queued again."""
        ...

    async def feed(self, enqueue: Enqueue) -> None:
        """Runs beside the crawl until cancelled."""
        ...

    def at_hand(self, lease: Lease) -> Response | None:
        """The response, if it came with the page: its host is then not asked again."""
        ...

    def signed(self, settlement: Settlement) -> Settlement:
        """The settlement with a record of where the page came from, so that the source knows it is done."""
        ...

    def remains(self) -> Remains:
        """When the run is over."""
        ...


class Clock(Protocol):
    """The only source of time: seconds since the epoch, never running backwards."""

    def now(self) -> float: ...

    async def sleep_until(self, when: float) -> None: ...

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Wait for the event; at ``until`` the clock sets it."""
        ...

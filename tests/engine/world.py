"""A small internet with simulated time: hours of politeness pass in milliseconds, and all is logged."""

import asyncio
import math
import operator
import random
import selectors
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from sumi.engine.control import Control
from sumi.engine.crawl import Crawl
from sumi.engine.io import Io, SystemClock
from sumi.engine.summary import summarize
from sumi.events import Event, Warned
from sumi.model import Candidate, Hop, Lease, PageFacts, Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.policy import (
    Durability,
    FollowLinks,
    FrontierPolicy,
    PacingPolicy,
    Preset,
    RetryPolicy,
    RobotsPolicy,
    TrapPolicy,
)
from sumi.ports import Clock, FrontierStats, Ledger
from sumi.recipe import Recipe
from sumi.scope import build_scope
from sumi.state.database.store import DatabaseStore
from sumi.state.growing import GrowingStore
from sumi.state.memory import MemoryStore
from sumi.urls import host_key

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT
# Times are sums of floats near the epoch, where neighbours are a quarter of a microsecond apart.
HAIR = 1e-5
STUCK_SECONDS = 20.0  # of real time


class _Jumping(selectors.SelectSelector):
    """Where a loop would sleep until its next timer, the time is moved there instead. It stands still while a
    thread is at work: or years might pass until a file is on the disk."""

    elapsed = 0.0
    threads = 0  # at work

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or (self.threads and timeout > 0.0):  # only a thread can make something happen
            ready = super().select(STUCK_SECONDS)
            assert ready, "every task waits for something that will never happen"
            return ready
        self.elapsed += max(timeout, 0.0)
        return super().select(0)


class FreeTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)
        # A loop runs what is due within its clock's resolution. After months of free time that of a real one
        # is less than lies between two floats, and what is due at this very moment would never be run.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._jumping.elapsed

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> "asyncio.Future[T]":
        self._jumping.threads += 1
        work = super().run_in_executor(executor, func, *args)
        work.add_done_callback(self._thread_done)
        return work

    def _thread_done(self, _work: object) -> None:
        self._jumping.threads -= 1


def in_free_time(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=FreeTimeLoop) as runner:
        return runner.run(main)


def free_clock(epoch: float = EPOCH) -> Clock:
    """To be made within the loop: the product's own clock, on the loop's time."""
    loop = asyncio.get_running_loop()
    return SystemClock(wall=lambda: epoch + loop.time(), steady=loop.time)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    links: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    latency: float = 0.05  # seconds until the first byte
    text: str = ""  # a body that is not a list of links
    trouble: Outcome | None = None  # no answer at all


Web = Callable[[str, float], Answer]  # what a URL answers at a time
AnyStore = MemoryStore | DatabaseStore | GrowingStore
OpenStore = Callable[[FrontierPolicy, float], AnyStore]


class Exchange(NamedTuple):
    url: str
    sent: float
    arrived: float  # in the server's log
    reached: float


Moment = Callable[[Exchange], float]


@dataclass
class Replay:
    """A Fetcher that asks a function. Keeps the log that the servers would keep."""

    clock: Clock
    web: Web
    log: list[Exchange] = field(default_factory=list)
    at_once: int = 0
    in_flight: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    most_per_host: int = 0

    def __post_init__(self) -> None:
        self._way = random.Random(0)  # how much of the latency passes before the server sees the request

    async def fetch(self, request: Request) -> Response | Trouble:
        started, host = self.clock.now(), host_key(request.url)
        self._enter(host)
        answer = self.web(request.url, started)
        reached = started + answer.latency
        arrived = started + answer.latency * self._way.random()
        self.log.append(Exchange(request.url, started, arrived, reached))
        await self.clock.sleep_until(reached)
        self.at_once -= 1
        self.in_flight[host] -= 1
        timing = Timing(started, reached, max(reached, self.clock.now()))
        if answer.trouble is not None:
            return Trouble(Verdict(answer.trouble, "as the test wants it"), timing)
        body = answer.text or "\n".join(answer.links)
        return Response(request.url, answer.status, answer.headers, body.encode(), timing)

    def _enter(self, host: str) -> None:
        self.at_once += 1
        self.in_flight[host] += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.most_per_host = max(self.most_per_host, self.in_flight[host])

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass
class LineDigester:
    """A body is a list of links, one a line."""

    clock: Clock
    seconds: float = 0.0

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        if self.seconds:
            await self.clock.sleep_until(self.clock.now() + self.seconds)
        links = request.body.decode().split()
        dropped = max(0, len(links) - request.max_links)
        return PageDigest(links[: request.max_links], links_dropped=dropped, markdown="text " * 200)

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass
class Shelf:
    """An Output that only remembers; each page takes a while to write."""

    clock: Clock
    seconds: float = 0.0
    accepted: list[str] = field(default_factory=list)
    settled_urls: list[str] = field(default_factory=list)
    held: int = 0
    most_held: int = 0  # pages that were fetched and not yet settled

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        self.held += 1
        self.most_held = max(self.most_held, self.held)
        if self.seconds:
            await self.clock.sleep_until(self.clock.now() + self.seconds)
        self.accepted.append(lease.url)
        return PageFacts(status=response.status)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """Told by ``settled`` too."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        self.held -= verdict.outcome is Outcome.CAPTURED
        self.settled_urls.append(lease.url)

    async def sync(self) -> None:
        """Nothing here survives anything."""

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        """Nothing is derived."""


UNPACED = PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=1000)


def recipe_for(seeds: Iterable[str], **changes: Any) -> Recipe:
    """Everything under .test belongs to the job; robots.txt is not requested unless the test wants it."""
    usual: dict[str, Any] = {
        "robots": RobotsPolicy(respect=False),
        "retry": RetryPolicy(),
        "concurrency": 16,
        "traps": TrapPolicy(fruitless=0),  # pages here all have the same words
    }
    return Recipe(
        job="test",
        seeds=tuple(Candidate(url, Hop.SEED) for url in seeds),
        preset=Preset.MIRROR,
        scope=build_scope(hosts=("*.test",)),
        user_agent="sumi-test",
        **(usual | changes),
    )


class World:
    """One crawl of one web. Made within the loop."""

    def __init__(
        self,
        web: Web,
        recipe: Recipe,
        *,
        open_store: OpenStore = MemoryStore,
        epoch: float = EPOCH,
        lease_seconds: float = 300.0,
        digest_seconds: float = 0.0,
        write_seconds: float = 0.0,
    ) -> None:
        self.clock = free_clock(epoch)
        self.recipe = recipe
        policy = FrontierPolicy(
            recipe.pacing,
            recipe.max_pages,
            sitemaps_first=recipe.follow_links is FollowLinks.UNLESS_SITEMAP,
            lease_seconds=lease_seconds,
        )
        self.store = open_store(policy, self.clock.now())
        self.fetcher = Replay(self.clock, web)
        self.output = Shelf(self.clock, write_seconds)
        self.events: list[Event] = []
        self.control = Control()
        digester = LineDigester(self.clock, digest_seconds)
        self.io = Io(
            self.store,
            self.store,
            self.fetcher,
            digester,
            self.output,
            self.clock,
            self.events.append,
            random.Random(1).random,
        )
        self.started = self.clock.now()

    async def crawl(self) -> "World":
        await Crawl(self.recipe, self.io, self.control, Durability.BATCH).run()
        self.outcomes = {record.url: str(record.outcome) async for record in self.store.records()}
        self.stats = await self.store.stats()
        self.summary = summarize(
            self.recipe, self.stats, await self.store.waiting_hosts(self.clock.now()), "nowhere", 0.0
        )
        self.clock_stopped_at = self.clock.now()
        await self.store.aclose()
        return self

    @property
    def log(self) -> list[Exchange]:
        return self.fetcher.log

    @property
    def warnings(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Warned)]

    def asked(self, url: str) -> list[float]:
        """When the server saw requests for a URL, in seconds from the start."""
        return [each.arrived - self.started for each in self.log if each.url == url]

    def gaps(self, moment: Moment = operator.attrgetter("arrived")) -> dict[str, list[float]]:
        """Between requests to one host, by default as its server sees them."""
        times: dict[str, list[float]] = defaultdict(list)
        for exchange in self.log:
            times[host_key(exchange.url)].append(moment(exchange))
        return {host: [b - a for a, b in pairwise(sorted(each))] for host, each in times.items()}

    def smallest_gap(self, moment: Moment = operator.attrgetter("arrived")) -> float:
        return min((gap for gaps in self.gaps(moment).values() for gap in gaps), default=math.inf)


def crawled(web: Web, recipe: Recipe, **options: Any) -> World:
    """A whole crawl, from the first request to the last."""

    async def run() -> World:
        return await World(web, recipe, **options).crawl()

    return in_free_time(run())


def web_of(pages: dict[str, Answer], otherwise: Answer | None = None) -> Web:
    missing = otherwise or Answer(404)
    return lambda url, _now: pages.get(url, missing)

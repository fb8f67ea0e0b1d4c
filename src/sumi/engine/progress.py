"""Progress, a few times a second: counts, rate, estimated time left, and hosts that are held."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from sumi.engine.io import Io
from sumi.engine.limits import LimitsInForce
from sumi.engine.robots_cache import RobotsCache
from sumi.events import HostWaits, Listener, Progress, WaitingHost, Warned
from sumi.frontier.pacing import INFINITY, NOT_IN_THIS_RUN, USUAL_WAITS
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.policy import PacingPolicy
from sumi.ports import Frontier, FrontierStats, HostWait

EVERY_SECONDS = 0.25
# Long enough to smooth bursts, short enough to notice that a site slowed down.
RATE_WINDOW_SECONDS = 20.0
# Looking at every host is expensive: only after a while, or when there is much more to do.
LOOK_SECONDS = 10.0
MUCH_MORE = 1.5
# Shorter estimates are not worth a note before the start.
WORTH_A_NOTE_SECONDS = 60.0
WORTH_A_NOTE_DELAY = 0.1
WORTH_TELLING_SECONDS = 10.0
MOST_HOSTS = 5  # that a display shows, each with what it waits for
NAMED_HOSTS = 3  # in a line
# With thousands of hosts some are always held; ``sumi status`` lists them all.
MAX_NAMED = 50
MORE = "more hosts are left alone; sumi status lists them"
# A long delay between requests is reported once for each host, not at every request.
_AT_EVERY_REQUEST = frozenset({"spacing", "sitemaps first"})
# The usual waits, worded to follow the name of the host, for when nothing else happens.
_IN_WORDS = {
    "spacing": "is requested at its own pace",
    "retry": "has only retries left",
    "sitemaps first": "has sitemaps to read first",
}
DelayOf = Callable[[str], float]  # seconds between requests to a host


class ProgressMeter:
    def __init__(self, io: Io, robots: RobotsCache, limits: LimitsInForce) -> None:
        self._io = io
        self._limits = limits
        self._robots = robots
        self._news = HoldNews(io.tell)
        self._estimate = Estimate(io.frontier, self._news.look)
        self._waits_for: HostWaits | None = None
        self._troubled: set[str] = set()
        self._told_at = 0.0
        self.last: Progress | None = None
        self._settled = 0
        self._samples: deque[tuple[float, int]] = deque([(io.clock.now(), 0)])
        self._samples_of_all: deque[tuple[float, int]] = deque()  # of all machines, with those before us
        self._hosts: deque[str] = deque(maxlen=MOST_HOSTS)

    def settled(self, host: str) -> None:
        self._settled += 1
        if self._hosts and self._hosts[0] == host:
            return
        if host in self._hosts:
            self._hosts.remove(host)
        self._hosts.appendleft(host)

    async def visited(self, host: str, *, failed: bool) -> None:
        """After a failure a host may be held after any visit, so it is watched until it has no work left. So
        is a host with a long delay between requests."""
        if failed or self._robots.host_delay(host) > WORTH_TELLING_SECONDS:
            self._troubled.add(host)
        if host in self._troubled:
            now = self._io.clock.now()
            wait = await self._io.frontier.wait_of(host, now)
            if wait is None:
                self._troubled.discard(host)
            else:
                self._news.look([wait], now)

    async def idle_until(self, due: float | None) -> None:
        """No host is due before then."""
        now = self._io.clock.now()
        if due is None or due - now <= WORTH_TELLING_SECONDS:
            self._waits_for = None
        elif self._waits_for is None or self._waits_for.until <= now:
            waits = await self._io.frontier.waiting_hosts(now)
            self._waits_for = first_to_end(waits, now)
            self._news.look(waits, now)

    async def tell(self, *, force: bool = False) -> None:
        now = self._io.clock.now()
        if not force and now - self._told_at < EVERY_SECONDS:
            return
        self._told_at = now
        if force:
            self._estimate.forget()
        stats = await self._io.frontier.stats()
        endings = by_ending(stats.outcomes)
        rate = joint = _rate(self._samples, self._settled, now)
        if self._io.team is not None:
            joint = _rate(self._samples_of_all, endings[Ending.DONE] + endings[Ending.FAILED], now)
        eta = await self._eta(stats, joint, now)
        self.last = Progress(
            done=endings[Ending.DONE],
            pending=self._left(stats),
            failed=endings[Ending.FAILED],
            passed_over=endings[Ending.PASSED_OVER],
            pages_per_second=round(rate, 2),
            eta_seconds=eta,
            hosts=tuple(self._hosts)[:NAMED_HOSTS],
            waits_for=self._waits_for,
            waiting=await self._waiting(now),
        )
        self._io.tell(self.last)

    async def _waiting(self, now: float) -> tuple[WaitingHost, ...]:
        waits = [await self._io.frontier.wait_of(host, now) for host in sorted(self._hosts)]
        return tuple(wait.as_event() for wait in waits if wait is not None)

    async def _eta(self, stats: FrontierStats, rate: float, now: float) -> float | None:
        """At the rate of the last seconds, but never sooner than politeness allows. None at the start, while
        nothing is done and little is known."""
        most = self._limits.max_pages
        least = await self._estimate.least_seconds(stats, most, self._robots.page_delay, now)
        seconds = max(self._left(stats) / rate if rate else 0.0, least)
        return round(seconds, 1) if rate or least >= WORTH_A_NOTE_SECONDS else None

    def _left(self, stats: FrontierStats) -> int:
        """Pages that this run still has to do, by what is known."""
        most = self._limits.max_pages
        beyond = max(0, stats.pending_pages - max(0, most - stats.captured)) if most else 0
        return max(0, stats.pending - max(beyond, self._estimate.left_out))


def _rate(samples: deque[tuple[float, int]], number: int, now: float) -> float:
    samples.append((now, number))
    while len(samples) > 2 and samples[1][0] <= now - RATE_WINDOW_SECONDS:
        samples.popleft()
    since, before = samples[0]
    return (number - before) / (now - since) if now > since else 0.0


def by_ending(outcomes: dict[Outcome, int]) -> dict[Ending, int]:
    totals = dict.fromkeys(Ending, 0)
    for outcome, count in outcomes.items():
        totals[MEANINGS[outcome].ending] += count
    return totals


class Estimate:
    """The least time that the rest takes: what politeness alone costs."""

    def __init__(self, frontier: Frontier, on_look: Callable[[Sequence[HostWait], float], None]) -> None:
        """``on_look`` is called with the waiting hosts whenever they are read."""
        self._frontier = frontier
        self._on_look = on_look
        self._seconds = 0.0
        self._looked_at = float("-inf")
        self._pending_then = 0
        self.left_out = 0  # pages of hosts that get no more requests in this run

    def forget(self) -> None:
        """Read the hosts again next time."""
        self._looked_at = float("-inf")

    async def least_seconds(
        self, stats: FrontierStats, max_pages: int, delay_of: DelayOf, now: float
    ) -> float:
        if now - self._looked_at >= LOOK_SECONDS or stats.pending > MUCH_MORE * self._pending_then:
            waits = await self._frontier.waiting_hosts(now)
            wanted = max_pages - stats.captured if max_pages else stats.pending
            self._seconds = least_seconds(waits, wanted, delay_of, now)
            self.left_out = sum(wait.pending for wait in waits if wait.why in NOT_IN_THIS_RUN)
            self._on_look(waits, now)
            self._looked_at, self._pending_then = now, stats.pending
        return max(0.0, self._seconds - (now - self._looked_at))


def least_seconds(waits: Sequence[HostWait], wanted: int, delay_of: DelayOf, now: float) -> float:
    """The longest queue at its host's pace, counted from when that host is due; less if fewer pages are
    wanted than wait."""
    busy = [wait for wait in waits if wait.why not in NOT_IN_THIS_RUN]
    delays = [delay_of(wait.host) for wait in busy]
    paced = zip(busy, delays, strict=True)
    longest = max((_hold_of(wait, now) + wait.pending * delay for wait, delay in paced), default=0.0)
    if wanted >= sum(wait.pending for wait in busy):
        return longest
    if not all(delays):
        return 0.0
    return min(longest, wanted / sum(1 / delay for delay in delays))


def _hold_of(wait: HostWait, now: float) -> float:
    """Seconds that the host is still held, beyond its usual delay."""
    is_held = wait.why not in USUAL_WAITS and wait.ready_at < INFINITY
    return max(0.0, wait.ready_at - now) if is_held else 0.0


def pace_notes(
    waits: Sequence[HostWait], pacing: PacingPolicy, requests_per_page: int = 1
) -> tuple[str, ...]:
    """Notes before the start: how long the run takes at least, or its pace if that is not known."""
    if pacing.delay < WORTH_A_NOTE_DELAY:
        return ()
    pace = (
        f"one request every {pacing.delay:g} s"
        if pacing.delay >= 1
        else f"{1 / pacing.delay:.3g} requests a second"
    )
    per_page = requests_per_page * pacing.delay
    many = f", {requests_per_page} for a page" if requests_per_page > 1 else ""
    busiest = max(waits, key=lambda wait: wait.pending, default=None)
    if busiest is None or busiest.pending * per_page < WORTH_A_NOTE_SECONDS:
        return (f"{pace} per host{many}: {3600 / per_page:,.0f} pages an hour at most",)
    least = _in_words(busiest.pending * per_page)
    return (f"{pace} to {busiest.host}{many}: {busiest.pending:,} pages take at least {least}",)


def _in_words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{seconds / 3600:.1f} h"


class HoldNews:
    """Reports a host that is held for long, why and until when, so that a waiting run does not seem to
    hang."""

    def __init__(self, tell: Listener) -> None:
        self._tell = tell
        self._reported: dict[str, float] = {}  # host -> until when it is held, as reported
        self._slow: set[tuple[str, str]] = set()  # hosts with a long delay that was reported, and why
        self._said_more = False

    def look(self, waits: Iterable[HostWait], now: float) -> None:
        for wait in waits:
            if wait.ready_at == INFINITY or not self._is_news(wait, now):
                continue
            if len(self._reported) < MAX_NAMED or wait.host in self._reported:
                self._remember(wait)
                self._tell(_host_waits(wait))
            elif not self._said_more:
                self._said_more = True
                self._tell(Warned(MORE))

    def _is_news(self, wait: HostWait, now: float) -> bool:
        if wait.ready_at - now <= WORTH_TELLING_SECONDS or wait.why == "in flight":
            return False
        if wait.why in _AT_EVERY_REQUEST:
            return (wait.host, wait.why) not in self._slow
        return wait.ready_at > self._reported.get(wait.host, 0.0)

    def _remember(self, wait: HostWait) -> None:
        if wait.why in _AT_EVERY_REQUEST:
            self._slow.add((wait.host, wait.why))
            self._reported.setdefault(wait.host, 0.0)
        else:
            self._reported[wait.host] = wait.ready_at


def first_to_end(waits: Sequence[HostWait], now: float) -> HostWaits | None:
    """The host that a run waits for when every host is held; None if the wait is short."""
    ahead = [wait for wait in waits if wait.why not in NOT_IN_THIS_RUN and wait.ready_at < INFINITY]
    first = min(ahead, key=lambda wait: wait.ready_at, default=None)
    return None if first is None or first.ready_at - now <= WORTH_TELLING_SECONDS else _host_waits(first)


def _host_waits(wait: HostWait) -> HostWaits:
    return HostWaits(wait.host, _IN_WORDS.get(wait.why, wait.why), wait.ready_at, wait.pending)

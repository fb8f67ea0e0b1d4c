"""Counts what happens and says so a few times a second."""

from collections import Counter, deque

from sumi.engine.estimate import WORTH_A_NOTE_SECONDS, Estimate
from sumi.engine.holds import WORTH_TELLING_SECONDS, HoldNews, first_to_end
from sumi.engine.io import Io
from sumi.engine.limits import LimitsInForce
from sumi.engine.robots_cache import RobotsDesk
from sumi.events import HostWaits, Progress
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.ports import FrontierStats

EVERY_SECONDS = 0.25
# Long enough to smooth bursts, short enough to notice that a site slowed down.
RATE_WINDOW_SECONDS = 20.0


class Tally:
    def __init__(self, io: Io, desk: RobotsDesk, limits: LimitsInForce) -> None:
        self._io = io
        self._limits = limits
        self._desk = desk
        self._news = HoldNews(io.tell)
        self._estimate = Estimate(io.frontier, self._news.look)
        self._waits_for: HostWaits | None = None
        self._troubled: set[str] = set()
        self._told_at = 0.0
        self._settled = 0
        self._samples: deque[tuple[float, int]] = deque([(io.clock.now(), 0)])
        self._hosts: deque[str] = deque(maxlen=3)

    def settled(self, host: str) -> None:
        self._settled += 1
        if self._hosts and self._hosts[0] == host:
            return
        if host in self._hosts:
            self._hosts.remove(host)
        self._hosts.appendleft(host)

    async def visited(self, host: str, *, in_vain: bool) -> None:
        """Once something failed there, it may be left alone after any visit: until it has no work left."""
        if in_vain:
            self._troubled.add(host)
        if host in self._troubled:
            now = self._io.clock.now()
            wait = await self._io.frontier.wait_of(host, now)
            if wait is None:
                self._troubled.discard(host)
            else:
                self._news.look([wait], now)

    async def idle_until(self, due: float | None) -> None:
        """Nobody can be asked before then."""
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
        rate = self._rate(now)
        eta = await self._eta(stats, rate, now)
        endings = by_ending(stats.outcomes)
        self._io.tell(
            Progress(
                done=endings[Ending.DONE],
                pending=self._left(stats),
                failed=endings[Ending.FAILED],
                passed_over=endings[Ending.PASSED_OVER],
                pages_per_second=round(rate, 2),
                eta_seconds=eta,
                hosts=tuple(self._hosts),
                waits_for=self._waits_for,
            )
        )

    async def _eta(self, stats: FrontierStats, rate: float, now: float) -> float | None:
        """At the rate of the last seconds, but never sooner than politeness allows. None while nothing is
        done and little is known: what there is to do is still being found out."""
        most = self._limits.max_pages
        least = await self._estimate.least_seconds(stats, most, self._desk.page_delay, now)
        seconds = max(self._left(stats) / rate if rate else 0.0, least)
        return round(seconds, 1) if rate or least >= WORTH_A_NOTE_SECONDS else None

    def _left(self, stats: FrontierStats) -> int:
        """What this run is still to do, as far as is known."""
        most = self._limits.max_pages
        beyond = max(0, stats.pending_pages - max(0, most - stats.captured)) if most else 0
        return max(0, stats.pending - max(beyond, self._estimate.left_out))

    def _rate(self, now: float) -> float:
        samples = self._samples
        samples.append((now, self._settled))
        while len(samples) > 2 and samples[1][0] <= now - RATE_WINDOW_SECONDS:
            samples.popleft()
        since, count = samples[0]
        return (self._settled - count) / (now - since) if now > since else 0.0


def by_ending(outcomes: dict[Outcome, int]) -> dict[Ending, int]:
    totals = dict.fromkeys(Ending, 0)
    for outcome, count in outcomes.items():
        totals[MEANINGS[outcome].ending] += count
    return totals


def balanced(stats: FrontierStats, *, over_cap: bool, over_budget: int, suspended: int = 0) -> dict[str, int]:
    """Outcomes by name that add up to everything ever discovered, what is still waiting included."""
    outcomes = Counter({str(outcome): count for outcome, count in stats.outcomes.items()})
    if over_cap:
        over_budget = suspended = 0
    rest = Outcome.OVER_CAP if over_cap else Outcome.PENDING
    outcomes[Outcome.OVER_BUDGET] += over_budget
    outcomes[Outcome.RATE_LIMITED] += suspended
    outcomes[rest] += stats.pending - over_budget - suspended
    return {str(name): count for name, count in outcomes.items() if count}

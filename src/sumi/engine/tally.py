"""Counts what happens and says so a few times a second."""

from collections import deque

from sumi.engine.io import Io
from sumi.events import Progress
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.ports import FrontierStats

EVERY_SECONDS = 0.25
# Long enough to smooth bursts, short enough to notice that a site slowed down.
RATE_WINDOW_SECONDS = 20.0


class Tally:
    def __init__(self, io: Io) -> None:
        self._io = io
        self._told_at = 0.0
        self._settled = 0
        self._samples: deque[tuple[float, int]] = deque([(io.clock.now(), 0)])
        self._hosts: deque[str] = deque(maxlen=3)

    def settled(self, host: str) -> None:
        self._settled += 1
        if host not in self._hosts:
            self._hosts.append(host)

    async def tell(self, *, force: bool = False) -> None:
        now = self._io.clock.now()
        if not force and now - self._told_at < EVERY_SECONDS:
            return
        self._told_at = now
        stats = await self._io.frontier.stats()
        rate = self._rate(now)
        endings = by_ending(stats.outcomes)
        self._io.tell(
            Progress(
                done=endings[Ending.DONE],
                pending=stats.pending,
                failed=endings[Ending.FAILED],
                passed_over=endings[Ending.PASSED_OVER],
                pages_per_second=round(rate, 2),
                eta_seconds=round(stats.pending / rate, 1) if rate else None,
                hosts=tuple(self._hosts),
            )
        )

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


def balanced(stats: FrontierStats, over_cap: bool) -> dict[str, int]:
    """Outcomes by name that add up to everything ever discovered, what is still waiting included."""
    outcomes = {str(outcome): count for outcome, count in stats.outcomes.items()}
    if stats.pending:
        outcomes[str(Outcome.OVER_CAP if over_cap else Outcome.PENDING)] = stats.pending
    return outcomes

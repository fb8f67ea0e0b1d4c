"""How long the rest takes at least: what politeness alone costs, whatever the network can do."""

from collections.abc import Callable, Sequence

from sumi.frontier.pacing import INFINITY, NOT_IN_THIS_RUN, USUAL_WAITS
from sumi.policy import PacingPolicy
from sumi.ports import Frontier, FrontierStats, HostWait

# Asking costs a look at every host: it is asked again only after a while, or when there is much more to do.
LOOK_SECONDS = 10.0
MUCH_MORE = 1.5
# Less than this is not worth a sentence before the start.
WORTH_A_NOTE_SECONDS = 60.0
WORTH_A_NOTE_DELAY = 0.1

DelayOf = Callable[[str], float]  # seconds between requests to a host


class Estimate:
    def __init__(self, frontier: Frontier, on_look: Callable[[Sequence[HostWait], float], None]) -> None:
        """``on_look``: whom else the waiting hosts concern, at the times when they are looked at anyway."""
        self._frontier = frontier
        self._on_look = on_look
        self._seconds = 0.0
        self._looked_at = float("-inf")
        self._pending_then = 0
        self.left_out = 0  # pages of hosts that are not asked any more in this run

    def forget(self) -> None:
        """What was seen: the hosts are looked at anew."""
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
    """The longest queue at its host's pace, from when that may be asked again; less where fewer pages are
    wanted than are waiting."""
    busy = [wait for wait in waits if wait.why not in NOT_IN_THIS_RUN]
    delays = [delay_of(wait.host) for wait in busy]
    paced = zip(busy, delays, strict=True)
    longest = max((_pause_of(wait, now) + wait.pending * delay for wait, delay in paced), default=0.0)
    if wanted >= sum(wait.pending for wait in busy):
        return longest
    if not all(delays):
        return 0.0
    return min(longest, wanted / sum(1 / delay for delay in delays))


def _pause_of(wait: HostWait, now: float) -> float:
    """Beyond what is usual between two requests."""
    is_held = wait.why not in USUAL_WAITS and wait.ready_at < INFINITY
    return max(0.0, wait.ready_at - now) if is_held else 0.0


def pace_notes(
    waits: Sequence[HostWait], pacing: PacingPolicy, requests_per_page: int = 1
) -> tuple[str, ...]:
    """What a user should know before a long wait begins: how long it is, or the pace while nobody knows."""
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
        return (f"{pace} to a host{many}: {3600 / per_page:,.0f} pages an hour at most",)
    least = in_words(busiest.pending * per_page)
    return (f"{pace} to {busiest.host}{many}: {busiest.pending:,} pages take at least {least}",)


def in_words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{seconds / 3600:.1f} h"

"""Timeouts that curl does not have: a response that does not start, falls silent, or trickles.

Time is counted in ticks of the event loop's timer. After the whole process stood still, only one tick has
passed, so no server is blamed for bytes that were there and not yet read.
"""

import asyncio
from collections.abc import Callable
from math import ceil

from sumi.fetch.incoming import Incoming
from sumi.policy import FetchLimits

_TICKS = 4  # per limit, which is noticed at most a quarter late
_SHORTEST_TICK = 0.001


class StallClock:
    """One timer for all exchanges: one each would be set and cancelled for every page."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        shortest = min(limits.first_byte, limits.idle, limits.total)
        self._tick = max(_SHORTEST_TICK, shortest / _TICKS)
        self._watches: set[StallWatch] = set()
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, incoming: Incoming, stalled: Callable[[str], None]) -> "StallWatch":
        """Calls ``stalled`` once with the limit that was exceeded, unless unwatched first."""
        watch = StallWatch(incoming, self._limits, self._tick, stalled)
        self._watches.add(watch)
        if self._timer is None:
            self._wait()
        return watch

    def unwatch(self, watch: "StallWatch") -> None:
        self._watches.discard(watch)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._tick, self._look)

    def _look(self) -> None:
        for watch in tuple(self._watches):
            if watch.has_stalled():
                self._watches.discard(watch)
        self._timer = None
        if self._watches:
            self._wait()


class StallWatch:
    """One exchange. Its first tick comes early and does not count."""

    def __init__(
        self, incoming: Incoming, limits: FetchLimits, tick: float, stalled: Callable[[str], None]
    ) -> None:
        self._incoming = incoming
        self._limits = limits
        self._stalled = stalled
        self._tick = tick
        self._idle_ticks = ceil(limits.idle / tick)
        self._ticks = -1
        self._heard = 0
        self._heard_tick = 0
        self._window_tick = 0
        self._window_heard = 0

    def has_stalled(self) -> bool:
        """Count one tick, unless we have paused the transfer."""
        if self._incoming.paused:
            return False
        self._ticks += 1
        heard = self._incoming.heard_bytes
        exceeded = self._takes_too_long() or (self._trickles(heard) if heard else self._unanswered())
        if exceeded is not None:
            self._stalled(exceeded)
        return exceeded is not None

    def _takes_too_long(self) -> str | None:
        """curl enforces this itself unless we paused the transfer."""
        late = self._incoming.was_paused and self._ticks * self._tick >= self._limits.total
        return f"not complete within {self._limits.total:g} s" if late else None

    def _unanswered(self) -> str | None:
        late = self._ticks * self._tick >= self._limits.first_byte
        return f"no answer within {self._limits.first_byte:g} s" if late else None

    def _trickles(self, heard: int) -> str | None:
        if self._heard == 0:
            self._open_window(heard)
        if heard != self._heard:
            self._heard = heard
            self._heard_tick = self._ticks
        if self._ticks - self._heard_tick >= self._idle_ticks:
            return f"silent for {self._limits.idle:g} s"
        if self._ticks - self._window_tick < self._idle_ticks:
            return None
        slow = heard - self._window_heard < self._limits.min_bytes_per_second * self._limits.idle
        self._open_window(heard)
        return f"slower than {self._limits.min_bytes_per_second} bytes per second" if slow else None

    def _open_window(self, heard: int) -> None:
        self._window_tick = self._ticks
        self._window_heard = heard

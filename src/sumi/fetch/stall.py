"""Noticing an answer that does not come, falls silent, or trickles: the limits that curl cannot keep for us.

Time is counted in ticks of the event loop's own timer. After a moment in which the whole process stood still,
only one tick has passed, and nobody is blamed for bytes that were there and not yet read.
"""

import asyncio
from collections.abc import Callable
from math import ceil

from sumi.fetch.incoming import Incoming
from sumi.policy import FetchLimits

_TICKS = 4  # per limit: it is noticed at most a quarter late
_SHORTEST_TICK = 0.001


class StallWatch:
    """Calls ``stalled`` once, with the limit that was broken, unless cancelled first."""

    def __init__(self, incoming: Incoming, limits: FetchLimits, stalled: Callable[[str], None]) -> None:
        self._incoming = incoming
        self._limits = limits
        self._stalled = stalled
        self._tick = max(_SHORTEST_TICK, min(limits.first_byte, limits.idle) / _TICKS)
        self._idle_ticks = ceil(limits.idle / self._tick)
        self._ticks = 0
        self._heard = 0
        self._heard_tick = 0
        self._window_tick = 0
        self._window_heard = 0
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._tick, self._look)

    def cancel(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        self._ticks += 1
        heard = self._incoming.heard_bytes
        broken = self._trickles(heard) if heard else self._unanswered()
        if broken is None:
            self._timer = self._loop.call_later(self._tick, self._look)
        else:
            self._stalled(broken)

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

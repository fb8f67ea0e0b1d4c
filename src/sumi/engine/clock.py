"""Real time. Anchored once, so that a wall clock that is set during a run moves nothing."""

import asyncio
import time
from collections.abc import Callable


class SystemClock:
    def __init__(
        self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._steady = steady
        self._anchor = wall() - steady()

    def now(self) -> float:
        return self._anchor + self._steady()

    async def sleep_until(self, when: float) -> None:
        await asyncio.sleep(max(0.0, when - self.now()))

    async def wait(self, event: asyncio.Event, until: float) -> None:
        alarm = asyncio.get_running_loop().call_later(max(0.0, until - self.now()), event.set)
        try:
            await event.wait()
        finally:
            alarm.cancel()

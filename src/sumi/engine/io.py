"""The engine's connections to the world, made by ``sumi.assembly`` and passed down explicitly."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sumi.events import Listener
from sumi.files.shared_pace import SharedPace
from sumi.model import Lease, Response
from sumi.ports import (
    AssetKeeper,
    Clock,
    Digester,
    Enqueue,
    Fetcher,
    Frontier,
    Ledger,
    Output,
    Recorder,
    Remains,
    Segments,
    Settlement,
    Source,
    Team,
)


class SystemClock:
    """Real time. Anchored once, so that setting the wall clock during a run has no effect."""

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


class _NoSource:
    """For crawls that find their pages by links and sitemaps alone."""

    more_to_come = False

    async def resume(self, enqueue: Enqueue) -> None:
        return

    async def feed(self, enqueue: Enqueue) -> None:
        return

    def at_hand(self, lease: Lease) -> Response | None:
        return None

    def signed(self, settlement: Settlement) -> Settlement:
        return settlement

    def remains(self) -> Remains:
        return Remains()


NO_SOURCE: Final[Source] = _NoSource()


@dataclass(frozen=True, slots=True)
class Io:
    frontier: Frontier
    ledger: Ledger
    fetcher: Fetcher
    digester: Digester
    output: Output
    clock: Clock
    tell: Listener
    jitter: Callable[[], float]  # uniform in [0, 1)
    source: Source = NO_SOURCE
    assets: AssetKeeper | None = None  # for a recipe with ``asset_bytes``
    recorder: Recorder | None = None  # for ``--warc``
    team: Team | None = None  # for a job that others work on too
    segments: Segments | None = None  # None: the output keeps contents in files
    pace: SharedPace | None = None  # None: hosts are not shared with other jobs
    per_address: int = 0  # requests that an address gets within a delay; 0: each host by itself
    address_of: Callable[[str], Awaitable[str | None]] | None = None  # of the host of a URL

    async def sync_outputs(self) -> None:
        """Everything written about pages survives a power cut from now on."""
        if self.recorder is not None:
            await asyncio.to_thread(self.recorder.sync)
        await self.output.sync()

"""Beside the crawl: looks at the flag files, and grants what the control was asked for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from sumi.engine.control import Control, Wish
from sumi.engine.flag_files import FlagFiles
from sumi.engine.io import Io
from sumi.engine.limits import Limits
from sumi.errors import SumiError
from sumi.events import Retuned, Status, WaitingHost, Warned


class Crawling(Protocol):
    """What the attendant needs of a crawl."""

    def in_flight(self) -> tuple[str, ...]: ...

    async def retune(self, limits: Limits) -> None: ...


class Attendant:
    def __init__(
        self, crawl: Crawling, io: Io, control: Control, read_limits: Callable[[], Awaitable[Limits]]
    ) -> None:
        self._crawl = crawl
        self._io = io
        self._control = control
        self._read_limits = read_limits

    async def attend(self, flags: FlagFiles) -> None:
        """Until cancelled."""
        await asyncio.gather(flags.watch(self._io.clock), self.grant_wishes())

    async def grant_wishes(self) -> None:
        while True:
            match await self._control.next_wish():
                case Wish.RELOAD:
                    await self._reload()
                case Wish.STATUS:
                    self._io.tell(await self.status())

    async def status(self) -> Status:
        now = self._io.clock.now()
        stats = await self._io.frontier.stats()
        return Status(
            state=self._control.state,
            discovered=stats.known,
            outcomes={outcome.value: count for outcome, count in stats.outcomes.items()},
            pending=stats.pending,
            at=now,
            in_flight=self._crawl.in_flight(),
            hosts=tuple(
                WaitingHost(wait.host, wait.pending, wait.in_flight, wait.why, wait.ready_at)
                for wait in await self._io.frontier.waiting_hosts(now)
            ),
        )

    async def _reload(self) -> None:
        try:
            limits = await self._read_limits()
        except SumiError as error:
            self._io.tell(Warned(f"the limits stay as they were: {error}"))
            return
        await self._crawl.retune(limits)
        pacing = limits.frontier.pacing
        self._io.tell(
            Retuned(
                limits.concurrency,
                pacing.per_host,
                pacing.delay,
                pacing.manifest_delay,
                limits.frontier.max_pages,
            )
        )

"""The whole crawl on one screen: lease, visit, settle, until nothing is left to do."""

import asyncio

from sumi.engine.acquire import acquire
from sumi.engine.control import Control
from sumi.engine.digest import Digestion
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.lifecycle import RunState
from sumi.engine.robots_desk import RobotsDesk
from sumi.engine.settler import Settler
from sumi.engine.tally import Tally
from sumi.events import PageSettled
from sumi.model import Lease
from sumi.policy import Durability
from sumi.ports import Settlement
from sumi.recipe import Recipe

# How long a graceful stop waits for pages in flight; they are fetched again on resume if it is not enough.
STOP_SECONDS = 30.0
# At least this often the loop looks up, so that progress moves while every host is being left alone.
LOOK_UP_SECONDS = 1.0


class Crawl:
    def __init__(self, recipe: Recipe, io: Io, control: Control, durability: Durability) -> None:
        self._recipe = recipe
        self._io = io
        self._control = control
        self._desk = RobotsDesk(recipe, io)
        self._gate = Gate(recipe, io, self._desk)
        self._digestion = Digestion(recipe, io, self._gate)
        self._settler = Settler(io, durability)
        self._tally = Tally(io)
        self._visits: set[asyncio.Task[None]] = set()
        self._wake = control.changed

    async def run(self) -> None:
        """Returns when there is nothing left to do or the control said stop; raises if the disk fails."""
        await self._io.frontier.add(await self._gate.judge(self._recipe.seeds))
        keeper = asyncio.create_task(self._settler.keep_synced())
        try:
            while not self._control.stopping and not await self._finished():
                await self._start_visits()
                self._raise_failures(keeper)
                await self._tally.tell()
                await self._wait()
            await self._drain()
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, *self._cancelled_visits(), return_exceptions=True)
        self._raise_failures()
        await self._settler.sync()
        await self._tally.tell(force=True)
        self._control.end()

    async def visit(self, lease: Lease) -> None:
        acquired = await acquire(lease, self._desk, self._io)
        await self._io.frontier.release_host(lease, acquired.report)
        self._wake.set()
        unit = await self._digestion.conclude(lease, acquired)
        if await self._settler.settle(unit) and isinstance(unit, Settlement):
            await self._announce(unit)

    async def _announce(self, unit: Settlement) -> None:
        lease, verdict, facts = unit.lease, unit.verdict, unit.facts
        await self._io.output.settled(lease, verdict, unit.at, facts)
        self._tally.settled(lease.host)
        self._io.tell(
            PageSettled(lease.url, verdict.outcome, verdict.ending, verdict.rule, facts.path, len(unit.found))
        )

    async def _start_visits(self) -> None:
        free = self._recipe.concurrency - len(self._visits)
        if not self._control.leasing or free <= 0:
            return
        for lease in await self._io.frontier.lease(free, self._io.clock.now()):
            task = asyncio.create_task(self.visit(lease))
            self._visits.add(task)
            task.add_done_callback(self._visit_done)

    def _visit_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            self._visits.discard(task)  # one that failed stays, for the loop to raise
        self._wake.set()

    def _raise_failures(self, *others: asyncio.Task[None]) -> None:
        """Web trouble never gets here: what a visit raises is a fault of the disk or of ours."""
        for task in (*self._visits, *others):
            if task.done() and not task.cancelled():
                task.result()

    async def _finished(self) -> bool:
        """Decided from counts: an empty lease only means that nothing may be fetched just now."""
        if self._visits:
            return False
        stats = await self._io.frontier.stats()
        capped = bool(self._recipe.max_pages) and stats.captured >= self._recipe.max_pages
        stuck = stats.pending > 0 and await self._io.frontier.next_ready(self._io.clock.now()) is None
        return stats.pending == 0 or capped or stuck

    async def _wait(self) -> None:
        """Until a visit moves on, the control changes, or the next host is due."""
        now = self._io.clock.now()
        due: float | None = None
        if self._control.leasing and len(self._visits) < self._recipe.concurrency:
            due = await self._io.frontier.next_ready(now)
        latest = now + LOOK_UP_SECONDS
        await self._io.clock.wait(self._wake, latest if due is None else min(due, latest))
        self._wake.clear()

    async def _drain(self) -> None:
        """Let pages in flight finish, unless told to end at once."""
        deadline = self._io.clock.now() + STOP_SECONDS
        while self._visits and self._control.state is not RunState.ABORTING:
            self._raise_failures()
            if self._io.clock.now() >= deadline:
                return
            await self._io.clock.wait(self._wake, deadline)
            self._wake.clear()

    def _cancelled_visits(self) -> set[asyncio.Task[None]]:
        for task in self._visits:
            task.cancel()
        return self._visits

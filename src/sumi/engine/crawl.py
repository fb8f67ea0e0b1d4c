"""The loop of a crawl: lease, visit, settle, until nothing is left to do."""

import asyncio
from collections.abc import Sequence

import msgspec

from sumi.engine.acquisition import Acquired, Acquisition, Fetched
from sumi.engine.changed_rules import apply_changed_rules
from sumi.engine.control import Control, RunState
from sumi.engine.digestion import Digestion
from sumi.engine.gate import Gate
from sumi.engine.held_pages import HeldPages
from sumi.engine.io import Io
from sumi.engine.limits import Limits, LimitsInForce
from sumi.engine.native_markdown import NativeMarkdown
from sumi.engine.progress import ProgressMeter
from sumi.engine.revisit import Revisits
from sumi.engine.robots_cache import RobotsCache
from sumi.engine.settler import Settler
from sumi.engine.visit import Visit, Visits
from sumi.errors import UsageError
from sumi.events import PageSettled, Progress, Warned
from sumi.model import Candidate, Kind, Lease
from sumi.outcomes import TRANSIENT, Ending, Verdict
from sumi.policy import Durability, OnError
from sumi.ports import Deferral, Judged, Settlement
from sumi.recipe import Recipe

# How long a graceful stop waits for pages in flight; the rest is fetched again on resume.
STOP_SECONDS = 30.0
# The loop wakes at least this often, so that progress moves while every host is held.
LOOK_UP_SECONDS = 1.0
# While pages are being settled, it wakes about as often as progress is reported.
GLANCE_SECONDS = 0.25


class Crawl:
    """The loop of a run, and the parts that each step of a visit needs."""

    def __init__(self, recipe: Recipe, io: Io, control: Control, durability: Durability) -> None:
        self._recipe = recipe
        self._io = io
        self._control = control
        self._limits = LimitsInForce(recipe)
        self._robots = RobotsCache(recipe, io, self._limits)
        self._gate = Gate(recipe, io, self._robots, self._limits)
        revisits = Revisits(io.ledger, active=recipe.revisit, trust_dates=recipe.trust_dates)
        native = NativeMarkdown(recipe, io)
        self._acquisition = Acquisition(recipe, io, self._gate, self._robots, revisits, native)
        self._digestion = Digestion(recipe, io, self._gate, revisits, native)
        self._held = HeldPages(io, self._place_is_free)
        self._settler = Settler(
            io, durability, lambda: len(self._tasks) - self._held.count, on_applied=control.changed.set
        )
        self._visits = Visits(io.frontier, io.clock)
        self._progress = ProgressMeter(io, self._robots, self._limits)
        self._tasks: set[asyncio.Task[None]] = set()  # one for each visit
        self._failed: list[asyncio.Task[None]] = []
        self._wake = control.changed
        self._looked_up = self._waits_until = 0.0
        self._is_full = False  # no lease is possible before a visit ends
        self._chances_given = False
        self.received = 0  # bytes of bodies, as transferred
        self.gave_up = ""  # why the run ended, if a failed page ended it

    async def run(self) -> None:
        """Returns when nothing is left to do or the control says stop; raises if the disk fails."""
        await self._digestion.load()
        await self._gate.load()
        await apply_changed_rules(self._recipe, self._io, self._gate)
        await self._plant_seeds()
        if self._io.team is not None:
            self._io.team.judge_with(self._gate.judge)
        await self._io.source.resume(self.enqueue)
        feeding = self._io.source.feed(self.enqueue)
        keeping = (self._settler.keep_synced(), self._visits.keep_leases(), feeding)
        keepers = [asyncio.create_task(keep) for keep in keeping]
        try:
            while not self._control.stopping and not (await self._finished() and await self._last_chance()):
                await self._start_visits()
                self._raise_failures(*keepers)
                await self._progress.tell()
                await self._wait()
            await self._drain()
        finally:
            await _cancelled(*keepers, *self._tasks)
            await self._settler.at_rest()
        self._raise_failures(*keepers)
        await self._settler.sync()
        await self._progress.tell(force=True)
        self._control.end()

    # ── the way of one page ────────────────────────────────────────────────────────────────────────────

    async def _plant_seeds(self) -> None:
        judged = await self._gate.judge(self._recipe.seeds)
        refused = [item for item in judged if item.refusal is not None]
        if judged and len(refused) == len(judged) and not (await self._io.frontier.stats()).known:
            raise UsageError(f"there is nothing to fetch: {_why_refused(refused[0])}")
        for item in refused:
            self._io.tell(Warned(f"requested, but skipped: {_why_refused(item)}"))
        await self._io.frontier.add(judged)

    async def _start_visits(self) -> None:
        free = self._free_places()
        if not self._control.leasing or free <= 0:
            return
        for lease in await self._io.frontier.lease(free, self._io.clock.now()):
            self._robots.in_use.enter(lease.host)
            task = asyncio.create_task(self.visit(lease), name=lease.url)
            self._tasks.add(task)
            task.add_done_callback(self._visit_done)

    async def visit(self, lease: Lease) -> None:
        """One page, from its lease to its settlement, or back to the queue for another turn."""
        with self._visits.of(lease) as visit:
            acquired = await self._acquired(visit)
            unit = self._recorded(visit, acquired, await self._digestion.conclude(visit, acquired))
            del acquired
            visit.release_body()  # not needed while the settlement is written
            if isinstance(unit, Settlement):
                unit = self._io.source.signed(unit)
            else:
                self._visits.remember(visit)
            await self._held.until_stored(unit)
            settled = await self._settler.settle(unit)
            self._digestion.settled(visit, unit, settled)
            if not settled:
                self._withdraw(unit)
                self._io.tell(Warned(f"{visit.url}: its lease expired, so this result was dropped"))
            elif isinstance(unit, Settlement):
                await self._announce(unit)
            await self._progress.visited(lease.host, failed=_failed(unit))
            await self._wake_if_due()

    async def _acquired(self, visit: Visit) -> Acquired:
        """Acquire, then let the host go: it may get its next request while this one is digested."""
        acquired = await self._acquisition.acquire(visit)
        if isinstance(acquired, Fetched):
            self.received += acquired.response.wire_bytes
        await self._io.frontier.release_host(visit.lease, visit.report)
        self._robots.in_use.leave(visit.lease.host, self._io.clock.now())
        await self._wake_if_due()
        return acquired

    def _recorded(
        self, visit: Visit, acquired: Acquired, unit: Settlement | Deferral
    ) -> Settlement | Deferral:
        """With ``--warc``: the settlement of a page that was requested, or was at hand, names its records."""
        if self._io.recorder is None or isinstance(unit, Deferral):
            return unit
        response = visit.response or (acquired.response if isinstance(acquired, Fetched) else None)
        if response is None and visit.report is None:
            return unit
        now = self._io.clock.now()
        name = self._io.recorder.record(visit.candidate, response, unit.verdict, visit.before, now)
        return msgspec.structs.replace(unit, facts=msgspec.structs.replace(unit.facts, warc=name))

    def _withdraw(self, unit: Settlement | Deferral) -> None:
        if self._io.recorder is not None and isinstance(unit, Settlement) and unit.facts.warc:
            self._io.recorder.withdraw(unit.facts.warc)

    async def _announce(self, unit: Settlement) -> None:
        lease, verdict, facts = unit.lease, unit.verdict, unit.facts
        await self._io.output.settled(lease, verdict, unit.at, facts)
        self._progress.settled(lease.host)
        if verdict.ending is Ending.FAILED and lease.candidate.kind is Kind.PAGE:
            self._give_up_if_wanted(f"{lease.url} failed ({verdict.rule})")
        self._io.tell(
            PageSettled(
                lease.url,
                verdict.outcome,
                verdict.ending,
                verdict.rule,
                facts.path,
                len(unit.found),
                facts.body_bytes,
                facts.latency_ms,
                lease.candidate.referrer,
            )
        )

    def _give_up_if_wanted(self, why: str) -> None:
        if self._recipe.on_error is OnError.ABORT and not self._control.stopping:
            self.gave_up = why
            self._control.stop(why)

    def _free_places(self) -> int:
        free = self._limits.concurrency - len(self._tasks)
        return free + self._held.without_request + self._settler.without_request

    def _place_is_free(self) -> None:
        if self._is_full or self._held.count == len(self._tasks):
            self._wake.set()

    # ── the loop around it ─────────────────────────────────────────────────────────────────────────────

    def _visit_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failed.append(task)
        if self._failed or self._is_full or not self._tasks:
            self._wake.set()

    def _raise_failures(self, *others: asyncio.Task[None]) -> None:
        """Trouble with the web is a value: an exception in a visit is a failing disk or a bug."""
        for task in (*self._failed, *others):
            if task.done() and not task.cancelled():
                task.result()

    async def _finished(self) -> bool:
        """Decided from counts: an empty lease only means that nothing may be fetched right now."""
        if self._tasks or self._io.source.more_to_come:
            return False
        stats = await self._io.frontier.stats()
        # Stuck also if the limit on pages is reached: nothing more is leased then.
        stuck = stats.pending > 0 and await self._io.frontier.next_ready(self._io.clock.now()) is None
        return stats.pending == 0 or stuck

    async def _last_chance(self) -> bool:
        """Whether the crawl is over. ``--on-error retry`` gives transient failures one more chance first."""
        if self._recipe.on_error is not OnError.RETRY or self._chances_given:
            return True
        self._chances_given = True
        failed = [record.url async for record in self._io.ledger.records(TRANSIENT)]
        return not await self._io.frontier.requeue(failed, self._io.clock.now())

    async def _wait(self) -> None:
        """Until the next host is due, a visit makes a host due sooner, or the control changes."""
        now = self._io.clock.now()
        self._is_full = not self._control.leasing or self._free_places() <= 0
        due = None if self._is_full else await self._io.frontier.next_ready(now)
        if not self._tasks:
            await self._progress.idle_until(due)
        elif due is None and self._held.count == len(self._tasks):
            self._held.hurry()
        latest = now + LOOK_UP_SECONDS
        self._looked_up, self._waits_until = now, latest if due is None else min(due, latest)
        await self._io.clock.wait(self._wake, self._waits_until)
        self._wake.clear()

    async def _wake_if_due(self) -> None:
        """After a step of a visit: wake the loop only if a host is due sooner than it waits for. Three times
        out of four it would find nothing to lease, and the attempt is not free."""
        now = self._io.clock.now()
        due = None if self._is_full else await self._io.frontier.next_ready(now)
        if now - self._looked_up >= GLANCE_SECONDS or (due is not None and due < self._waits_until):
            self._wake.set()

    async def _drain(self) -> None:
        """Let pages in flight finish, unless the run is aborted."""
        deadline = self._io.clock.now() + STOP_SECONDS
        while self._tasks and self._control.state is not RunState.ABORTING:
            self._raise_failures()
            self._held.hurry()
            if self._io.clock.now() >= deadline:
                return
            await self._io.clock.wait(self._wake, deadline)
            self._wake.clear()

    # ── from outside, while it runs ──────────────────────────────────────────────────────────────────

    async def enqueue(self, candidates: Sequence[Candidate]) -> list[Verdict | None]:
        """Add pages from outside. Known ones are fetched again, unless they are still pending."""
        judged = await self._gate.judge(candidates)
        news = await self._io.frontier.add(judged)
        known = [
            item.candidate.url for item, new in zip(judged, news, strict=True) if not (new or item.refusal)
        ]
        await self._io.frontier.requeue(known, self._io.clock.now())
        self._wake.set()
        return [item.refusal for item in judged]

    def in_flight(self) -> tuple[str, ...]:
        """URLs being visited."""
        return self._visits.urls()

    def seconds_in_flight(self) -> dict[str, float]:
        return self._visits.seconds()

    @property
    def progress(self) -> Progress | None:
        """As last reported."""
        return self._progress.last

    async def retune(self, limits: Limits) -> None:
        """Apply new limits from now on; pages in flight beyond them may finish."""
        await self._io.frontier.retune(limits.frontier)
        self._limits.replace(limits)
        self._wake.set()


def _failed(unit: Settlement | Deferral) -> bool:
    verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
    return verdict is not None and verdict.ending is Ending.FAILED


def _why_refused(item: Judged) -> str:
    assert item.refusal is not None
    return f"{item.candidate.url} is refused, {item.refusal.rule}"


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

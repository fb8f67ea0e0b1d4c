"""One run of any job: recover what an earlier run left, crawl, write what is derived from all pages."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from sumi.engine.completeness import Findings, excused_failures, failed_seeds, note_standing, within_cap
from sumi.engine.control import Control, ControlLoop, FlagFiles, RunState
from sumi.engine.crawl import Crawl
from sumi.engine.disk_watch import DiskWatch
from sumi.engine.io import Io
from sumi.engine.limits import Limits
from sumi.engine.progress import pace_notes
from sumi.engine.revisit import facts_of_lost_file
from sumi.engine.summary import NOTHING_FOUND, Scores, findings, standing_of, summarize
from sumi.engine.traces import LimitsShown, Now, Observed, Traces, retuned, shown_hosts
from sumi.errors import SumiError, UsageError
from sumi.events import AlreadyFinished, Busy, Recovered, RunStarted, StateChanged, Summary
from sumi.frontier.retry import WORTH_ANOTHER_RUN
from sumi.model import PageFacts
from sumi.policy import NO_TOLERANCE, Durability, Retune, Tolerance
from sumi.ports import JobStore, Ledger, RestorableOutput
from sumi.recipe import Job
from sumi.scope import Scope
from sumi.scope.patterns import SIGNS_IN_OR_OUT, path_pattern
from sumi.urls.identity import tidy_path

# From here on, work over all pages takes seconds.
MANY_PAGES = 10_000
# From here on, a journal takes seconds to read.
MANY_URLS = 300_000
_MOST_UNUSED_NAMED = 5  # patterns


class Place(msgspec.Struct, frozen=True):
    """Where a run writes and what it is called. Nothing here affects what happens to a page."""

    subject: str  # what the run is about: a URL, a configuration file
    output: str  # where users find the results
    home: Path  # the folder of the state and the flag files, whose disk must not fill up
    min_free: int | None = None
    durability: Durability = Durability.BATCH
    state_setting: str = "--state"  # what names the backend of the state
    max_time: float | None = None  # seconds
    tolerance: Tolerance = NO_TOLERANCE
    traces: str = ""  # what the names of activity.jsonl and now.json begin with; "": with that of the job


class Run:
    """The run of a job around its loop, ``Crawl``. What differs between jobs is the output and three
    functions: ``read_job`` reads the job again for a reload, ``complete`` does work over all pages before the
    end, ``has_lone_page`` tells whether a part of the job is a single page without a followed link."""

    def __init__(
        self,
        job: Job,
        place: Place,
        io: Io,
        store: JobStore,
        output: RestorableOutput,
        control: Control,
        read_job: Callable[[], Awaitable[Job]] | None = None,
        complete: Callable[[], Awaitable[None]] | None = None,
        *,
        has_lone_page: Callable[[], bool] | None = None,
    ) -> None:
        # A first run has nothing to revisit, so it does not look.
        recipe = msgspec.structs.replace(job.recipe, revisit=store.resumed)
        self._job = msgspec.structs.replace(job, recipe=recipe)
        self._place = place
        self._io = io
        self._store = store
        self._output = output
        self._control = control
        self._complete = complete
        self._has_lone_page = has_lone_page
        self._read_job = read_job
        self._disk = DiskWatch(place.home, place.min_free, control)
        self._started = io.clock.now()

    async def run(self) -> Summary:
        """Run to the end or to a stop. Raises SumiError with a message for the user."""
        self._control.watch(self._report_state)
        await self._output.load(self._store)
        await self._recover()
        await self._announce()
        crawl = Crawl(self._job.recipe, self._io, self._control, self._place.durability)
        try:
            await self._controlled(crawl)
        except UsageError:
            raise
        except SumiError:
            self._io.tell(await self._summary(aborted=True))
            raise
        aborted = self._control.was_aborted
        if not aborted:
            await announce_if_long("writing the results of", self._store, self._io)
            if self._complete is not None:
                await self._complete()
            stats = within_cap(await self._store.stats(), self._job.recipe.max_pages)
            await self._output.finish(self._store, stats)
            await self._store.sync(self._output.sync)
        summary = await self._summary(aborted=aborted, gave_up=crawl.gave_up)
        if not aborted:
            await note_standing(self._store, await self._store.stats(), standing_of(summary))
        self._io.tell(summary)
        self._disk.raise_if_low()
        return summary

    async def report_finished(self, since: str, advice: str) -> Summary:
        """For a finished job that is not run again: report how it ended."""
        about, where = self._place.subject, self._place.output
        self._io.tell(AlreadyFinished(self._job.recipe.job, about, where, since, advice))
        summary = await self._summary()
        self._io.tell(summary)
        return summary

    async def _announce(self) -> None:
        waits = await self._store.waiting_hosts(self._started)
        stats = await self._store.stats()
        recipe = self._job.recipe
        pace = pace_notes(waits, recipe.pacing, recipe.requests_per_page)
        large = large_state_notes(self._store, stats.known, self._place.state_setting)
        notes = (*self._job.notes, *pace, *large)
        about, where = self._place.subject, self._place.output
        self._io.tell(RunStarted(recipe.job, about, where, self._store.resumed, stats.pending, notes))

    async def _controlled(self, crawl: Crawl) -> None:
        """Run the crawl; beside it, listen for commands and watch the disk."""
        flags = FlagFiles(self._place.home, self._job.recipe.job, self._control)
        control_loop = ControlLoop(crawl, self._io, self._control, self._read_limits)
        traces = self._traces()
        observed = self._observed(crawl, control_loop)
        beside = asyncio.gather(
            control_loop.run(flags),
            self._disk.watch(self._io.clock),
            self._stop_in_time(),
            traces.keep(observed, self._io.clock),
        )
        try:
            await crawl.run()
        finally:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)
            await traces.finish(observed, self._io.clock.now())

    def _traces(self) -> Traces:
        job = self._job.recipe.job
        return Traces(self._place.home, job, self._place.traces or f"{job}.")

    def _observed(self, crawl: Crawl, control_loop: ControlLoop) -> Observed:
        async def now() -> Now:
            status = shown_hosts(await control_loop.status())
            return Now(status, self._limits_shown(), crawl.progress, crawl.seconds_in_flight())

        async def retune(wanted: Retune) -> None:
            self._job = retuned(self._job, wanted)
            await control_loop.apply(self._limits_now())

        return Observed(
            self._store.stats, now, crawl.in_flight, lambda: crawl.received, retune, self._io.tell
        )

    def _limits_shown(self) -> LimitsShown:
        limits = self._limits_now()
        pacing = limits.frontier.pacing
        rate = round(1 / pacing.delay, 3) if pacing.delay else 0.0
        return LimitsShown(rate, limits.concurrency, pacing.per_host, limits.frontier.max_pages)

    async def _stop_in_time(self) -> None:
        if self._place.max_time is None:
            return
        await self._io.clock.sleep_until(self._started + self._place.max_time)
        if not self._control.stopping:
            self._control.stop("--max-time is over")

    async def _read_limits(self) -> Limits:
        if self._read_job is not None:
            self._apply_limits_of(await self._read_job())
        return self._limits_now()

    def _limits_now(self) -> Limits:
        recipe = self._job.recipe
        return Limits(recipe.concurrency, self._job.frontier, recipe.pages_per_base)

    def _apply_limits_of(self, new: Job) -> None:
        recipe = msgspec.structs.replace(
            self._job.recipe,
            concurrency=new.recipe.concurrency,
            max_pages=new.recipe.max_pages,
            pages_per_base=new.recipe.pages_per_base,
        )
        self._job = msgspec.structs.replace(self._job, recipe=recipe, frontier=new.frontier)

    def _report_state(self, state: RunState, why: str) -> None:
        if state is not RunState.ENDED:  # the summary reports that
            self._io.tell(StateChanged(state, why))

    async def _recover(self) -> None:
        """After a power cut, the pages settled last may lack their files: fetch those again."""
        lost = await self._lost()
        await self._store.amend(lost)
        requeued = await self._store.requeue(list(lost), self._started)
        if self._store.torn_bytes or requeued:
            self._io.tell(Recovered(0, self._store.torn_bytes, requeued))
        if self._job.recipe.retry_earlier:
            failed = [record.url async for record in self._store.records(WORTH_ANOTHER_RUN)]
            await self._store.requeue(failed, self._started)

    async def _lost(self) -> dict[str, PageFacts]:
        records = [await self._store.record(url) for url in self._store.unsynced]
        return {
            record.url: facts_of_lost_file(record.facts)
            for record in records
            if record is not None and not self._output.has_whole(record.facts)
        }

    async def _summary(self, *, aborted: bool = False, gave_up: str = "") -> Summary:
        notes: Sequence[str] = (f"ended by --on-error abort: {gave_up}",) if gave_up else ()
        found, stats = NOTHING_FOUND, await self._store.stats()
        waits = await self._store.waiting_hosts(self._io.clock.now())
        if not aborted:  # after an abort the disk may have failed, and records cannot be read
            scores = Scores(self._job.recipe.min_fidelity, self._job.recipe.max_junk)
            remarks = await findings(self._store, scores)
            lone = self._has_lone_page is not None and self._has_lone_page()
            seeds = await failed_seeds(self._store)
            excused = await excused_failures(
                self._store, stats, waits, self._place.tolerance, maps=self._job.recipe.record_links
            )
            found = Findings(
                scores.below,
                scores.above,
                remarks.dropped,
                *seeds,
                lone=lone,
                excused=excused,
                unrendered=remarks.unrendered,
                hash_routes=remarks.hash_routes,
            )
            notes = (*notes, *self._output.remarks(), *remarks.notes, *scores.notes())
            if not self._control.was_stopped:
                notes = (*notes, *await _unused_patterns(self._store, self._job.recipe.scope))
        return summarize(
            self._job.recipe,
            stats,
            waits,
            self._place.output,
            self._io.clock.now() - self._started,
            stopped=self._control.was_stopped,
            aborted=aborted or bool(gave_up),
            notes=(*self._job.notes, *notes),
            findings=msgspec.structs.replace(found, remains=self._io.source.remains()),
        )


def large_state_notes(store: JobStore, known: int, setting: str) -> tuple[str, ...]:
    """Advice for a job that has outgrown its journal, which every start reads whole, and that keeps it
    because ``setting`` names it."""
    if known < MANY_URLS or not store.is_read_whole:
        return ()
    better = "a database would start at once and need less memory"
    return (f"this job knows {known:,} URLs; {better}: omit {setting} to move it to one",)


async def announce_if_long(doing: str, store: JobStore, io: Io) -> None:
    """Before work over all pages, which shows no progress."""
    pages = (await store.stats()).captured
    if pages >= MANY_PAGES:
        io.tell(Busy(f"{doing} {pages:,} pages"))


async def _unused_patterns(ledger: Ledger, scope: Scope) -> tuple[str, ...]:
    """Patterns of a user that no URL matched: most of them are written in the syntax of another program."""
    left = {text: path_pattern(text) for text in (*scope.include, *scope.exclude)}
    left.pop(SIGNS_IN_OR_OUT, None)  # ours
    if not left:
        return ()
    async for record in ledger.records():
        path = tidy_path(record.url)
        left = {text: pattern for text, pattern in left.items() if not pattern.matches(path)}
        if not left:
            return ()
    return tuple(
        f"no URL matched the pattern {text}: patterns are globs, with *, ** and ? only, or regular "
        "expressions after re:"
        for text in list(left)[:_MOST_UNUSED_NAMED]
    )

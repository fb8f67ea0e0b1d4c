"""A capture, put together: its folder, its job, the cache of earlier ones, and the job's end."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from sumi.assembly.parts import (
    STATE_FOLDER,
    affordable,
    connected,
    open_store,
    raise_limit,
    teller,
)
from sumi.engine.completeness import PARTIAL
from sumi.engine.control import Control, RunState, obeying_signals
from sumi.engine.disk_watch import require_disk_space
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run
from sumi.errors import UsageError
from sumi.events import Event, Listener, PageDeferred, RunStarted, StateChanged, Summary
from sumi.jobs.capture.cache import CacheSource, CachingFetcher, PageCache, RequestForms
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.digest_cache import DigestMemory, RememberingDigester
from sumi.jobs.capture.folder import CaptureFolder, new_job_id
from sumi.jobs.capture.output import CaptureOutput
from sumi.jobs.capture.recipe import capture_job
from sumi.jobs.capture.rows import CaptureJob, JobStatus
from sumi.jobs.capture.settings import CaptureSettings, given_settings, storable
from sumi.outcomes import Outcome
from sumi.policy import RenderMode
from sumi.ports import JobStore
from sumi.recipe import Job
from sumi.state.lock import make_folders

# In these, nothing new is begun any more.
LAST_STATES = frozenset({RunState.STOPPING, RunState.ABORTING})
# By which status a job goes while its run is in one of these states.
STATUSES = {RunState.RUNNING: JobStatus.IN_PROGRESS, RunState.PAUSED: JobStatus.PAUSED}


class Captured(msgspec.Struct, frozen=True):
    """The end of a run, and the job as it then stands."""

    job: CaptureJob
    summary: Summary


async def capture(
    urls: str | Sequence[str] | CaptureSettings,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    job_id: str | None = None,
    begun: Callable[[CaptureJob], None] = lambda row: None,
    **settings: object,
) -> Captured:
    """``sumi capture``: the pages under base URLs, each text once, into a folder of captures.

    ``settings`` are those of the command, with ``_`` for ``-``. ``job_id`` goes on with that job. ``begun``
    is called with the job once it is on record and has everything that it needs. A run that could not begin
    leaves nothing behind.
    """
    chosen = urls if isinstance(urls, CaptureSettings) else given_settings(urls, settings)
    return await _captured(chosen, listeners, control or Control(), job_id, begun)


async def _captured(
    settings: CaptureSettings,
    listeners: Sequence[Listener],
    control: Control,
    job_id: str | None,
    begun: Callable[[CaptureJob], None],
) -> Captured:
    raise_limit()
    job = affordable(capture_job(settings), settings.processes)
    folder = CaptureFolder(Path(settings.store))
    with folder.working("sumi capture") as database:
        require_disk_space(folder.path, settings.min_free)
        before = None if job_id is None else folder.job(database, job_id)
        row = _recorded(settings, folder, database, before)
        had = database.count_pages(row.id)
        try:
            return await _run(settings, job, folder, database, row, listeners, control, begun)
        except UsageError:
            if database.count_pages(row.id) == had:
                _take_back(folder, database, row.id, before)
            raise
        finally:
            _leave_nothing_under_way(folder, database, row.id)


class CaptureRun:
    """A capture that is going on in this event loop; its methods are for that loop."""

    def __init__(
        self, settings: CaptureSettings, listeners: Sequence[Listener], job_id: str | None = None
    ) -> None:
        self.job_id = job_id or ""
        self._control = Control()
        self._begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._run = asyncio.create_task(
            capture(settings, listeners=listeners, control=self._control, job_id=job_id, begun=self._note)
        )

    @classmethod
    async def begun(
        cls, settings: CaptureSettings, listeners: Sequence[Listener], job_id: str | None = None
    ) -> "CaptureRun":
        """Once its job is on record; raises what kept it from beginning."""
        run = cls(settings, listeners, job_id)
        await asyncio.wait((run._begun, run._run), return_when=asyncio.FIRST_COMPLETED)
        run.job_id = run._begun.result() if run._begun.done() else (await run._run).job.id
        return run

    @property
    def is_paused(self) -> bool:
        return self._control.state is RunState.PAUSED

    @property
    def is_cancelled(self) -> bool:
        return self._control.was_stopped

    async def wait(self) -> Captured:
        """Its end."""
        return await asyncio.shield(self._run)

    def pause(self) -> None:
        """Pages in flight are finished; nothing new is fetched."""
        self._control.pause("pause()")

    def resume(self) -> None:
        self._control.resume("resume()")

    def cancel(self) -> None:
        """Pages in flight are finished, and the job is interrupted, however much waits."""
        if not self._control.stopping:
            self._control.stop("cancel()")

    def _note(self, job: CaptureJob) -> None:
        self._begun.set_result(job.id)


def _recorded(
    settings: CaptureSettings, folder: CaptureFolder, database: CaptureDatabase, known: CaptureJob | None
) -> CaptureJob:
    now = SystemClock().now()
    if known is None:
        row = CaptureJob(new_job_id(now), settings.urls, JobStatus.PENDING, now, storable(settings))
    else:
        row = msgspec.structs.replace(known, status=JobStatus.PENDING, settings=storable(settings))
    make_folders(folder.home_of(row.id) / STATE_FOLDER, "--store")
    folder.lower_flags(row.id)  # of a process that is gone
    database.put_job(row)
    return row


def _take_back(
    folder: CaptureFolder, database: CaptureDatabase, job_id: str, before: CaptureJob | None
) -> None:
    """A browser that does not start, or a selector that is none, is found out with the first page to be
    rendered. What came before that is kept; without anything, a new job would only be taken for the last one,
    and one that was to go on would keep settings that cannot be used."""
    if before is None:
        database.delete_job(job_id)
        folder.forget_home(job_id)
    else:
        database.put_job(before)


async def _run(
    settings: CaptureSettings,
    job: Job,
    folder: CaptureFolder,
    database: CaptureDatabase,
    row: CaptureJob,
    listeners: Sequence[Listener],
    control: Control,
    begun: Callable[[CaptureJob], None],
) -> Captured:
    home = folder.home_of(row.id)
    async with _opened(settings, job, folder, database, row, listeners) as (io, store, output):
        begun(row)
        place = Place(", ".join(settings.urls), str(home), home, settings.min_free, settings.durability)
        with obeying_signals(control):
            summary = await Run(job, place, io, store, output, control).run()
        return Captured(output.mark(_status(summary, output.job), io.clock.now()), summary)


@asynccontextmanager
async def _opened(
    settings: CaptureSettings,
    job: Job,
    folder: CaptureFolder,
    database: CaptureDatabase,
    row: CaptureJob,
    listeners: Sequence[Listener],
) -> AsyncIterator[tuple[Io, JobStore, CaptureOutput]]:
    clock = SystemClock()
    # In a folder's first capture there is nothing to look for.
    active = not settings.skip_cache and database.has_pages
    mode = job.render.mode
    forms = RequestForms(job.network, database.salt, hidden_cookies=mode is not RenderMode.NONE)
    cache = PageCache(database, forms, active=active, max_age=settings.cache_age, mode=mode)
    source = CacheSource(cache, clock)
    memory = DigestMemory(database, cache)
    state = folder.home_of(row.id) / STATE_FOLDER
    store = open_store(None, state, job.frontier, clock.now(), settings.durability, teller(listeners))
    output = CaptureOutput(
        database,
        row,
        store,
        cache,
        source,
        memory,
        job.recipe.scope.base_urls,
        settings.limit,
        teller(listeners),
        keep_bodies=settings.raw,
    )
    heard = (_follow(folder, output, source, clock.now), *listeners)
    try:
        async with connected(job, store, output, clock, heard, settings.processes) as io:
            fetcher = CachingFetcher(io.fetcher, cache)
            digester = RememberingDigester(io.digester, memory)
            yield dataclasses.replace(io, fetcher=fetcher, digester=digester, source=source), store, output
    finally:
        await store.aclose()


def _follow(
    folder: CaptureFolder, output: CaptureOutput, source: CacheSource, now: Callable[[], float]
) -> Listener:
    """Keeps the job's row in step with its run."""

    def hear(event: Event) -> None:
        match event:
            case RunStarted():
                output.mark(JobStatus.IN_PROGRESS, now())
            case StateChanged() if event.state in STATUSES:
                output.mark(STATUSES[RunState(event.state)], now())
            case StateChanged() if event.state in LAST_STATES:
                folder.mark_stopping(output.job.id)
            case PageDeferred():
                source.visited.pop(event.url, None)

    return hear


def _status(summary: Summary, job: CaptureJob) -> JobStatus:
    """A job whose pages wait for a host that does not answer is not done either."""
    if summary.status in ("interrupted", "aborted") or summary.outcomes.get(Outcome.PENDING.value):
        return JobStatus.INTERRUPTED
    lacks = job.pages_failed or summary.status == PARTIAL
    return JobStatus.COMPLETED_WITH_ERRORS if lacks else JobStatus.COMPLETED


def _leave_nothing_under_way(folder: CaptureFolder, database: CaptureDatabase, job_id: str) -> None:
    """However it ended: with this process nobody is at work on the job any more."""
    folder.lower_flags(job_id)
    row = database.job(job_id)
    if row is not None and row.is_under_way:
        database.put_job(msgspec.structs.replace(row, status=JobStatus.INTERRUPTED))

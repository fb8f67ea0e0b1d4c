"""``sumi capture``: assembles a capture (its folder, its job, the cache of earlier ones) and runs it."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from sumi.assembly.more_pages import MorePages, archived_pages, listed_pages
from sumi.assembly.operating import operated
from sumi.assembly.parts import (
    STATE_FOLDER,
    affordable,
    connected,
    open_store,
    raise_limit,
    refuse_state_in,
    replayed,
    team_of,
    teller,
)
from sumi.assembly.session_watch import session_watch
from sumi.corpus.indexing import keep_current
from sumi.engine.completeness import PARTIAL
from sumi.engine.control import Control, RunState, obeying_signals
from sumi.engine.disk_watch import require_disk_space
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run
from sumi.errors import UsageError
from sumi.events import Event, Listener, PageDeferred, RunStarted, StateChanged, Summary
from sumi.files.objects import Objects
from sumi.files.segments import SegmentReader, SegmentWriter
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.recorder import HistoryRecorder
from sumi.jobs.capture.cache import (
    CacheSource,
    CachingDigester,
    CachingFetcher,
    DigestCache,
    PageCache,
    VaryKeys,
)
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.folder import CaptureFolder, new_job_id
from sumi.jobs.capture.output import CaptureOutput
from sumi.jobs.capture.recipe import capture_job
from sumi.jobs.capture.rows import CaptureJob, JobStatus
from sumi.jobs.capture.settings import CaptureSettings, keyword_settings, storable
from sumi.jobs.capture.sharing import SharedCaptureOutput, shared_capture
from sumi.outcomes import Outcome
from sumi.policy import Preset, RenderMode
from sumi.ports import JobStore, Source
from sumi.recipe import Job
from sumi.state.lock import make_folders
from sumi.urls import PRESETS

# No new page is started in these.
LAST_STATES = frozenset({RunState.STOPPING, RunState.ABORTING})

STATUSES = {RunState.RUNNING: JobStatus.IN_PROGRESS, RunState.PAUSED: JobStatus.PAUSED}


class Captured(msgspec.Struct, frozen=True):
    """The result of a run: its summary, and the job as it is then."""

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

    ``settings`` are those of the command, with ``_`` for ``-``. ``job_id`` resumes that job. ``begun`` is
    called with the job once it is recorded and everything it needs is open. A run that cannot start leaves
    nothing behind.
    """
    chosen = urls if isinstance(urls, CaptureSettings) else keyword_settings(urls, settings)
    raise_limit()
    job = affordable(replayed(capture_job(chosen), chosen.replay), chosen.processes)
    control = control or Control()
    async with operated(chosen, job, (*listeners, *session_watch(job.network, control))) as heard:
        captured = await _captured(chosen, job, heard, control, job_id, begun)
        if chosen.index:
            await keep_current(chosen.store, teller(heard))
        return captured


async def join_capture(
    settings: CaptureSettings, listeners: Sequence[Listener], control: Control | None = None
) -> Summary:
    """``sumi worker``: help with a capture that is in a database already."""
    raise_limit()
    job = affordable(capture_job(settings), settings.processes)
    recipe = msgspec.structs.replace(job.recipe, retry_earlier=False)  # that is for whoever starts it
    job = msgspec.structs.replace(job, recipe=recipe)
    async with operated(settings, job, listeners) as heard:
        captured = await _captured(
            settings, job, heard, control or Control(), None, lambda _row: None, joins=True
        )
        return captured.summary


async def _captured(
    settings: CaptureSettings,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    job_id: str | None,
    begun: Callable[[CaptureJob], None],
    *,
    joins: bool = False,
) -> Captured:
    folder = CaptureFolder(Path(settings.store))
    with folder.writing("sumi capture") as database:
        require_disk_space(folder.path, settings.min_free)
        known = settings.job if job_id is None else job_id
        before = None
        if known is not None and (job_id is not None or database.job(known) is not None):
            before = folder.job(database, known)
        row = _recorded(settings, folder, database, before)
        had = database.count_pages(row.id)
        try:
            return await _run(settings, job, folder, database, row, listeners, control, begun, joins=joins)
        except UsageError:
            if database.count_pages(row.id) == had:
                _undo_record(folder, database, row.id, before)
            raise
        finally:
            _mark_interrupted(folder, database, row.id)


class CaptureRun:
    """A capture that runs in this event loop; call its methods from the same loop."""

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
        """Returns once the job is recorded; raises what kept it from starting."""
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
        """Wait for its end."""
        return await asyncio.shield(self._run)

    def pause(self) -> None:
        """Finish the pages in flight and fetch nothing new."""
        self._control.pause("pause()")

    def resume(self) -> None:
        self._control.resume("resume()")

    def cancel(self) -> None:
        """Finish the pages in flight and stop; the job is then interrupted."""
        if not self._control.stopping:
            self._control.stop("cancel()")

    def _note(self, job: CaptureJob) -> None:
        self._begun.set_result(job.id)


def _recorded(
    settings: CaptureSettings, folder: CaptureFolder, database: CaptureDatabase, known: CaptureJob | None
) -> CaptureJob:
    now = SystemClock().now()
    if known is None:
        name = settings.job or new_job_id(now)
        row = CaptureJob(name, settings.urls, JobStatus.PENDING, now, storable(settings))
    else:
        row = msgspec.structs.replace(known, status=JobStatus.PENDING, settings=storable(settings))
    make_folders(folder.job_folder(row.id) / STATE_FOLDER, "--captures")
    folder.remove_flags(row.id)  # left by a process that died
    database.put_job(row)
    return row


def _undo_record(
    folder: CaptureFolder, database: CaptureDatabase, job_id: str, before: CaptureJob | None
) -> None:
    """For a run that failed before its first page: a browser that does not start, or an invalid selector, is
    noticed only when the first page is rendered. A new job is deleted, a resumed one gets its row back."""
    if before is None:
        database.delete_job(job_id)
        folder.remove_job_folder(job_id)
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
    *,
    joins: bool,
) -> Captured:
    home = folder.job_folder(row.id)
    opened = _opened(settings, job, folder, database, row, listeners, control, joins=joins)
    async with opened as (io, store, output):
        begun(row)
        place = Place(
            ", ".join(settings.urls),
            str(home),
            home,
            settings.min_free,
            settings.durability,
            max_time=settings.max_time,
            tolerance=settings.tolerance,
            traces=f"{STATE_FOLDER}/",
        )
        with obeying_signals(control):
            summary = await Run(job, place, io, store, output, control).run()
        return Captured(output.mark(_status(summary), io.clock.now()), summary)


async def _store(
    settings: CaptureSettings,
    job: Job,
    state: Path,
    name: str,
    tell: Listener,
    control: Control,
    *,
    joins: bool,
) -> tuple[JobStore, Objects | None]:
    """And where the pages are, if not only in the folder."""
    clock = SystemClock()
    if not settings.is_shared:
        return open_store(None, state, job.frontier, clock.now(), settings.durability, tell), None
    refuse_state_in(state)
    shared = shared_capture(settings, settings.job or name, joins=joins)
    if settings.contents is not None:
        await asyncio.to_thread(Objects(settings.contents).check)
    from sumi.assembly.many_machines import join

    store, address = await join(shared, job, clock, tell, control)
    assert address is not None  # no such job is made without
    return store, Objects(address)


@asynccontextmanager
async def _opened(
    settings: CaptureSettings,
    job: Job,
    folder: CaptureFolder,
    database: CaptureDatabase,
    row: CaptureJob,
    listeners: Sequence[Listener],
    control: Control,
    *,
    joins: bool,
) -> AsyncIterator[tuple[Io, JobStore, CaptureOutput]]:
    clock, tell = SystemClock(), teller(listeners)
    # The first capture of a folder has nothing to look up, and another machine has not our earlier ones.
    active = not settings.skip_cache and database.has_pages and not settings.is_shared
    mode = job.render.mode
    vary_keys = VaryKeys(job.network, database.salt, hidden_cookies=mode is not RenderMode.NONE)
    cache = PageCache(database, vary_keys, active=active, max_age=settings.cache_age, mode=mode)
    source = CacheSource(cache, clock)
    digests = DigestCache(database, cache)
    state = folder.job_folder(row.id) / STATE_FOLDER
    store, objects = await _store(settings, job, state, row.id, tell, control, joins=joins)
    keeps_history = settings.history and not settings.is_shared
    history = HistoryRecorder(folder.path / HISTORY, clock.now, row.id) if keeps_history else None
    output = (CaptureOutput if objects is None else SharedCaptureOutput)(
        database,
        row,
        store,
        cache,
        source,
        digests,
        job.recipe.scope.base_urls,
        settings.limit,
        tell,
        keep_bodies=settings.raw,
        history=history,
    )
    segments = None
    if objects is not None and isinstance(output, SharedCaptureOutput):
        segments = SegmentWriter(objects, tell)
        output.share(segments, SegmentReader(objects))
    heard = (_follow(folder, output, source, clock.now), *listeners)
    processes, warc = settings.processes, settings.warc
    try:
        async with connected(
            job, store, output, clock, heard, processes, warc=warc, team=team_of(store)
        ) as io:
            whole: Source = source
            if settings.replay_unlinked:
                whole = MorePages(archived_pages(io.fetcher, Preset.CAPTURE), source, store)
            fetcher = CachingFetcher(io.fetcher, cache)
            digester = CachingDigester(io.digester, digests)
            if settings.urls_from:
                lists = listed_pages(settings.urls_from, settings.urls_column, PRESETS[job.recipe.preset])
                whole = MorePages(lists, whole, store)
            io = dataclasses.replace(io, fetcher=fetcher, digester=digester, source=whole)  # noqa: PLW2901
            yield dataclasses.replace(io, segments=segments), store, output
    finally:
        if segments is not None:
            await segments.aclose()
        if history is not None:
            history.close()
        await store.aclose()


def _follow(
    folder: CaptureFolder, output: CaptureOutput, source: CacheSource, now: Callable[[], float]
) -> Listener:
    """Keeps the status in the job's row in step with its run."""

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


def _status(summary: Summary) -> JobStatus:
    """Interrupted, too, if pages still wait, for example for a host that does not answer."""
    if summary.status in ("interrupted", "aborted") or summary.outcomes.get(Outcome.PENDING.value):
        return JobStatus.INTERRUPTED
    return JobStatus.COMPLETED_WITH_ERRORS if summary.status == PARTIAL else JobStatus.COMPLETED


def _mark_interrupted(folder: CaptureFolder, database: CaptureDatabase, job_id: str) -> None:
    """However the run ended, no process is working on the job any more."""
    folder.remove_flags(job_id)
    row = database.job(job_id)
    if row is not None and row.is_under_way:
        database.put_job(msgspec.structs.replace(row, status=JobStatus.INTERRUPTED))

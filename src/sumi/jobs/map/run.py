"""A run of a map: its database, its contents, its summary, and the webhook at its end."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from os import PathLike
from pathlib import Path

import apsw
import msgspec

from sumi.assembly.operating import deliver, operated, signed_request
from sumi.assembly.parts import affordable, connected, new_http, raise_limit, teller
from sumi.assembly.session_watch import session_watch
from sumi.engine.control import Control, obeying_signals
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run
from sumi.errors import SumiError, UsageError, without_passwords
from sumi.events import Listener, Summary, Warned
from sumi.files.blobs import FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.jobs.map.config import MapConfig, load_map_config
from sumi.jobs.map.output import MapOutput, OutputHandler, write_text
from sumi.jobs.map.recipe import map_job
from sumi.jobs.map.store.assembling import leave_shared_job
from sumi.jobs.map.store.map_store import MapStore, map_lock
from sumi.jobs.map.store.rows import MapRows
from sumi.jobs.map.store.runs import COMPLETED, INTERRUPTED, Beginning, MapRun
from sumi.jobs.map.store.schema import APPLICATION_ID
from sumi.jobs.map.summary import MapSummary, read_summary, summary_markdown
from sumi.policy import Durability
from sumi.ports import Clock, Fetcher
from sumi.recipe import Job
from sumi.settings.operating import Operating, checked_operating
from sumi.state.lock import make_folders

_NO_RUN = 0  # the database could not be opened

HOW_TO_LOOK_AGAIN = "nothing to do: give --update to look for changes, or --fresh to start over"


class MapRequest(Operating, frozen=True):
    """Options of this run; everything else is in the configuration."""

    fresh: bool = False  # delete what earlier runs found
    update: bool = False  # after a finished run, start another: fetch what was left, then look for changes
    accept_changes: bool = False  # resume a stopped run though the configuration has changed
    processes: int | None = None
    min_free: int | None = None
    durability: Durability = Durability.BATCH
    read_config: Callable[[], MapConfig] | None = None  # for a reload, which applies the limits it returns
    handlers: tuple[OutputHandler, ...] = ()
    state: str | None = None  # the address of a database, for a map that many machines share
    job: str | None = None  # its name there


async def map(  # noqa: A001 - as the command is called
    config: MapConfig | str | PathLike[str],
    *,
    fresh: bool = False,
    update: bool = False,
    resume: bool = False,
    processes: int | None = None,
    min_free: int | None = None,
    durability: str = Durability.BATCH,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    read_config: Callable[[], MapConfig] | None = None,
    handlers: tuple[OutputHandler, ...] = (),
    state: str | None = None,
    job: str | None = None,
    **operating: object,
) -> Summary:
    """``sumi map``: the web around chosen domains, in the configuration's database.

    ``config`` is the TOML file, or what was read from it. ``fresh`` deletes the map; ``update``, after a
    finished run, fetches what was left and then looks for changes; ``resume`` resumes a stopped run though
    the configuration has changed. ``read_config`` is called when the run is asked to reload. ``state``: the
    address of a database, in which the map is shared by many machines, as the job ``job``.
    """
    chosen = config if isinstance(config, MapConfig) else load_map_config(Path(config))
    kept = Durability(durability)
    request = MapRequest(
        fresh,
        update,
        resume,
        processes,
        min_free,
        kept,
        read_config,
        handlers,
        state,
        job,
        **checked_operating(operating, "map"),
    )
    raise_limit()
    work = affordable(map_job(chosen), processes)
    control = control or Control()
    async with operated(request, work, (*listeners, *session_watch(work.network, control))) as heard:
        if state is not None:
            from sumi.jobs.map.shared_run import run_shared

            return await run_shared(chosen, work, heard, control, request)
        return await _map(chosen, work, heard, control, request)


async def _map(
    config: MapConfig, job: Job, listeners: Sequence[Listener], control: Control, request: MapRequest
) -> Summary:
    place = place_of(config, request)

    async def read_job() -> Job:
        changed = request.read_config() if request.read_config is not None else config
        return affordable(map_job(changed), request.processes)

    async with _opened(config, job, listeners, request) as (io, store, output):
        job = _for_this_run(job, store.beginning)
        run = Run(job, place, io, store, output, control, read_job, has_lone_page=output.has_lone_page)
        if store.beginning is Beginning.FINISHED:
            summary = await run.report_finished(store.finished_at, HOW_TO_LOOK_AGAIN)
            if await store.end_is_unannounced():  # killed in between
                await _announce_end(config, io, store, COMPLETED, request)
            return summary
        with obeying_signals(control):
            try:
                summary = await run.run()
                status = INTERRUPTED if summary.status in ("interrupted", "aborted") else COMPLETED
                await store.end_run(status, io.clock.now())
                await _announce_end(config, io, store, status, request)
            except SumiError as error:
                await _fail(config, io, store, request, error)
                raise
            return summary


def place_of(config: MapConfig, request: MapRequest) -> Place:
    database = config.output.database_path
    _refuse_folders(database, config.output.summary_path)
    make_folders(database.parent)
    return Place(
        ", ".join(entry.domain for entry in config.quality),
        str(database),
        database.parent,
        request.min_free,
        request.durability,
        max_time=request.max_time,
        tolerance=request.tolerance,
        traces=f"{database.name}.",
    )


def _for_this_run(job: Job, beginning: Beginning) -> Job:
    recipe = job.recipe
    if beginning is Beginning.RESUMED:  # an outcome is final for its run; only another run retries failures
        recipe = msgspec.structs.replace(recipe, retry_earlier=False)
    if beginning is Beginning.AGAIN:  # the type of known pages needs no HEAD
        recipe = msgspec.structs.replace(recipe, requests_per_page=1)
    return msgspec.structs.replace(job, recipe=recipe)


async def _announce_end(config: MapConfig, io: Io, store: MapStore, status: str, request: MapRequest) -> None:
    """Once the end is recorded. After a kill in between, the next start does all of it again."""
    for handler in request.handlers:
        handler.generate_summary()
    write_map_summary(config)
    for handler in request.handlers:
        handler.finalize(status)
    if status == COMPLETED:
        await _notify(config.webhooks.on_complete, config, io, store, status)
        await store.note_announced()


async def _fail(config: MapConfig, io: Io, store: MapStore, request: MapRequest, trouble: SumiError) -> None:
    """Send the webhook even if the end cannot be recorded, as on a full disk. The run can be resumed, also if
    only its summary could not be written."""
    with suppress(SumiError):
        await store.end_run(INTERRUPTED, io.clock.now())
    for handler in request.handlers:
        handler.finalize(INTERRUPTED)
    await _notify(config.webhooks.on_error, config, io, store, INTERRUPTED, str(trouble))


class Notice(msgspec.Struct, frozen=True):
    """The payload of a webhook, when a run has completed or failed."""

    run: int  # 1 or more, or _NO_RUN
    status: str  # as in the table ``runs``
    database: str
    discovered: int
    error: str = ""


async def _notify(
    target: str | None, config: MapConfig, io: Io, store: MapStore, status: str, trouble: str = ""
) -> None:
    notice = Notice(store.run_id, status, str(config.output.database_path), store.known, trouble)
    await send_notice(io.fetcher, io.tell, target, notice)


async def send_notice(fetcher: Fetcher, tell: Listener, target: str | None, notice: Notice) -> None:
    """One POST with the same guarded client as pages, without retries; a failure is a warning."""
    if target is None:
        return
    event = "map.failed" if notice.error else "map.completed"
    request = signed_request(target, {"event": event} | msgspec.to_builtins(notice), secret=None)
    problem = await deliver(fetcher, request, pauses=())
    if problem:
        tell(Warned(f"the webhook {without_passwords(target)} was not delivered: {problem}"))


@asynccontextmanager
async def _opened(
    config: MapConfig, job: Job, listeners: Sequence[Listener], request: MapRequest
) -> AsyncIterator[tuple[Io, MapStore, MapOutput]]:
    clock = SystemClock()
    database = config.output.database_path
    async with AsyncExitStack() as stack:
        store = await _open_store(config, job, clock, teller(listeners), request, stack)
        stack.push_async_callback(store.aclose)
        contents = None
        if config.content.keep:
            folder = SafeFolder(_contents_folder(database))
            stack.callback(folder.close)
            contents = FolderBlobs(folder, packed=True)
        output = MapOutput(database, contents)
        io = await stack.enter_async_context(
            connected(job, store, output, clock, listeners, request.processes, must_reach=False)
        )
        yield io, store, output


async def _open_store(
    config: MapConfig, job: Job, clock: Clock, tell: Listener, request: MapRequest, stack: AsyncExitStack
) -> MapStore:
    database, run = config.output.database_path, map_run(config, request)
    try:
        lock = map_lock(database, "sumi map")
        stack.callback(lock.release)
        if request.fresh:
            _delete_map(database)
        leave_shared_job(database, consent=request.accept_changes)
        return MapStore(
            database, job.frontier, clock.now(), run, request.durability, request.handlers, lock=lock
        )
    except SumiError as error:
        # The webhook is sent although no run began.
        notice = Notice(_NO_RUN, INTERRUPTED, str(database), 0, str(error))
        fetcher = new_http(job, clock)
        try:
            await send_notice(fetcher, tell, config.webhooks.on_error, notice)
        finally:
            await fetcher.aclose()
        raise


def map_run(config: MapConfig, request: MapRequest) -> MapRun:
    origins = tuple(dict.fromkeys(entry.domain for entry in config.quality))
    return MapRun(
        config.config_hash,
        config.classes,
        origins,
        config.crawler.max_depth,
        request.accept_changes,
        request.update,
    )


def _refuse_folders(*files: Path) -> None:
    for file in files:
        if file.is_dir():
            raise UsageError(f"{file} is a folder: name a file")


def _contents_folder(database: Path) -> Path:
    return database.with_name(f"{database.stem}-contents")


def read_map_summary(config: MapConfig) -> MapSummary:
    """The summary of the last run; raises SumiError if there is no map."""
    database = config.output.database_path
    if not database.is_file():
        raise UsageError(f"{database} does not exist: there is no map yet, so run the map first")
    MapRows(database, strict=False, readonly=True).close()  # refuses a file that is damaged or not a map
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return read_summary(connection)
    finally:
        connection.close()


def write_map_summary(config: MapConfig) -> MapSummary:
    summary = read_map_summary(config)
    write_text(config.output.summary_path, summary_markdown(summary))
    return summary


def _delete_map(database: Path) -> None:
    """--fresh: delete the database, if it is a map; the lock must be held. Stored contents stay: they are
    found by hash, so the next run uses them again."""
    if not database.exists():
        return
    if not _is_map(database):
        raise UsageError(
            f"{database} is not a map and was not touched; remove it yourself, or choose another"
        )
    for name in (database.name, f"{database.name}-wal", f"{database.name}-shm"):
        database.with_name(name).unlink(missing_ok=True)


def _is_map(database: Path) -> bool:
    """Also one that is damaged, or from another version: --fresh must work for both."""
    try:
        connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return False
    try:
        return bool(connection.pragma("application_id") == APPLICATION_ID)
    except apsw.Error:
        return False
    finally:
        connection.close()

"""``sumi crawl run`` and ``sumi run --unified``: assembles a crawl by policy and runs it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from os import PathLike
from pathlib import Path

import msgspec

from sumi.assembly.operating import operated
from sumi.assembly.parts import (
    affordable,
    connected,
    open_store,
    raise_limit,
    refuse_state_in,
    team_of,
    teller,
)
from sumi.assembly.session_watch import session_watch
from sumi.assembly.shared_job import SharedJob, SharedRecipe
from sumi.catalogue.role import Role, load_role, note_role
from sumi.engine.control import Control, obeying_signals
from sumi.engine.disk_watch import require_disk_space
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run
from sumi.errors import StateError, UsageError
from sumi.events import Event, Listener, Progress, Summary
from sumi.files.objects import Objects
from sumi.jobs.pipeline.archive import Archive
from sumi.jobs.pipeline.archive_files import ArchiveFiles
from sumi.jobs.pipeline.config import CrawlConfig, RunOptions
from sumi.jobs.pipeline.config_file import load_crawl_config, load_seeds
from sumi.jobs.pipeline.recipe import crawl_job
from sumi.jobs.pipeline.segment_archive import SegmentBodies
from sumi.jobs.pipeline.spool_reader import unread_bytes
from sumi.jobs.pipeline.state import (
    BACKEND_SETTING,
    CRAWLER,
    UNIFIED,
    require_configured_frontier,
    require_configured_index,
)
from sumi.jobs.pipeline.workspace import adopt, layout_of, refuse_half_reset
from sumi.model import Candidate, Hop
from sumi.outcomes import UP_TO_DATE
from sumi.policy import Durability
from sumi.ports import Clock, JobStore
from sumi.recipe import Job
from sumi.settings.operating import checked_operating
from sumi.state.lock import Claim, FolderLock


class CrawlOptions(RunOptions, frozen=True, kw_only=True):
    unified: bool = False
    again: bool = False  # request known pages again, in case they changed
    state: str | None = None  # the address of a database, for a crawl of many machines
    name: str | None = None  # of the job there
    store: str | None = None  # the address of an object store, for the archive of such a crawl

    @property
    def job(self) -> str:
        return UNIFIED if self.unified else CRAWLER

    @property
    def command(self) -> str:
        return "run --unified" if self.unified else "crawl run"


async def crawl(
    config: CrawlConfig | str | PathLike[str],
    *,
    run_id: str | None = None,
    unified: bool = False,
    again: bool = False,
    state: str | None = None,
    name: str | None = None,
    store: str | None = None,
    warc: str | None = None,
    processes: int | None = None,
    min_free: int | None = None,
    durability: str = Durability.BATCH,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    read_config: Callable[[], CrawlConfig] | None = None,
    **operating: object,
) -> Summary:
    """``sumi crawl run``: find pages by policy and list them for the scraper; ``unified``: archive them, too.

    ``config`` is the YAML file, or what was read from it. ``read_config`` is called when the run is asked to
    reload; the run adopts the limits of what it returns. ``state``: the address of a database, in which the
    crawl is called ``name`` and other machines with the same configuration share it. ``store``: the address
    of an object store for its archive. ``operating``: ``max_time``, ``log_file``, ``notify`` and
    ``notify_secret``.
    """
    options = CrawlOptions(
        unified=unified,
        again=again,
        state=state,
        name=name,
        store=store,
        warc=warc,
        processes=processes,
        min_free=min_free,
        durability=Durability(durability),
        **checked_operating(operating, "crawl"),
    )
    chosen = load_crawl_config(config, run_id)
    raise_limit()
    job = _job_for(chosen, options)
    control = control or Control()
    async with operated(options, job, (*listeners, *session_watch(job.network, control))) as heard:
        return await _crawl(chosen, options, job, heard, control, read_config)


async def _crawl(
    config: CrawlConfig,
    options: CrawlOptions,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    read_config: Callable[[], CrawlConfig] | None,
) -> Summary:
    require_configured_frontier(config)
    if options.unified:
        require_configured_index(config)
    elif options.state is not None and not config.spool.hand_over:
        raise UsageError(
            "a crawl of many machines needs spool.hand_over: true, or sumi run --unified: else their "
            "scrapers would ask hosts that other machines are asking"
        )
    adopt(config.workspace, layout_of(config).owned)
    with Claim(config.frontier.db_path, f"sumi {options.command}") as claim:
        refuse_half_reset(config.workspace)
        require_disk_space(config.workspace, options.min_free)
        async with _opened(config, options, job, listeners, control, claim.lock) as (io, store, archive):
            await _claim_role(Role(options.job, config.workspace), store, config.frontier.db_path)
            if options.again:
                await _queue_again(store, io.clock)
            place = _place(config, options)

            async def read_job() -> Job:
                return _job_for(read_config() if read_config is not None else config, options)

            with obeying_signals(control):
                return await Run(job, place, io, store, archive, control, read_job).run()


def _place(config: CrawlConfig, options: CrawlOptions) -> Place:
    where = config.metadata.path if options.unified else config.spool.dir
    return Place(
        str(config.seeds_file),
        str(where),
        config.workspace,
        options.min_free,
        options.durability,
        BACKEND_SETTING,
        options.max_time,
        options.tolerance,
    )


def _job_for(config: CrawlConfig, options: CrawlOptions) -> Job:
    written = load_seeds(config.seeds_file, config.scope.keep_query)
    seeds = [Candidate(seed.identity, Hop.SEED, address=seed.address) for seed in written]
    keep_raw = options.unified or config.spool.hand_over
    return affordable(crawl_job(config, options.job, seeds, keep_raw=keep_raw), options.processes)


@asynccontextmanager
async def _opened(
    config: CrawlConfig,
    options: CrawlOptions,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    lock: FolderLock,
) -> AsyncIterator[tuple[Io, JobStore, Archive]]:
    clock = SystemClock()
    tell = teller(listeners)
    store, address = await _store(config, options, job, clock, tell, control, lock)
    team = team_of(store)
    try:
        bodies = None if address is None else SegmentBodies(Objects(address), tell)
        metrics, shared_as = config.metrics.crawler_path, "" if team is None else _identity(config.workspace)
        files = ArchiveFiles(config, options.job, metrics, clock, bodies, shared_as=shared_as)
        try:
            archive, pressed = _archive(config, options, files, control, clock)
            heard = (*listeners, *files.listeners, *pressed)
            async with (
                connected(
                    job, store, archive, clock, heard, options.processes, warc=options.warc, team=team
                ) as io,
                files.packing(io) as io,
            ):
                yield io, store, archive
        finally:
            files.close()
    finally:
        await store.aclose()


async def _store(
    config: CrawlConfig,
    options: CrawlOptions,
    job: Job,
    clock: Clock,
    tell: Listener,
    control: Control,
    lock: FolderLock,
) -> tuple[JobStore, str | None]:
    """And the address of the archive, if it is in an object store."""
    section = config.frontier
    if options.state is None:
        wanted, now = options.durability, clock.now()
        return open_store(section.backend, section.db_path, job.frontier, now, wanted, tell, lock), None
    if options.store is not None:
        await asyncio.to_thread(Objects(options.store).check)
    refuse_state_in(section.db_path)
    from sumi.assembly.many_machines import join

    name = options.name or config.workspace.resolve().name
    # So that another limit is another recipe; all else is in the configuration of each machine.
    recipe = SharedRecipe({"max_pages": msgspec.Raw(msgspec.json.encode(job.frontier.max_pages))})
    shared = SharedJob(options.state, name, options.job, recipe, options.store)
    return await join(shared, job, clock, tell, control)


def _identity(workspace: Path) -> str:
    """Of this workspace among all machines."""
    where = f"{socket.gethostname()}:{workspace.resolve()}"
    return blake2b(where.encode(), digest_size=8).hexdigest()


def _archive(
    config: CrawlConfig, options: CrawlOptions, files: ArchiveFiles, control: Control, clock: Clock
) -> tuple[Archive, tuple[Listener, ...]]:
    if options.unified:
        copies = (files.index(), files.metadata(), *files.trajectory())
        return files.archive(copies), ()
    copies = (*files.trajectory(), files.spool())
    most = config.spool.max_backlog_gb * 1e9
    pressure = BackPressure(config.spool.dir, config.bookmark.path, most, control, clock)
    return files.archive(copies), (pressure,)


async def _claim_role(role: Role, store: JobStore, state: Path) -> None:
    """Refuse a state of the other mode: what that has done would be missing from this mode's files."""
    before = await load_role(store, state)
    if before is not None and before.job != role.job:
        words = {CRAWLER: "sumi crawl run, or sumi run", UNIFIED: "sumi run --unified"}
        raise StateError(
            f"this workspace was started by {words.get(before.job, before.job)}: continue with that, or give "
            "this crawl its own workspace"
        )
    await note_role(store, role, state)


async def _queue_again(store: JobStore, clock: Clock) -> None:
    urls = [record.url async for record in store.records(UP_TO_DATE)]
    await store.requeue(urls, clock.now())


LOOK_SECONDS = 1.0


class BackPressure:
    """Pauses the crawl while the scraper is too far behind. Listens to ``Progress``, which comes during a
    pause, too."""

    def __init__(self, spool: Path, bookmark: Path, most: float, control: Control, clock: Clock) -> None:
        self._spool = spool
        self._bookmark = bookmark
        self._most = most
        self._control = control
        self._clock = clock
        self._due = 0.0
        self._pausing = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and self._clock.now() >= self._due:
            self._due = self._clock.now() + LOOK_SECONDS
            self.look()

    def look(self) -> None:
        unread = unread_bytes(self._spool, self._bookmark)
        if unread > self._most and self._control.leasing:
            self._pausing = True
            self._control.pause(f"{unread:,} bytes of the spool are unread: sumi scrape run reads them")
        elif unread <= self._most and self._pausing:
            self._pausing = False
            self._control.resume("the spool has been read")

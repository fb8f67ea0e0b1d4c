"""``sumi scrape run``: assembles a scraper (the spool it reads, its state, its archive) and runs it."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from pathlib import Path

import msgspec

from sumi.assembly.operating import operated
from sumi.assembly.parts import (
    affordable,
    connected,
    open_store,
    raise_limit,
    teller,
)
from sumi.assembly.session_watch import session_watch
from sumi.catalogue.role import Role, note_role
from sumi.console.open_job import looking_at
from sumi.engine.control import Control, obeying_signals
from sumi.engine.disk_watch import require_disk_space
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run
from sumi.errors import UsageError
from sumi.events import Listener, Summary
from sumi.files.growing_file import GrowingFile
from sumi.jobs.pipeline.archive import Archive
from sumi.jobs.pipeline.archive_files import ArchiveFiles
from sumi.jobs.pipeline.config import CrawlConfig, RunOptions
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.pages_csv import HEADER
from sumi.jobs.pipeline.recipe import scrape_job
from sumi.jobs.pipeline.spool_reader import SpoolReader
from sumi.jobs.pipeline.spool_source import SpoolSource
from sumi.jobs.pipeline.state import (
    BACKEND_SETTING,
    RUN_NOTE,
    SCRAPER,
    holds_state,
    require_configured_index,
    scraper_state,
)
from sumi.jobs.pipeline.workspace import refuse_half_reset
from sumi.policy import Durability, Preset, StateBackend
from sumi.ports import JobStore
from sumi.recipe import Job
from sumi.settings.kinds import split_userinfo
from sumi.settings.operating import checked_operating
from sumi.state.folder import backend_to_use
from sumi.state.lock import Claim, FolderLock, lock_owner
from sumi.urls import normalize
from sumi.urls.parts import serialized


class ScrapeOptions(RunOptions, frozen=True, kw_only=True):
    follow: bool = False  # wait for more even if no crawler is running


async def scrape(
    config: CrawlConfig | str | PathLike[str],
    *,
    run_id: str | None = None,
    resume: bool = False,
    follow: bool = False,
    warc: str | None = None,
    processes: int | None = None,
    min_free: int | None = None,
    durability: str = Durability.BATCH,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    read_config: Callable[[], CrawlConfig] | None = None,
    crawler_at_work: Callable[[], bool] | None = None,
    **operating: object,
) -> Summary:
    """``sumi scrape run``: archive what a crawler found; ``resume``: ``sumi scrape resume``, in the same CSV.

    ``config`` is the YAML file, or what was read from it. ``read_config`` is called when the run is asked to
    reload. ``crawler_at_work`` says whether more may come; the default looks at the crawler's lock.
    """
    chosen = load_crawl_config(config, run_id)
    if resume:
        chosen = msgspec.structs.replace(chosen, run_id=await last_run_id(chosen))
        if not isinstance(config, CrawlConfig):  # its paths may contain the run id
            chosen = load_crawl_config(config, chosen.run_id)
    options = ScrapeOptions(
        follow=follow,
        warc=warc,
        processes=processes,
        min_free=min_free,
        durability=Durability(durability),
        **checked_operating(operating, "scrape"),
    )
    raise_limit()
    job = affordable(scrape_job(chosen, SCRAPER), options.processes)
    control = control or Control()
    async with operated(options, job, (*listeners, *session_watch(job.network, control))) as heard:
        return await _scrape(chosen, options, job, heard, control, read_config, crawler_at_work)


async def last_run_id(config: CrawlConfig) -> str:
    """The run id of the scraper's last run; UsageError if there was none."""
    state = scraper_state(config)
    last = None
    if holds_state(state):
        async with looking_at(state) as store:
            last = await store.get_note(RUN_NOTE)
    if last is None:
        raise UsageError(f"there is no scrape run to resume in {state}: start one with sumi scrape run")
    return last


async def _scrape(
    config: CrawlConfig,
    options: ScrapeOptions,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    read_config: Callable[[], CrawlConfig] | None,
    crawler_at_work: Callable[[], bool] | None,
) -> Summary:
    require_configured_index(config)
    at_work = crawler_at_work or _by_lock(config, follow=options.follow)
    with Claim(scraper_state(config), "sumi scrape run") as claim:
        refuse_half_reset(config.workspace)
        require_disk_space(config.workspace, options.min_free)
        async with _opened(config, options, job, listeners, at_work, claim.lock) as (io, store, archive):
            await note_role(store, Role(SCRAPER, config.workspace), scraper_state(config))
            await store.put_note(RUN_NOTE, config.run_id)

            async def read_job() -> Job:
                return scrape_job(read_config() if read_config is not None else config, SCRAPER)

            where = str(config.pages_csv.path)
            place = Place(
                str(config.spool.dir),
                where,
                config.workspace,
                options.min_free,
                options.durability,
                BACKEND_SETTING,
                options.max_time,
                options.tolerance,
            )
            with obeying_signals(control):
                summary = await Run(job, place, io, store, archive, control, read_job).run()
            # The summary names the CSV as the output, so it must exist even if no page was new.
            GrowingFile(config.pages_csv.path).append([], HEADER)
            return summary


def _by_lock(config: CrawlConfig, *, follow: bool) -> Callable[[], bool]:
    return lambda: follow or lock_owner(config.frontier.db_path) is not None


@asynccontextmanager
async def _opened(
    config: CrawlConfig,
    options: ScrapeOptions,
    job: Job,
    listeners: Sequence[Listener],
    at_work: Callable[[], bool],
    lock: FolderLock,
) -> AsyncIterator[tuple[Io, JobStore, Archive]]:
    clock = SystemClock()
    folder, durability = scraper_state(config), options.durability
    tell, now, backend = teller(listeners), clock.now(), _backend(config, folder)
    store = open_store(backend, folder, job.frontier, now, durability, tell, lock)
    try:
        files = ArchiveFiles(config, SCRAPER, config.metrics.scraper_path, clock)
        try:
            heard = (*listeners, *files.listeners)
            source = SpoolSource(
                SpoolReader(config.spool.dir, config.bookmark.path),
                store,
                files.blobs,
                clock,
                identify=as_listed,
                amend=store.amend,
                began=lambda: archive.since,
                crawler_at_work=at_work,
                resumed=store.resumed,
                tell=teller(heard),
            )
            copies = (files.index(), files.pages_csv())
            archive = files.archive(copies, [source.settled], source.copied)
            async with (
                connected(job, store, archive, clock, heard, options.processes, warc=options.warc) as io,
                files.packing(io) as io,
            ):
                yield dataclasses.replace(io, source=source), store, archive
        finally:
            files.close()
    finally:
        await store.aclose()


def _backend(config: CrawlConfig, folder: Path) -> StateBackend | None:
    """The configured one, unless the scraper's state is kept in another."""
    wanted = config.frontier.backend
    return wanted if backend_to_use(folder, None) is wanted or not holds_state(folder) else None


def as_listed(url: str) -> str | None:
    """The URL to request and to record; None if it cannot be requested as it is written."""
    href = serialized(url)
    return None if href is None or split_userinfo(href)[1] else normalize(href, Preset.LISTED)

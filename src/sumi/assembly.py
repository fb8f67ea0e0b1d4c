"""The composition root: the only module that knows which parts make a whole, and names a backend."""

import asyncio
import os
import random
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sumi.engine.attendant import Attendant, Limits
from sumi.engine.clock import SystemClock
from sumi.engine.control import Control, obeying_signals
from sumi.engine.descriptors import affordable_requests, raise_limit
from sumi.engine.disk_watch import DiskWatch, refuse_without_room
from sumi.engine.estimate import pace_notes
from sumi.engine.findings import findings
from sumi.engine.flag_files import FlagFiles
from sumi.engine.io import Io
from sumi.engine.lifecycle import RunState
from sumi.engine.offload import InProcessDigester, WorkerPool
from sumi.engine.run import Crawl
from sumi.engine.summary import summarize
from sumi.errors import SumiError, UsageError
from sumi.events import Event, Listener, Progress, Recovered, RunStarted, StateChanged, Summary
from sumi.fetch.first_contact import FirstContact
from sumi.fetch.http import HttpFetcher
from sumi.frontier.retry import TRANSIENT
from sumi.jobs.mirror import MirrorJob, mirror_job
from sumi.jobs.mirror_note import remember_settings
from sumi.outputs.markdown_tree import MarkdownTree
from sumi.policy import FrontierPolicy, ParseLimits
from sumi.ports import Clock, Digester, Fetcher
from sumi.settings import MirrorSettings
from sumi.settings.mirror import StateBackend
from sumi.store.files import FilesStore
from sumi.store.folder import refuse_other_backend
from sumi.store.indexed import FolderStore
from sumi.store.lmdb import LmdbStore
from sumi.store.sqlite import SqliteStore

STATE_FOLDER = ".sumi"
STORES: dict[StateBackend, type[FilesStore | FolderStore]] = {
    StateBackend.FILES: FilesStore,
    StateBackend.SQLITE: SqliteStore,
    StateBackend.LMDB: LmdbStore,
}
PROGRESS_FILE_SECONDS = 2.0

T = TypeVar("T")


def run_mirror(
    settings: MirrorSettings,
    listeners: Sequence[Listener],
    control: Control | None = None,
    read_settings: Callable[[], MirrorSettings] | None = None,
) -> Summary:
    """Run a mirror to its end. Blocking; raises SumiError for what the user should hear about.

    ``read_settings`` is called when the run is asked to reload; the limits it returns are taken over.
    """
    return _run_loop(mirror(settings, listeners, control or Control(), read_settings))


async def mirror(
    settings: MirrorSettings,
    listeners: Sequence[Listener],
    control: Control,
    read_settings: Callable[[], MirrorSettings] | None = None,
) -> Summary:
    """The same within a running event loop."""
    raise_limit()
    job = _affordable(mirror_job(settings), settings.processes)
    home = Path(settings.output) / job.home
    if settings.fresh:
        _forget(home)
    made = _make_folders(home / STATE_FOLDER)
    try:
        refuse_without_room(home, settings.min_free)
        async with _opened_mirror(settings, job, home, listeners) as parts:
            with obeying_signals(control):
                return await _Mirroring(settings, job, *parts, control).run(read_settings)
    except UsageError:
        _unmake(made)  # a job that could not start leaves nothing half-made behind
        raise


class _Mirroring:
    """One run: take up what is there, crawl, write what is derived from the whole."""

    def __init__(
        self,
        settings: MirrorSettings,
        job: MirrorJob,
        io: Io,
        store: FilesStore | FolderStore,
        tree: MarkdownTree,
        control: Control,
    ) -> None:
        self._settings = settings
        self._job = job
        self._io = io
        self._store = store
        self._tree = tree
        self._control = control
        home = Path(settings.output) / job.home
        self._disk = DiskWatch(home, settings.min_free, control)
        self._started = io.clock.now()

    async def run(self, read_settings: Callable[[], MirrorSettings] | None) -> Summary:
        settings, store = self._settings, self._store
        self._control.watch(self._tell_of_state)
        await remember_settings(store, settings)
        await self._tree.rebuild_projections(store)
        await self._recover()
        pending = (await store.stats()).pending
        notes = (*self._job.notes, *await self._pace_notes())
        self._io.tell(RunStarted("mirror", settings.url, settings.output, store.resumed, pending, notes))
        crawl = Crawl(self._job.recipe, self._io, self._control, settings.durability)
        try:
            await self._attended(crawl, read_settings)
        except UsageError:
            raise
        except SumiError:
            self._io.tell(await self._summary(aborted=True))
            raise
        aborted = self._control.was_aborted
        if not aborted:
            await self._tree.finish(store, await store.stats())
            await store.sync(self._tree.sync)
        summary = await self._summary(aborted=aborted)
        self._io.tell(summary)
        self._disk.complain()
        return summary

    async def _pace_notes(self) -> tuple[str, ...]:
        return pace_notes(await self._store.waiting_hosts(self._started), self._job.recipe.pacing)

    async def _attended(self, crawl: Crawl, read_settings: Callable[[], MirrorSettings] | None) -> None:
        """The crawl, and beside it whoever listens to the user."""

        async def read_limits() -> Limits:
            await self._take_limits_of(read_settings() if read_settings is not None else self._settings)
            return Limits(self._job.recipe.concurrency, self._job.frontier)

        home = Path(self._settings.output) / self._job.home
        flags = FlagFiles(home, self._job.recipe.job, self._control)
        attendant = Attendant(crawl, self._io, self._control, read_limits)
        beside = asyncio.gather(attendant.attend(flags), self._disk.watch(self._io.clock))
        try:
            await crawl.run()
        finally:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)

    async def _take_limits_of(self, settings: MirrorSettings) -> None:
        new = _affordable(mirror_job(settings), settings.processes)
        self._settings = msgspec.structs.replace(self._settings, max_pages=settings.max_pages)
        await remember_settings(self._store, self._settings)
        recipe = msgspec.structs.replace(
            self._job.recipe,
            pacing=new.recipe.pacing,
            concurrency=new.recipe.concurrency,
            max_pages=new.recipe.max_pages,
        )
        self._job = msgspec.structs.replace(self._job, recipe=recipe, frontier=new.frontier)

    def _tell_of_state(self, state: RunState, why: str) -> None:
        if state is not RunState.ENDED:  # of which the summary tells
            self._io.tell(StateChanged(state, why))

    async def _recover(self) -> None:
        """After a power cut, pages settled last may lack their files; passing failures get another chance."""
        lost = [url for url in self._store.unsynced if not await self._is_whole(url)]
        requeued = await self._store.requeue(lost, self._started)
        if self._store.torn_bytes or requeued:
            self._io.tell(Recovered(0, self._store.torn_bytes, requeued))
        failed = [record.url async for record in self._store.records(TRANSIENT)]
        await self._store.requeue(failed, self._started)

    async def _is_whole(self, url: str) -> bool:
        record = await self._store.record(url)
        return record is None or self._tree.has_whole(record.facts)

    async def _summary(self, *, aborted: bool = False) -> Summary:
        return summarize(
            self._job.recipe,
            await self._store.stats(),
            await self._store.waiting_hosts(self._io.clock.now()),
            self._settings.output,
            self._io.clock.now() - self._started,
            stopped=self._control.was_stopped,
            aborted=aborted,
            notes=self._job.notes if aborted else (*self._job.notes, *await findings(self._store)),
        )


@asynccontextmanager
async def _opened_mirror(
    settings: MirrorSettings, job: MirrorJob, home: Path, listeners: Sequence[Listener]
) -> AsyncIterator[tuple[Io, FilesStore | FolderStore, MarkdownTree]]:
    clock = SystemClock()
    store = _open_store(settings, home / STATE_FOLDER, job.frontier, clock.now())
    tree = MarkdownTree(home.parent, job.home, settings.url, clock)
    fetcher: Fetcher = HttpFetcher(job.limits, job.network, clock)
    if not store.resumed:
        fetcher = FirstContact(fetcher)
    digester = _digester(settings.processes, job.recipe.parse)
    tell = _teller([*listeners, _ProgressFile(tree, clock)])
    try:
        yield Io(store, store, fetcher, digester, tree, clock, tell, random.random), store, tree
    finally:
        await fetcher.aclose()
        await digester.aclose()
        tree.close()
        await store.aclose()


def _open_store(
    settings: MirrorSettings, folder: Path, policy: FrontierPolicy, now: float
) -> FilesStore | FolderStore:
    refuse_other_backend(folder, settings.state)
    return STORES[settings.state](folder, policy, now, settings.durability)


def _digester(processes: int | None, limits: ParseLimits) -> Digester:
    count = _worker_count(processes)
    if not count:
        return InProcessDigester()
    cpu = limits.cpu_seconds
    return WorkerPool(count, cpu_seconds=cpu, wall_seconds=1.5 * cpu, memory_bytes=limits.memory_bytes)


def _worker_count(processes: int | None) -> int:
    # The main process keeps one core busy by itself; the others digest.
    return max(1, (os.cpu_count() or 1) - 1) if processes is None else processes


def _affordable(job: MirrorJob, processes: int | None) -> MirrorJob:
    """With no more requests at once than the limit on open files allows."""
    wanted, most = job.recipe.concurrency, affordable_requests(_worker_count(processes))
    if wanted <= most:
        return job
    note = f"{most} requests at once instead of {wanted}: the limit on open files (ulimit -n) allows no more"
    recipe = msgspec.structs.replace(job.recipe, concurrency=most)
    return msgspec.structs.replace(job, recipe=recipe, notes=(*job.notes, note))


class _ProgressFile:
    """Keeps ``_progress.json`` current while a mirror runs."""

    def __init__(self, tree: MarkdownTree, clock: Clock) -> None:
        self._tree = tree
        self._clock = clock
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and self._clock.now() >= self._due:
            self._due = self._clock.now() + PROGRESS_FILE_SECONDS
            self._tree.write_progress(event)


def _teller(listeners: Sequence[Listener]) -> Listener:
    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and its parents; returns the new ones, outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder {folder}: {error.strerror}; choose another one with --output"
        ) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write to {folder}; choose another folder with --output")
    return missing[::-1]


def _unmake(made: list[Path]) -> None:
    if made:
        shutil.rmtree(made[0], ignore_errors=True)


def _forget(home: Path) -> None:
    """--fresh: remove what an earlier mirror made, and only if it is one."""
    if not home.exists():
        return
    if not (home / STATE_FOLDER / "format.json").is_file() or home.is_symlink():
        raise UsageError(f"{home} was not made by sumi mirror; choose another folder, or remove it yourself")
    shutil.rmtree(home)


def _run_loop(main: Coroutine[Any, Any, T]) -> T:
    try:
        import uvloop
    except ImportError:  # not on every platform
        return asyncio.run(main)
    return uvloop.run(main)

"""The composition root: the only module that knows which parts make a whole, and names a backend."""

import asyncio
import os
import random
import shutil
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sumi.engine.clock import SystemClock
from sumi.engine.control import Control, stop_on_signals
from sumi.engine.io import Io
from sumi.engine.offload import InProcessDigester, WorkerPool
from sumi.engine.run import Crawl
from sumi.engine.summary import summarize
from sumi.errors import SumiError, UsageError
from sumi.events import Event, Listener, Progress, Recovered, RunStarted, Summary
from sumi.fetch.first_contact import FirstContact
from sumi.fetch.http import HttpFetcher
from sumi.frontier.retry import TRANSIENT
from sumi.jobs.mirror import MirrorJob, mirror_job
from sumi.outputs.markdown_tree import MarkdownTree
from sumi.ports import Clock, Digester, Fetcher
from sumi.settings import MirrorSettings
from sumi.store.files import FilesStore

STATE_FOLDER = ".sumi"
PROGRESS_FILE_SECONDS = 2.0

T = TypeVar("T")


def run_mirror(
    settings: MirrorSettings, listeners: Sequence[Listener], control: Control | None = None
) -> Summary:
    """Run a mirror to its end. Blocking; raises SumiError for what the user should hear about."""
    return _run_loop(mirror(settings, listeners, control or Control()))


async def mirror(settings: MirrorSettings, listeners: Sequence[Listener], control: Control) -> Summary:
    """The same within a running event loop."""
    job = mirror_job(settings)
    home = Path(settings.output) / job.home
    if settings.fresh:
        _forget(home)
    made = _make_folders(home / STATE_FOLDER)
    try:
        async with _opened_mirror(settings, job, home, listeners) as parts:
            return await _Mirroring(settings, job, *parts, control).run()
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
        store: FilesStore,
        tree: MarkdownTree,
        control: Control,
    ) -> None:
        self._settings = settings
        self._job = job
        self._io = io
        self._store = store
        self._tree = tree
        self._control = control
        self._started = io.clock.now()

    async def run(self) -> Summary:
        settings, store = self._settings, self._store
        await self._tree.rebuild_projections(store)
        await self._recover()
        pending = (await store.stats()).pending
        self._io.tell(
            RunStarted("mirror", settings.url, settings.output, store.resumed, pending, self._job.notes)
        )
        crawl = Crawl(self._job.recipe, self._io, self._control, settings.durability)
        try:
            with stop_on_signals(self._control):
                await crawl.run()
        except UsageError:
            raise
        except SumiError:
            self._io.tell(await self._summary(aborted=True))
            raise
        await self._tree.finish(store, await store.stats())
        await store.sync(self._tree.sync)
        summary = await self._summary()
        self._io.tell(summary)
        return summary

    async def _recover(self) -> None:
        """After a power cut, pages settled last may lack their files; passing failures get another chance."""
        root = Path(self._settings.output)
        lost = [url for url in self._store.unsynced if not await self._is_whole(url, root)]
        requeued = await self._store.requeue(lost, self._started)
        if self._store.torn_bytes or requeued:
            self._io.tell(Recovered(0, self._store.torn_bytes, requeued))
        failed = [record.url async for record in self._store.records(TRANSIENT)]
        await self._store.requeue(failed, self._started)

    async def _is_whole(self, url: str, root: Path) -> bool:
        record = await self._store.record(url)
        if record is None or record.facts.path is None:
            return True
        try:
            return os.stat(root / record.facts.path, follow_symlinks=False).st_size == record.facts.size
        except OSError:
            return False

    async def _summary(self, *, aborted: bool = False) -> Summary:
        return summarize(
            self._job.recipe,
            await self._store.stats(),
            self._settings.output,
            self._io.clock.now() - self._started,
            stopped=self._control.was_stopped,
            aborted=aborted,
            notes=self._job.notes,
        )


@asynccontextmanager
async def _opened_mirror(
    settings: MirrorSettings, job: MirrorJob, home: Path, listeners: Sequence[Listener]
) -> AsyncIterator[tuple[Io, FilesStore, MarkdownTree]]:
    clock = SystemClock()
    store = FilesStore(home / STATE_FOLDER, job.frontier, clock.now(), settings.durability)
    tree = MarkdownTree(home.parent, job.home, settings.url, clock)
    fetcher: Fetcher = HttpFetcher(job.limits, job.network, clock)
    if not store.resumed:
        fetcher = FirstContact(fetcher)
    digester = _digester(settings.processes)
    tell = _teller([*listeners, _ProgressFile(tree, clock)])
    try:
        yield Io(store, store, fetcher, digester, tree, clock, tell, random.random), store, tree
    finally:
        await fetcher.aclose()
        await digester.aclose()
        tree.close()
        await store.aclose()


def _digester(processes: int | None) -> Digester:
    # The main process keeps one core busy by itself; the others digest.
    count = max(1, (os.cpu_count() or 1) - 1) if processes is None else processes
    return WorkerPool(count) if count else InProcessDigester()


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

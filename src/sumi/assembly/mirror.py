"""A mirror, put together: its folder, its store, its tree of Markdown."""

import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from sumi.assembly.job_run import JobRun, Setting
from sumi.assembly.parts import (
    STATE_FOLDER,
    Store,
    affordable,
    connected,
    make_folders,
    open_store,
    run_loop,
    unmake,
)
from sumi.engine.clock import SystemClock
from sumi.engine.control import Control, obeying_signals
from sumi.engine.descriptors import raise_limit
from sumi.engine.disk_watch import refuse_without_room
from sumi.engine.io import Io
from sumi.errors import UsageError
from sumi.events import Event, Listener, Progress, Summary
from sumi.jobs.mirror import mirror_home, mirror_job
from sumi.jobs.mirror_note import remember_settings
from sumi.outputs.markdown_tree import MarkdownTree
from sumi.ports import Clock
from sumi.recipe import Job
from sumi.settings import MirrorSettings

PROGRESS_FILE_SECONDS = 2.0


def run_mirror(
    settings: MirrorSettings,
    listeners: Sequence[Listener],
    control: Control | None = None,
    read_settings: Callable[[], MirrorSettings] | None = None,
) -> Summary:
    """Run a mirror to its end. Blocking; raises SumiError for what the user should hear about.

    ``read_settings`` is called when the run is asked to reload; the limits it returns are taken over.
    """
    return run_loop(mirror(settings, listeners, control or Control(), read_settings))


async def mirror(
    settings: MirrorSettings,
    listeners: Sequence[Listener],
    control: Control,
    read_settings: Callable[[], MirrorSettings] | None = None,
) -> Summary:
    """The same within a running event loop."""
    raise_limit()
    job = _job_for(settings)
    home = Path(settings.output) / mirror_home(settings)
    if settings.fresh:
        _forget(home)
    made = make_folders(home / STATE_FOLDER)
    try:
        refuse_without_room(home, settings.min_free)
        async with _opened(settings, job, home, listeners) as (io, store, tree):
            setting = Setting(settings.url, settings.output, home, settings.min_free, settings.durability)

            async def read_job() -> Job:
                changed = read_settings() if read_settings is not None else settings
                # Only limits are taken over: what else the file says now is for the next start.
                kept = msgspec.structs.replace(settings, max_pages=changed.max_pages)
                await remember_settings(store, kept)
                return _job_for(changed)

            await remember_settings(store, settings)
            with obeying_signals(control):
                return await JobRun(job, setting, io, store, tree, control, read_job).run()
    except UsageError:
        unmake(made)
        raise


def _job_for(settings: MirrorSettings) -> Job:
    return affordable(mirror_job(settings), settings.processes)


@asynccontextmanager
async def _opened(
    settings: MirrorSettings, job: Job, home: Path, listeners: Sequence[Listener]
) -> AsyncIterator[tuple[Io, Store, MarkdownTree]]:
    clock = SystemClock()
    store = open_store(settings.state, home / STATE_FOLDER, job.frontier, clock.now(), settings.durability)
    tree = MarkdownTree(home.parent, home.name, settings.url, clock)
    heard: list[Listener] = [*listeners, _ProgressFile(tree, clock)]
    try:
        async with connected(job, store, tree, clock, heard, settings.processes) as io:
            yield io, store, tree
    finally:
        tree.close()
        await store.aclose()


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


def _forget(home: Path) -> None:
    """--fresh: remove what an earlier mirror made, and only if it is one."""
    if not home.exists():
        return
    if not (home / STATE_FOLDER / "format.json").is_file() or home.is_symlink():
        raise UsageError(f"{home} was not made by sumi mirror; choose another folder, or remove it yourself")
    shutil.rmtree(home)

"""A run of a mirror: its folder, its store, its tree of Markdown."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

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
from sumi.engine.control import Control, obeying_signals
from sumi.engine.disk_watch import disk_space_notes, require_disk_space
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Place, Run, announce_if_long
from sumi.errors import UsageError
from sumi.events import Event, Listener, Progress, Summary, Warned
from sumi.files.contents_place import CONTENTS_FILE, agreed_contents, contents_of, keep_contents
from sumi.files.disk_errors import explained
from sumi.files.objects import Objects
from sumi.files.segments import SegmentWriter
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.recorder import HistoryRecorder
from sumi.jobs.mirror.assets import EarlierAssets, forget_assets, retry_skipped
from sumi.jobs.mirror.contents import write_overview
from sumi.jobs.mirror.file_names import misnamed, remove_old_names, remove_strays, rename_pages
from sumi.jobs.mirror.git_tree import GIT, GitTree
from sumi.jobs.mirror.layout import settle_layout
from sumi.jobs.mirror.local_links import link_pages
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.recipe import mirror_home, mirror_job
from sumi.jobs.mirror.segment_pages import SegmentPages
from sumi.jobs.mirror.settings import (
    MirrorSettings,
    SiteOfList,
    given_settings,
    load_saved_settings,
    save_settings,
)
from sumi.jobs.mirror.sharing import shared_mirror
from sumi.jobs.mirror.site_pass import settle_furniture
from sumi.jobs.mirror.update import UNFINISHED, begin_update, due_for_update, end_update, ends_update
from sumi.model import Candidate
from sumi.outcomes import Outcome
from sumi.policy import Preset, StateBackend, is_database
from sumi.ports import Clock, JobStore
from sumi.recipe import Job
from sumi.scope import Scope
from sumi.state.folder import FORMAT_NAME, holds_state, sync_folder
from sumi.state.lock import LOCK_NAME, Claim, FolderLock, remove_all_but
from sumi.urls import PRESETS

PROGRESS_FILE_SECONDS = 2.0
# Measured on 3,500 pages of eight manuals: the folder of a page, its Markdown in whole blocks and its record
# take 26 KB, the packed body 7 KB.
BYTES_PER_PAGE = 28 * 1024
RAW_BYTES_PER_PAGE = 8 * 1024
Output: TypeAlias = MarkdownTree | SegmentPages
# --fresh creates this file next to the state before it removes anything: after a kill, the next run completes
# the removal instead of resuming what is left.
_EMPTYING = "emptying"


async def mirror(
    url: str | MirrorSettings,
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    read_settings: Callable[[], MirrorSettings] | None = None,
    **settings: object,
) -> Summary:
    """``sumi mirror``: a site as a tree of Markdown files.

    ``settings`` are those of the command, with ``_`` for ``-``. ``read_settings`` is called when the run is
    asked to reload, which applies the limits it returns.
    """
    raise_limit()
    chosen = given_settings(url, settings)
    job, control = _job_for(chosen), control or Control()
    async with operated(chosen, job, (*listeners, *session_watch(job.network, control))) as heard:
        return await _mirror(chosen, job, heard, control, read_settings)


async def join_mirror(
    settings: MirrorSettings, listeners: Sequence[Listener], control: Control | None = None
) -> Summary:
    """``sumi worker``: help with a mirror that is in a database already."""
    raise_limit()
    job = _job_for(settings)
    recipe = msgspec.structs.replace(job.recipe, retry_earlier=False)  # that is for whoever starts it
    job = msgspec.structs.replace(job, recipe=recipe)
    async with operated(settings, job, listeners) as heard:
        return await _mirror(settings, job, heard, control or Control(), None, joins=True)


async def _mirror(
    settings: MirrorSettings,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    read_settings: Callable[[], MirrorSettings] | None,
    *,
    joins: bool = False,
) -> Summary:
    home = Path(settings.output) / mirror_home(settings)
    if settings.fresh:
        _refuse_to_empty(home)
    repository = _repository(settings, home)
    with Claim(home / STATE_FOLDER, "sumi mirror", home=home) as claim:
        if settings.fresh or _was_being_emptied(home):
            _empty(home)
        require_disk_space(home, settings.min_free)
        job = _with_disk_notes(job, settings, home)
        store, address = await _open(settings, job, home, listeners, claim.lock, control, joins=joins)
        async with _opened(settings, job, home, listeners, store, address) as (io, tree):
            summary = await _run(settings, job, home, io, store, tree, control, read_settings)
        if repository is not None and summary.status not in UNFINISHED:  # the run that goes on commits
            await asyncio.to_thread(repository.commit, teller(listeners))
    if address is None:
        write_overview(home.parent)
    if settings.index and not is_database(settings.state):
        await keep_current(home / STATE_FOLDER, teller(listeners))
    return summary


async def _run(
    settings: MirrorSettings,
    job: Job,
    home: Path,
    io: Io,
    store: JobStore,
    tree: Output,
    control: Control,
    read_settings: Callable[[], MirrorSettings] | None,
) -> Summary:
    linked = await _prepare(settings, io, store, tree)

    async def read_job() -> Job:
        changed = read_settings() if read_settings is not None else settings
        # A reload applies only limits; other changes are for the next start.
        await save_settings(store, msgspec.structs.replace(settings, max_pages=changed.max_pages))
        return _job_for(changed)

    async def complete() -> None:
        await _complete(settings, store, tree, linked=linked)

    place = Place(
        settings.url,
        settings.output,
        home,
        settings.min_free,
        settings.durability,
        max_time=settings.max_time,
        tolerance=settings.tolerance,
        traces=f"{STATE_FOLDER}/",
    )
    with obeying_signals(control):
        summary = await Run(job, place, io, store, tree, control, read_job, complete).run()
    if ends_update(summary, shared=is_database(settings.state)):
        # Last: after a kill before this line, the update resumes and has nothing left to request.
        await end_update(store, io.clock.now())
    return summary


async def _prepare(settings: MirrorSettings, io: Io, store: JobStore, tree: Output) -> bool:
    """Requeue what changed settings and ``--update`` ask for. Returns whether links are, or were, rewritten
    to files."""
    now = io.clock.now()
    await settle_layout(store, settings.layout)
    before = await load_saved_settings(store)
    await retry_skipped(store, store, before, settings, now)
    if before is not None and before.url != settings.url:
        _warn_of_another_part(before.url, settings, io)
    await save_settings(store, settings)
    unread = [record.url async for record in store.records({Outcome.OVER_CAP})]
    await store.requeue(unread, now)  # sitemaps that were not read while enough pages were pending
    if not settings.assets:
        await forget_assets(store)
    if settings.update and store.resumed:
        await announce_if_long("checking the files of", store, io)
        with due_for_update(settings, now) as is_due:
            await begin_update(store, store, now, tree.has, is_due)
    return any(each.rewrite_links or each.assets for each in (before, settings) if each is not None)


def _warn_of_another_part(before: str, settings: MirrorSettings, io: Io) -> None:
    refusal = mirror_job(settings).recipe.scope.judge(Candidate(before))
    if refusal is not None and refusal.outcome is Outcome.OUT_OF_SCOPE:
        words = "its pages stay, but are not updated; give one URL that covers both, or another --output"
        io.tell(Warned(f"this folder is a mirror of {before}, which {settings.url} does not cover: {words}"))


async def _complete(settings: MirrorSettings, store: JobStore, tree: Output, *, linked: bool) -> None:
    """Final file names and local links, once all pages are stored."""
    if isinstance(tree, SegmentPages):  # it has neither
        drop = not settings.keep_furniture
        await settle_furniture(store, store, tree, drop=drop, team=team_of(store))
        return

    async def link(*, to_pages: bool) -> None:
        await link_pages(store, store, tree, to_pages=to_pages, to_assets=settings.assets)

    await remove_old_names(store, tree)
    moves = await misnamed(store, tree.layout) if tree.had_name_conflicts else []
    if moves:
        if linked:  # before renaming, while local links can still be resolved
            await link(to_pages=False)
        await rename_pages(moves, store, store, tree)
    if tree.had_name_conflicts:
        await remove_strays(store, tree)
    await settle_furniture(store, store, tree, drop=not settings.keep_furniture)
    if linked:  # also if only an earlier run rewrote links
        await link(to_pages=settings.rewrite_links)


def _repository(settings: MirrorSettings, home: Path) -> GitTree | None:
    """Refused before anything is fetched, where it could not be committed later."""
    if not settings.git:
        return None
    if is_database(settings.state):
        raise UsageError("--git is for a mirror on one machine: leave out --git, or the database of --state")
    repository = GitTree(home, home.name)
    repository.prepare()
    return repository


def _with_disk_notes(job: Job, settings: MirrorSettings, home: Path) -> Job:
    per_page = BYTES_PER_PAGE + (RAW_BYTES_PER_PAGE if settings.raw else 0)
    notes = disk_space_notes(home, settings.max_pages, per_page, settings.min_free)
    return msgspec.structs.replace(job, notes=(*job.notes, *notes))


def _job_for(settings: MirrorSettings) -> Job:
    return affordable(replayed(mirror_job(settings), settings.replay), settings.processes)


async def _open(
    settings: MirrorSettings,
    job: Job,
    home: Path,
    listeners: Sequence[Listener],
    lock: FolderLock,
    control: Control,
    *,
    joins: bool,
) -> tuple[JobStore, str | None]:
    """And the address of the contents, if they are not kept in files."""
    clock, state, tell = SystemClock(), home / STATE_FOLDER, teller(listeners)
    if settings.store is not None and settings.rewrite_links:
        raise UsageError("--rewrite-links is for files and --store keeps none: leave one of them out")
    if not is_database(settings.state):
        if settings.seen_memory is not None:
            raise UsageError("--seen-memory is for a job in a database: give its address by --state")
        address = await _contents(settings, state, home.name)
        backend = None if settings.state is None else StateBackend(settings.state)
        store = open_store(backend, state, job.frontier, clock.now(), settings.durability, tell, lock)
        return store, address
    refuse_state_in(state)
    if settings.store is not None:
        await asyncio.to_thread(Objects(settings.store).check)
    from sumi.assembly.many_machines import join

    return await join(shared_mirror(settings, joins=joins), job, clock, tell, control)


async def _contents(settings: MirrorSettings, state: Path, name: str) -> str | None:
    """Nothing is noted before the store has answered: another attempt may name another one."""
    known = contents_of(state)
    address = agreed_contents(known, settings.store, name, is_new=not holds_state(state))
    if address is not None:
        await asyncio.to_thread(Objects(address).check)
        if known is None:
            keep_contents(state, address)
    return address


@asynccontextmanager
async def _opened(
    settings: MirrorSettings,
    job: Job,
    home: Path,
    listeners: Sequence[Listener],
    store: JobStore,
    address: str | None,
) -> AsyncIterator[tuple[Io, Output]]:
    """``address``: of the contents, if they are not kept in files."""
    clock = SystemClock()
    tree = _output(settings, home, clock, teller(listeners), address)
    heard: list[Listener] = [*listeners, _ProgressFile(tree, clock)]
    try:
        # A new mirror or an update fails at once if the server cannot be reached; a resumed run does not.
        must_reach = settings.update or not store.resumed
        processes, warc = settings.processes, settings.warc
        async with connected(
            job, store, tree, clock, heard, processes, must_reach=must_reach, warc=warc, team=team_of(store)
        ) as io:
            if isinstance(tree, SegmentPages):
                io = replace(io, segments=tree.segments)  # noqa: PLW2901 - the same with segments
            if settings.assets:
                io = replace(io, assets=tree, source=EarlierAssets(store, store, tree.read_page))  # noqa: PLW2901 - the same with assets
            if settings.replay_unlinked:
                source = MorePages(archived_pages(io.fetcher, Preset.MIRROR), io.source, store)
                io = replace(io, source=source)  # noqa: PLW2901 - the same with more pages
            if settings.urls_from:
                source = MorePages(_pages_of_lists(settings, job), io.source, store)
                io = replace(io, source=source)  # noqa: PLW2901
            yield io, tree
    finally:
        await _close(tree)
        await store.aclose()


def _pages_of_lists(settings: MirrorSettings, job: Job) -> Iterator[Candidate]:
    pages = listed_pages(settings.urls_from, settings.urls_column, PRESETS[Preset.MIRROR])
    if not isinstance(settings, SiteOfList):
        return pages
    ours = Scope(hosts=job.recipe.scope.hosts)
    return (page for page in pages if ours.judge(page) is None)


def _output(
    settings: MirrorSettings, home: Path, clock: Clock, tell: Listener, address: str | None
) -> Output:
    if address is not None:
        objects = Objects(address)
        return SegmentPages(objects, SegmentWriter(objects, tell), settings.max_assets_total)
    history = HistoryRecorder(home / STATE_FOLDER / HISTORY, clock.now) if settings.history else None
    return MarkdownTree(home.parent, home.name, settings.url, clock, settings.max_assets_total, history)


async def _close(tree: Output) -> None:
    if isinstance(tree, SegmentPages):
        await tree.segments.aclose()
    else:
        tree.close()


class _ProgressFile:
    """Updates ``_progress.json`` while a mirror runs."""

    def __init__(self, tree: Output, clock: Clock) -> None:
        self._tree = tree
        self._clock = clock
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and self._clock.now() >= self._due:
            self._due = self._clock.now() + PROGRESS_FILE_SECONDS
            self._tree.write_progress(event)


def _refuse_to_empty(home: Path) -> None:
    """Refuse a folder that is neither empty nor a mirror."""
    state = home / STATE_FOLDER
    is_ours = any((state / name).is_file() for name in (FORMAT_NAME, LOCK_NAME))
    if home.is_symlink() or (home.exists() and not is_ours and _has_something(home)):
        raise UsageError(f"{home} was not made by sumi mirror; choose another folder, or remove it yourself")


def _was_being_emptied(home: Path) -> bool:
    return (home / STATE_FOLDER / _EMPTYING).exists()


def _empty(home: Path) -> None:
    """``--fresh``: remove what an earlier mirror wrote, except the history of its pages, its repository, and
    the lock, which must be held."""
    state = home / STATE_FOLDER
    mark = state / _EMPTYING
    with explained(mark):
        mark.touch(mode=0o644)
    sync_folder(state)
    remove_all_but([state / LOCK_NAME, mark, state / HISTORY, state / CONTENTS_FILE, home / GIT], home)
    with explained(mark):
        mark.unlink()


def _has_something(home: Path) -> bool:
    return not home.is_dir() or any(path != home / STATE_FOLDER for path in home.iterdir())

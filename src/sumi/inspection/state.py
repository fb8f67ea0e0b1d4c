"""Checks that a job's stored state and its files agree, repairs them, and copies state to another backend.

A repair deletes nothing: damaged state and stray files are moved aside.
"""

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sumi.catalogue.role import load_role
from sumi.console.open_job import only_job, refuse_captures, stored_jobs
from sumi.engine.io import SystemClock
from sumi.engine.revisit import facts_of_lost_file
from sumi.errors import OutputRefused, StateDamaged, StateLocked, UsageError
from sumi.events import Listener
from sumi.files.contents_place import contents_of
from sumi.inspection.contents import Garbage, collect_garbage, stored_content_findings
from sumi.jobs.mirror.check import mirror_findings
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.jobs.pipeline.archive import archive_findings
from sumi.jobs.pipeline.page_index import is_page_index, migrate_index
from sumi.jobs.pipeline.workspace import MARKER
from sumi.ports import Store
from sumi.state.check import Finding
from sumi.state.folder import LOOKING, backend_named, backend_of, open_snapshot
from sumi.state.journal.salvage import damages, salvage
from sumi.state.lock import LOCK_NAME, FolderLock, lock_holder, lock_text
from sumi.state.migrate import COMMAND, migrate

QUARANTINE = "_quarantine"
Place: TypeAlias = str | PathLike[str]
Tell: TypeAlias = Callable[[str], None]
OnFinding: TypeAlias = Callable[[Path, Finding], None]


class CheckedJob(NamedTuple):
    """``findings``: what is wrong; after a repair, what is still wrong."""

    folder: Path
    findings: list[Finding]


async def check_state(folder: Place = "output", *, deep: bool = False) -> list[CheckedJob]:
    """``sumi state check``: whether the state of every job in, or below, a folder agrees with its files.

    ``deep`` also reads every page and compares its content with its hash. Raises StateLocked if a job runs.
    """
    return [job async for job in checks(folder, deep=deep, repair=False)]


async def repair_state(
    folder: Place = "output", *, deep: bool = False, tell: Tell = lambda words: None
) -> list[CheckedJob]:
    """``sumi state check --repair``: queues pages with bad files again, moves strays and damage aside, and
    rewrites derived files. ``tell`` gets a line for each. The job's next run fetches what is queued."""
    return [job async for job in checks(folder, deep=deep, repair=True, tell=tell)]


async def checks(
    folder: Place,
    *,
    deep: bool,
    repair: bool,
    tell: Tell = lambda words: None,
    on_finding: OnFinding = lambda job, finding: None,
) -> AsyncIterator[CheckedJob]:
    """Job by job, so that an error in one does not lose the results of those before."""
    for state in _checkable(folder):
        with _held(state, repair=repair) as lock:
            findings = await _told(state, on_finding, deep=deep)
            if findings and lock is not None:
                await _repair(state, findings, tell, lock)
                findings = await _told(state, on_finding, deep=deep)
        yield CheckedJob(state.parent, findings)


class Migrated(NamedTuple):
    source: Path
    number: int
    what: str  # URLs, or pages of an index


async def migrate_state(source: Place, target: Place, to: str = "files") -> Migrated:
    """``sumi state migrate``: a job's state, or the page index of a crawl, copied to another backend."""
    given, new = Path(source), _not_there(target)
    if is_page_index(given):
        with _writers_kept_out(given):
            return Migrated(given, migrate_index(given, new, to), "pages")
    state = only_job(os.fspath(source))
    return Migrated(state, await migrate(state, new, to, time.time()), "URLs")


def _not_there(target: Place) -> Path:
    if Path(target).exists():
        raise UsageError(f"{target} exists already; give a folder that does not")
    return Path(target)


async def migrate_up(
    source: Place, database: str, name: str | None, store: str | None, tell: Listener = lambda event: None
) -> int:
    """``sumi state migrate FOLDER postgresql://…``: returns the number of URLs. After a kill the source is
    what it was, and the target complete or not there."""
    from sumi.inspection.outgrown import move_up

    return await move_up(only_job(os.fspath(source)), database, name, store, tell)


async def migrate_down(
    database: str, target: Place, name: str | None, to: str = "files", tell: Listener = lambda event: None
) -> int:
    """The same in the other direction, to a new output folder with files."""
    from sumi.inspection.outgrown import move_down

    return await move_down(database, name, _not_there(target), to, tell)


async def collect(place: Place, *, dry_run: bool = False) -> Garbage:
    """``sumi state gc``: removes segments of a job's store that no page needs any more, once they are a day
    old. Raises StateLocked while the job runs."""
    state = only_job(os.fspath(place))
    address = contents_of(state)
    if address is None:
        raise UsageError(f"{place} keeps its contents in files, so there are no segments to remove")
    lock = FolderLock(state, command="sumi state gc")
    try:
        store = open_snapshot(state, time.time())
        try:
            return await collect_garbage(store, address, dry_run=dry_run)
        finally:
            await store.aclose()
    finally:
        lock.release()


# ── check ──────────────────────────────────────────────────────────────────────────────────────────────────


def _checkable(folder: Place) -> list[Path]:
    states = refuse_captures(stored_jobs(os.fspath(folder)))
    for state in states:
        if state.is_file():
            raise UsageError(
                f"{state} is a map, which has no files beside its database to compare with; a run of it "
                f"checks the database when it opens it, and sumi status {state} says how it stands"
            )
    return states


async def _told(state: Path, on_finding: OnFinding, *, deep: bool) -> list[Finding]:
    findings = await _findings(state, deep=deep)
    for finding in findings:
        on_finding(state.parent, finding)
    return findings


@contextmanager
def _held(state: Path, *, repair: bool) -> Iterator[FolderLock | None]:
    """A repair holds the lock from the beginning, so that no run changes what it repairs. A check takes no
    lock, and fails if a run that started meanwhile invalidated its findings."""
    if repair:
        lock = FolderLock(state, command="sumi state check")
        try:
            yield lock
        finally:
            lock.release()
        return
    before = lock_text(state)
    holder = lock_holder(state)
    if holder is None:
        yield None
        holder = lock_holder(state)
    if holder is not None or lock_text(state) != before:
        who = holder or "another command meanwhile"
        raise StateLocked(f"{state} is in use by {who}: wait for it, or stop it, then check again")


async def _findings(state: Path, *, deep: bool) -> list[Finding]:
    if backend_of(state) == "files":
        found = [Finding(f"{line}: a damaged record", damaged=True) for line in damages(state)]
        if found:
            return found  # the rest can be checked only after this is repaired
    try:
        store = open_snapshot(state, time.time())
    except StateDamaged as error:
        return [Finding(str(error), damaged=True)]
    try:
        role = await load_role(store, state)
        address = contents_of(state)
        if address is not None:
            return [one async for one in stored_content_findings(store, address, deep=deep)]
        if role is not None:
            return [finding async for finding in archive_findings(role, store, deep=deep)]
        return [finding async for finding in mirror_findings(state.parent, store, deep=deep)]
    finally:
        await store.aclose()


# ── repair ─────────────────────────────────────────────────────────────────────────────────────────────────


async def _repair(state: Path, findings: list[Finding], tell: Tell, lock: FolderLock) -> None:
    if any(finding.damaged for finding in findings):
        tell(f"damaged state kept in {_save_state(state)}")
        findings = await _findings(state, deep=True)
    await _repair_findings(state, findings, tell, lock)


def _save_state(state: Path) -> Path:
    """Replace damaged state with what is intact of it; returns where the damaged one is kept. The caller
    holds the lock."""
    if backend_of(state) != "files":
        raise StateDamaged(f"{state} is damaged beyond repair: restore it from a copy")
    return salvage(state)


async def _repair_findings(state: Path, findings: Sequence[Finding], tell: Tell, lock: FolderLock) -> None:
    """Pages whose files are missing or wrong are queued again, strays go into quarantine, and derived files
    are rewritten. The next run of the job fetches what is queued."""
    clock = SystemClock()
    home = state.parent
    store = backend_named(backend_of(state))(state, LOOKING, clock.now(), lock=lock)
    try:
        for finding in findings:
            if finding.requeue is not None and await _make_again(store, finding.requeue, clock.now()):
                tell(f"queued again: {finding.words}")
            if finding.stray is not None:
                tell(f"moved to {_quarantine(home, finding.stray)}: {finding.stray}")
        if (
            contents_of(state) is None and await load_role(store, state) is None
        ):  # a crawl's files are completed by its next run
            await _rebuild(home, store, clock)
            tell("rewritten: the derived files")
    finally:
        await store.aclose()


async def _make_again(store: Store, url: str, now: float) -> bool:
    record = await store.record(url)
    if record is not None:
        await store.amend({url: facts_of_lost_file(record.facts)})
    return bool(await store.requeue([url], now))


def _quarantine(home: Path, stray: str) -> Path:
    folder = home / QUARANTINE
    if folder.is_symlink():
        raise OutputRefused(f"{folder} is a link: remove it, then repair again")
    wanted = folder / stray
    place = next(
        candidate
        for number in count()
        if not (candidate := wanted.with_name(f"{wanted.name}.{number}") if number else wanted).exists()
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    os.rename(home.parent / stray, place)
    return place.relative_to(home.parent)


async def _rebuild(home: Path, store: Store, clock: SystemClock) -> None:
    settings = await load_saved_settings(store)
    source = settings.url if settings is not None else await _seed(store)
    tree = MarkdownTree(home.parent, home.name, source, clock)
    try:
        await tree.finish(store, await store.stats())
        await store.sync(tree.sync)
    finally:
        tree.close()


async def _seed(store: Store) -> str:
    async for record in store.records():
        return record.url
    return ""


# ── migrate ────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _writers_kept_out(index: Path) -> Iterator[None]:
    """Locks the crawler and the scraper of the index's workspace, which would add pages meanwhile."""
    workspace = next((above for above in index.resolve().parents if (above / MARKER).is_file()), None)
    with ExitStack() as held:
        for lock in sorted(workspace.glob(f"*/**/{LOCK_NAME}")) if workspace is not None else ():
            held.callback(FolderLock(lock.parent, command=COMMAND).release)
        yield

"""Putting right what a check found. Nothing is thrown away: damaged state and stray files are moved aside."""

import os
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from sumi.engine.io import SystemClock
from sumi.engine.revisit import to_be_made_again
from sumi.errors import OutputRefused, StateDamaged
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.saved_settings import load_saved_settings
from sumi.jobs.pipeline.state import load_role
from sumi.state.check import Finding
from sumi.state.folder import LOOKING, backend_named, backend_of
from sumi.state.journal.salvage import salvage
from sumi.state.lock import FolderLock
from sumi.state.memory import MemoryStore

QUARANTINE = "_quarantine"


def save_state(state: Path) -> Path:
    """Replace damaged state by what is good of it; returns where the damaged one is kept. Call it with the
    lock held."""
    if backend_of(state) != "files":
        raise StateDamaged(f"{state} is damaged beyond what can be mended here: restore it from a copy")
    return salvage(state)


async def repair(
    state: Path, findings: Sequence[Finding], tell: Callable[[str], None], lock: FolderLock
) -> None:
    """Pages whose files are missing or wrong go back to the queue, strays into quarantine, and everything
    derived is written again. The next run of the job fetches what is queued."""
    clock = SystemClock()
    home = state.parent
    store = backend_named(backend_of(state))(state, LOOKING, clock.now(), lock=lock)
    try:
        for finding in findings:
            if finding.requeue is not None and await _make_again(store, finding.requeue, clock.now()):
                tell(f"queued again: {finding.words}")
            if finding.stray is not None:
                tell(f"moved to {_quarantine(home, finding.stray)}: {finding.stray}")
        if await load_role(store, state) is None:  # what a crawl's files lack, its next run adds
            await _rebuild(home, store, clock)
            tell("written again: what is derived from the records")
    finally:
        await store.aclose()


async def _make_again(store: MemoryStore, url: str, now: float) -> bool:
    record = await store.record(url)
    if record is not None:
        await store.amend({url: to_be_made_again(record.facts)})
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


async def _rebuild(home: Path, store: MemoryStore, clock: SystemClock) -> None:
    settings = await load_saved_settings(store)
    source = settings.url if settings is not None else await _seed(store)
    tree = MarkdownTree(home.parent, home.name, source, clock)
    try:
        await tree.finish(store, await store.stats())
        await store.sync(tree.sync)
    finally:
        tree.close()


async def _seed(store: MemoryStore) -> str:
    async for record in store.records():
        return record.url
    return ""

"""Finds the stored job that a user means by a folder."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sumi.console.terminal import printable
from sumi.errors import UsageError
from sumi.ports import Snapshot


def stored_jobs(place: str) -> list[Path]:
    """The states in or just below what the user typed; at least one. A map only if it was typed itself."""
    from sumi.catalogue.find import JobKind, find_jobs

    found = find_jobs(place, depth=1)
    stores = {job.root for job in found if job.kind is JobKind.CAPTURE and Path(place) in _above(job.root)}
    states = [
        job.state
        for job in found
        if job.root not in stores and (job.kind is not JobKind.MAP or job.state == Path(place))
    ]
    if stores and not states:
        store = min(stores)
        raise UsageError(f"{place} holds captures; see sumi capture list --captures {store}")
    if not states:
        raise UsageError(f"{place} holds no job of Sumi; give the --output folder of one")
    return states


def _above(store: Path) -> tuple[Path, ...]:
    return (store, *store.parents)


def refuse_captures(states: list[Path]) -> list[Path]:
    """The same states; UsageError if one belongs to a capture, which has commands of its own."""
    from sumi.catalogue.find import JobKind, find_jobs

    for state in states:
        for job in find_jobs(state, depth=0):
            if job.kind is JobKind.CAPTURE:
                raise UsageError(
                    f"{_as_typed(state)} is a job of sumi capture: see sumi capture show {job.name} "
                    f"--captures {printable(str(job.root))}, and sumi capture export for its pages"
                )
    return states


def only_job(place: str) -> Path:
    found = stored_jobs(place)
    if len(found) > 1:
        names = ", ".join(str(_as_typed(folder)) for folder in found)
        raise UsageError(f"{place} holds several jobs; give one of {names}")
    return found[0]


def _as_typed(state: Path) -> Path:
    """How users name a job: a mirror by its home folder, a job of a workspace by its state folder."""
    from sumi.state.folder import STATE_FOLDER

    return state.parent if state.name == STATE_FOLDER else state


@asynccontextmanager
async def looking_at(state: Path) -> AsyncIterator[Snapshot]:
    from sumi.state.folder import open_snapshot

    store = open_snapshot(state, time.time())
    try:
        yield store
    finally:
        await store.aclose()

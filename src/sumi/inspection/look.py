"""A stored job of any kind, opened to be looked at: without the lock, changing nothing."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sumi.ports import Snapshot


def open_state(state: Path, now: float) -> Snapshot:
    from sumi.state.folder import LOOKING, open_snapshot

    if state.is_file():  # the database of a map, which stands for itself
        from sumi.jobs.map.store.store import MapView

        return MapView(state, LOOKING, now)
    return open_snapshot(state, now)


@asynccontextmanager
async def looking_at(state: Path) -> AsyncIterator[Snapshot]:
    store = open_state(state, time.time())
    try:
        yield store
    finally:
        await store.aclose()

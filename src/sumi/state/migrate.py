"""Copies a state to another backend, completely or not at all: everything in it, in batches and in order.

The copy is made in a folder beside its destination and renamed when it is complete and durable. If it is
killed, the source is unchanged and the destination does not exist yet.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from sumi.errors import StateError, UsageError
from sumi.files.disk_errors import explained
from sumi.ports import Frontier, Ledger, Snapshot
from sumi.state.entries import Exporter, Importer, Stored
from sumi.state.folder import LOOKING, backend_named, backend_of, open_snapshot, sync_folder
from sumi.state.lock import Claim, FolderLock, remove_all_but

COMMAND = "sumi state migrate"


async def migrate(source: Path, target: Path, backend: str, now: float) -> int:
    """Returns the number of URLs copied."""
    backend_named(backend)  # refused before anything is made
    lock = FolderLock(source, command=COMMAND)
    try:
        return await _into(target, backend, source, now)
    finally:
        lock.release()


async def _into(target: Path, backend: str, source: Path, now: float) -> int:
    """The lock moves with the copy, and keeps other processes from copying to the same place."""
    unfinished = target.with_name(f".{target.name}.unfinished")
    with Claim(unfinished, COMMAND, option="TO") as claim:
        kept = [claim.lock.path]
        remove_all_but(kept, unfinished)  # what an earlier, killed attempt left
        try:
            urls = await _copy(source, unfinished, backend, now, claim.lock)
            sync_folder(unfinished)
            move_into_place(unfinished, target)
        except BaseException:
            remove_all_but(kept, unfinished)
            claim.remove_if_empty()
            raise
    return urls


def move_into_place(unfinished: Path, target: Path) -> None:
    if target.exists():
        raise UsageError(f"{target} exists by now; give a folder that does not")
    with explained(target):
        os.rename(unfinished, target)
    sync_folder(target.parent)


async def _copy(source: Path, unfinished: Path, backend: str, now: float, lock: FolderLock) -> int:
    old = backend_named(backend_of(source)).reading(source, LOOKING, now)
    try:
        new = backend_named(backend)(unfinished, LOOKING, now, lock=lock)
        try:
            urls = await copy_all(old, new)
        finally:
            await new.aclose()
        await _compare(old, unfinished, now)
        return urls
    finally:
        await old.aclose()


async def _compare(old: Snapshot, copied: Path, now: float) -> None:
    """Opens the copy again: what is correct in memory need not be so on the disk."""
    copy = open_snapshot(copied, now)
    try:
        await verify_copy(old, copy, now)
    finally:
        await copy.aclose()


BATCH = 1000


class Source(Snapshot, Exporter, Protocol):
    """A store to copy from."""


class Target(Frontier, Ledger, Importer, Protocol):
    """An empty store to fill."""


async def copy_all(source: Source, target: Target) -> int:
    """Copy and make durable; returns the number of URLs."""
    async for batch in _batches(source):
        await target.restore(batch)
        await asyncio.sleep(0)  # a run may be waiting for this, and its sockets must be served
    await target.sync(_no_outputs)
    return (await target.stats()).known


async def verify_copy(source: Snapshot, copy: Snapshot, now: float) -> None:
    """Every count must be the same, and every pending URL in a host's queue: otherwise it would never be
    fetched. Whether sitemaps listed anything decides if links are followed."""
    for words, one, other in zip(COMPARED, await _traits(source, now), await _traits(copy, now), strict=True):
        if one != other:
            raise StateError(
                f"not copied completely: the copy has {other} {words}, the source {one}; please report it"
            )


COMPARED = ("known", "pending", "captured", "listed at all", "as outcomes", "queued by host")


async def _traits(store: Snapshot, now: float) -> tuple[object, ...]:
    stats = await store.stats()
    queued = {wait.host: wait.pending for wait in await store.waiting_hosts(now)}
    return stats.known, stats.pending, stats.captured, stats.listed > 0, stats.outcomes, queued


async def _batches(source: Source) -> AsyncIterator[list[Stored]]:
    batch: list[Stored] = []
    async for item in source.export():
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _no_outputs() -> None:
    """The output files are not copied."""

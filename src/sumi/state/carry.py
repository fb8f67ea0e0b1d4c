"""From one backend to another: everything a store holds, in batches, in its own order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from sumi.errors import StateError
from sumi.ports import Exporter, Frontier, Importer, Ledger, Snapshot, Stored

BATCH = 1000


class Source(Snapshot, Exporter, Protocol):
    """A store to take from."""


class Target(Frontier, Ledger, Importer, Protocol):
    """An empty store to fill."""


async def carry_over(source: Source, target: Target) -> int:
    """Copy and make durable; returns the number of URLs."""
    async for batch in _batches(source):
        await target.restore(batch)
        await asyncio.sleep(0)  # a run may be waiting for this, whose sockets want to be read
    await target.sync(_no_outputs)
    return (await target.stats()).known


async def refuse_unless_alike(source: Snapshot, copy: Snapshot, now: float) -> None:
    """Every count must be the same, and every pending URL in some host's queue: one that is in none would
    never be fetched. Whether sitemaps listed anything decides if links are followed."""
    for words, one, other in zip(COMPARED, await _traits(source, now), await _traits(copy, now), strict=True):
        if one != other:
            raise StateError(
                f"not carried over: the copy has {other} {words}, the source {one}; please report it"
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
    """The files that pages name stay where they are."""

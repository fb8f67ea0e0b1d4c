"""Every backend of the Frontier and Ledger ports, opened the same way."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sumi.assembly.parts import open_store
from sumi.jobs.map.store.map_store import MapStore
from sumi.jobs.map.store.runs import MapRun
from sumi.model import Lease
from sumi.policy import Durability, FrontierPolicy, StateBackend
from sumi.ports import Frontier, Ledger, UrlRecord
from sumi.scope.hosts import DomainClasses
from sumi.state.folder import backend_to_use
from sumi.state.growing import GrowingStore
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.memory import MemoryStore
from sumi.state.sqlite import SqliteStore
from tests.postgres import the_server


class Store(Frontier, Ledger, Protocol):
    """Both ports: what one backend offers."""


Open = Callable[[Path, FrontierPolicy, float], Store]

OUTGROWN = 5  # URLs


class Outgrowing(GrowingStore):
    """Moved at the first chance, and often while somebody holds leases."""

    async def lease(self, limit: int, now: float) -> list[Lease]:
        leases = await super().lease(limit, now)
        await self.sync(nothing_to_sync)
        return leases


def open_growing(folder: Path, policy: FrontierPolicy, now: float) -> Store:
    """As a job does whose user named no backend, but for what it takes to outgrow the first one."""
    if backend_to_use(folder, None) is StateBackend.SQLITE:
        return SqliteStore(folder, policy, now)
    return Outgrowing(folder, policy, now, outgrown=OUTGROWN)


def open_as_a_capture(folder: Path, policy: FrontierPolicy, now: float) -> Store:
    """As ``sumi capture`` opens the queue of a job; what it captured is in a database of its own."""
    return open_store(None, folder, policy, now, Durability.BATCH, lambda _event: None)


# The origins of this map are elsewhere, so that pages of a.test keep the depth that they are added with.
MAP_RUN = MapRun("a configuration", DomainClasses(("origin.test",), (), ()), ("origin.test",), max_depth=99)


class Joined:
    """A worker that has joined its job by the time it is asked anything."""

    def __init__(self, folder: Path, policy: FrontierPolicy, now: float, *, maps: bool = False) -> None:
        server = the_server()
        self._arguments = (server.address(), str(folder), policy, now)
        self._maps = maps
        self._store: Any = None

    async def _opened(self) -> Any:
        if self._store is None:
            from tests.cluster.joining import open_alone

            self._store = await open_alone(*self._arguments, *self._kind())
        return self._store

    def _kind(self) -> tuple[Any, ...]:
        if not self._maps:
            return ()
        from sumi.state.cluster.map_store import ClusterMapStore

        return (partial(ClusterMapStore, is_home=lambda _url: False, max_depth=99),)

    async def aclose(self) -> None:
        await (await self._opened()).aclose()

    async def records(self, outcomes: Any = None) -> AsyncIterator[UrlRecord]:
        async for record in (await self._opened()).records(outcomes):
            yield record

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        async for record in (await self._opened()).waiting_again():
            yield record

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any) -> Any:
            return await getattr(await self._opened(), name)(*arguments)

        return call


def open_cluster(folder: Path, policy: FrontierPolicy, now: float) -> Any:
    return Joined(folder, policy, now)


def open_cluster_map(folder: Path, policy: FrontierPolicy, now: float) -> Any:
    return Joined(folder, policy, now, maps=True)


# What a job's state can be, by the name of what keeps it.
STATES: dict[str, Open] = {
    "files": lambda folder, policy, now: FilesStore(folder, policy, now),
    "lmdb": lambda folder, policy, now: LmdbStore(folder, policy, now),
    "map": lambda folder, policy, now: MapStore(folder / "map.db", policy, now, MAP_RUN),
    "sqlite": lambda folder, policy, now: SqliteStore(folder, policy, now),
}
DURABLE: dict[str, Open] = {**STATES, "growing": open_growing}
BACKENDS: dict[str, Open] = {
    "capture": open_as_a_capture,
    "memory": lambda folder, policy, now: MemoryStore(policy, now),
    **DURABLE,
}
# Apart: it needs a server, and opening it takes a tenth of a second.
SERVED: dict[str, Open] = {"cluster": open_cluster, "cluster-map": open_cluster_map}
# A map is told of all links when a page is settled: only those that nobody knows have to be judged before.
TOLD_OF_LINKS = frozenset({"map", "cluster-map"})


async def nothing_to_sync() -> None:
    """For stores that name no files."""

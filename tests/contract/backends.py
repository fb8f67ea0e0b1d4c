"""Every backend of the Frontier and Ledger ports, opened the same way."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sumi.policy import FrontierPolicy
from sumi.ports import Frontier, Ledger
from sumi.store.files import FilesStore
from sumi.store.lmdb import LmdbStore
from sumi.store.memory import MemoryStore
from sumi.store.sqlite import SqliteStore


class Store(Frontier, Ledger, Protocol):
    """Both ports: what one backend offers."""


Open = Callable[[Path, FrontierPolicy, float], Store]

DURABLE: dict[str, Open] = {
    "files": lambda folder, policy, now: FilesStore(folder, policy, now),
    "lmdb": lambda folder, policy, now: LmdbStore(folder, policy, now),
    "sqlite": lambda folder, policy, now: SqliteStore(folder, policy, now),
}
BACKENDS: dict[str, Open] = {
    "memory": lambda folder, policy, now: MemoryStore(policy, now),
    **DURABLE,
}


async def nothing_to_sync() -> None:
    """For stores that name no files."""

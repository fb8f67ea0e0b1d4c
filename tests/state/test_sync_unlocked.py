"""While SQLite's log is being synced, other calls work; the database is not closed before the sync ends."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sumi.model import Candidate
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from sumi.state.sqlite import SqliteStore

PATIENCE = 20.0  # seconds of real time


class SlowDisk:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._waited_for = threading.Event()
        self._ready = threading.Event()
        sync = os.fdatasync

        def fdatasync(descriptor: int) -> None:
            self._waited_for.set()
            assert self._ready.wait(PATIENCE)
            sync(descriptor)  # fails if somebody closed it meanwhile

        monkeypatch.setattr("sumi.state.sqlite.rows.os.fdatasync", fdatasync)

    async def is_waited_for(self) -> None:
        assert await asyncio.to_thread(self._waited_for.wait, PATIENCE)

    def get_ready(self) -> None:
        self._ready.set()


async def nothing() -> None:
    """No page has a file."""


def page(number: int) -> Judged:
    return Judged(Candidate(f"https://a.test/{number}"))


def during_a_sync(
    folder: Path, disk: SlowDisk, work: Callable[[SqliteStore, "asyncio.Task[None]"], Awaitable[None]]
) -> None:
    async def scenario() -> None:
        store = SqliteStore(folder, FrontierPolicy(), 0.0)
        await store.add([page(1)])
        syncing = asyncio.create_task(store.sync(nothing))
        await disk.is_waited_for()
        await work(store, syncing)

    asyncio.run(scenario())


def test_others_write_and_read_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SlowDisk(monkeypatch)

    async def work(store: SqliteStore, syncing: "asyncio.Task[None]") -> None:
        assert await store.add([page(2)]) == [True]
        assert (await store.stats()).known == 2
        assert not syncing.done()
        disk.get_ready()
        await syncing
        await store.aclose()

    during_a_sync(tmp_path, disk, work)


def test_it_is_closed_when_the_disk_has_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SlowDisk(monkeypatch)

    async def work(store: SqliteStore, syncing: "asyncio.Task[None]") -> None:
        closing = asyncio.create_task(store.aclose())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not closing.done()
        disk.get_ready()
        await asyncio.gather(syncing, closing)

    during_a_sync(tmp_path, disk, work)

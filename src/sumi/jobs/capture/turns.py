"""Writes that are wanted in one turn of the event loop are one transaction: pages come in bursts.

Whoever asked for a write returns once it is done, so nothing that is promised of single writes is lost by it.
A transaction takes as long as writing a page's rows does.
"""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from sumi.jobs.capture.database import CaptureDatabase

Write: TypeAlias = Callable[[], None]


class TurnWriter:
    """``last``: to be written after the others, once a turn."""

    def __init__(self, database: CaptureDatabase, last: Write) -> None:
        self._database = database
        self._last = last
        self._waiting: list[tuple[Write, asyncio.Future[None]]] = []

    async def do(self, write: Write) -> None:
        """Raises what writing raises; then nothing of this turn was written."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._write_all)
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append((write, written))
        await written

    def _write_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            with self._database.transaction():
                for write, _ in waiting:
                    write()
                self._last()
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
            for _, written in waiting:
                if not written.done():
                    written.set_exception(error)
            return
        for _, written in waiting:
            if not written.done():
                written.set_result(None)

"""Group commit: settlements that arrive while one batch is being written go out together in the next.

A write has a fixed cost, whatever is in it; on a store that waits for the disk, that of the disk. So after a
batch there is a short rest in which the next one fills, the longer the longer the last write took. A
settlement that arrives when nothing was written just before does not wait.

A visit keeps its place among the pages in flight until its settlement is written, so a crash never costs more
than the pages in flight.

What a page found is written with its outcome, as one unit. Only if that is too much to write at once do the
findings go first, in slices: after a crash in between, the page is fetched again and finds nothing new. So no
page is ever settled without its findings.
"""

import asyncio
from collections.abc import Callable

import msgspec

from sumi.engine.io import Io
from sumi.policy import Durability
from sumi.ports import Deferral, Settlement

BATCH = 256
# Between two batches. At a thousand pages a second, each batch holds four instead of one. A page stays in
# flight that much longer; its host's next turn does not depend on it.
BATCH_SECONDS = 0.003
# Times what the last write took, so that writing never takes more than a seventh of the time.
BATCH_REST = 6.0
LONGEST_REST = 0.03
# Where a batch is only applied, and the store of a team writes it with later ones.
APPLYING_REST = 0.01
SYNC_SECONDS = 1.0
# Findings written without yielding to the event loop: up to 50 ms on the slowest store.
SLICE = 1000


class Settler:
    def __init__(
        self,
        io: Io,
        durability: Durability,
        in_flight: Callable[[], int],
        on_applied: Callable[[], None] = lambda: None,
    ) -> None:
        """``in_flight``: how many visits may still join a batch, those that wait for it included.
        ``on_applied``: what a page found may be leased, though it is not written yet."""
        self._io = io
        self._in_flight = in_flight
        self._on_applied = on_applied
        self._beside: set[asyncio.Task[None]] = set()  # writes that others need not wait for
        self._unwritten = 0
        self._strict = durability is Durability.STRICT
        self._waiting: list[tuple[Settlement | Deferral, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._next_batch_at = 0.0
        self._complete = asyncio.Event()  # no further visit can join the next batch

    async def settle(self, unit: Settlement | Deferral) -> bool:
        """Returns once the unit is as durable as requested; False if the lease was lost."""
        if len(unit.found) > SLICE:
            unit = await self._without_findings(unit)
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((unit, written))
        if self._is_complete():
            self._complete.set()
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_batches())
        return bool(await written)

    async def _without_findings(self, unit: Settlement | Deferral) -> Settlement | Deferral:
        for start in range(0, len(unit.found), SLICE):
            await self._io.frontier.add(unit.found[start : start + SLICE])
            await asyncio.sleep(0)
        return msgspec.structs.replace(unit, found=())

    async def keep_synced(self) -> None:
        """Bounds what a power cut can undo; runs beside the crawl until cancelled."""
        while True:
            await self._io.clock.sleep_until(self._io.clock.now() + SYNC_SECONDS)
            await self.sync()

    async def sync(self) -> None:
        """A sync that has begun is awaited even if we are cancelled, as at the end of a run: a disk reports a
        failure only once, and the next sync would seem to succeed."""
        syncing = asyncio.ensure_future(self._io.frontier.sync(self._io.sync_outputs))
        try:
            await asyncio.shield(syncing)
        except asyncio.CancelledError:
            await asyncio.wait([syncing])
            syncing.result()
            raise

    async def at_rest(self) -> None:
        """Wait for the write under way. Visits may be cancelled, but the store must not be closed during a
        write."""
        if self._writer is not None:
            await asyncio.wait([self._writer])
        if self._beside:
            await asyncio.wait(self._beside)

    @property
    def without_request(self) -> int:
        """How many visits need no place among the requests: a database takes longer than a file."""
        return min(self._unwritten, BATCH)

    async def _write_batches(self) -> None:
        try:
            while self._waiting:
                await self._fill()
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                started = self._io.clock.now()
                if self._io.team is not None:
                    await self._begin(batch)
                    self._next_batch_at = started + APPLYING_REST
                    continue
                await self._write(batch)
                now = self._io.clock.now()
                rest = min(BATCH_REST * (now - started), LONGEST_REST)
                self._next_batch_at = now + max(rest, BATCH_SECONDS)
        finally:
            self._writer = None

    async def _fill(self) -> None:
        """Until the next batch is due, or no further visit can join it: a crawl of one page at a time gains
        nothing by waiting."""
        if self._io.clock.now() < self._next_batch_at and not self._is_complete():
            self._complete.clear()
            await self._io.clock.wait(self._complete, self._next_batch_at)

    def _is_complete(self) -> bool:
        return len(self._waiting) >= min(BATCH, self._in_flight() - self._unwritten)

    async def _begin(self, batch: list[tuple[Settlement | Deferral, "asyncio.Future[bool]"]]) -> None:
        """In the store of a team, which applies a batch at once and writes it together with later ones."""
        writing = asyncio.create_task(self._write(batch))
        self._beside.add(writing)
        self._unwritten += len(batch)

        def written(_: object) -> None:
            self._beside.discard(writing)
            self._unwritten -= len(batch)

        writing.add_done_callback(written)
        await asyncio.sleep(0)
        self._on_applied()

    async def _write(self, batch: list[tuple[Settlement | Deferral, "asyncio.Future[bool]"]]) -> None:
        try:
            if self._strict:
                await self._io.sync_outputs()
            answers = await self._io.frontier.settle([unit for unit, _ in batch])
        except Exception as error:  # noqa: BLE001 - every waiting visit must get it; the loop then ends the run
            for _, written in batch:
                if not written.done():
                    written.set_exception(error)
            return
        for (_, written), answer in zip(batch, answers, strict=True):
            if not written.done():
                written.set_result(answer)

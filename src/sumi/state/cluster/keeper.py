"""Beside a crawl: words to the database, mail from other workers, buckets that come and go, and a new
session when one has ended.
"""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

import msgspec

from sumi.events import Warned
from sumi.frontier.pacing import INFINITY
from sumi.state.cluster.batch import clean
from sumi.state.cluster.keys import runs_of
from sumi.state.cluster.membership import Taken, fair_share
from sumi.state.cluster.session import LOST_PATIENCE, Lost, Unreachable
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import NEVER, steady

LETTERS = 50  # taken in at once
LONGEST_REJOIN = 5  # times the usual pause between two attempts
MOST_WAITS = 20  # hosts that are reported as waiting


@contextmanager
def _without_collections() -> Iterator[None]:
    """A million objects that stay are no garbage: looking for it would be a fifth of the work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Keeper:
    def __init__(self, store: ClusterStore) -> None:
        self._store = store
        self._timing = store.timing
        self._balance_at = 0.0
        self._reported_stuck = 0
        self._told, self._told_at = "[]", 0.0  # of hosts that wait

    async def join(self) -> None:
        """A new session, with a fair share of what is free."""
        self._balance_at, self._reported_stuck = 0.0, 0
        self._told, self._told_at = "[]", 0.0
        try:
            await self._store.enter()
            await self._store.listen()
            await self._balance()
        except Lost as error:
            message = f"the session with the database has ended: {error}"
            raise Unreachable(message, LOST_PATIENCE) from None

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                await self._turn()
                wait = self._timing.idle_word if self._is_idle() else self._timing.word
                await self._rest(wait)
        except (Exception, asyncio.CancelledError) as error:
            self._store.failure = self._store.failure or (
                None if isinstance(error, asyncio.CancelledError) else error
            )
            raise

    async def _turn(self) -> None:
        store = self._store
        try:
            if store.member is None:
                await self._rejoin()
            await store.listen()
            await self._read_mail()
            await self._let_go()
            if steady() >= self._balance_at:
                await self._balance()
                await self._report_waits()
            await store.flush()
            await self._report_stuck()
        except (Lost, Unreachable) as error:
            store.lose(error)

    async def _rejoin(self) -> None:
        """However long the database is away. What time does not mend, such as tables of another version, ends
        the worker: StateError."""
        pause, told = self._timing.rejoin, ""
        while True:
            try:
                await self.join()
            except Unreachable as error:
                self._store.lose()
                if str(error) != told:
                    told = str(error)
                    self._store.tell(Warned(f"{told}; trying again"))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_REJOIN * self._timing.rejoin)
            else:
                return

    def _is_idle(self) -> bool:
        machine = self._store.holdings.machine
        return not machine.leases.held and (self._store.member is None or machine.next_ready() is None)

    async def _rest(self, seconds: float) -> None:
        self._store.wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._store.wake.wait()
        except TimeoutError:
            return

    # ── mail ───────────────────────────────────────────────────────────────────────────────────────────

    async def _read_mail(self) -> None:
        store = self._store
        while store.letters and store.judge is not None and store.holdings.owned:
            letters = await store.reader.mail_for(store.holdings.owned - store.holdings.leaving, LETTERS)
            await store.receive(letters)
            await store.flush()
            if len(letters) < LETTERS:
                break

    # ── buckets ────────────────────────────────────────────────────────────────────────────────────────

    async def _balance(self) -> None:
        store = self._store
        member = store.member
        if member is None:
            return
        self._balance_at = steady() + self._timing.balance
        living = await member.bury()
        take, drop = fair_share(await member.places(), store.holdings.owned, living)
        if drop:
            store.holdings.leave(drop)
            await self._let_go()
        if take:
            await self._open(await member.take(take))

    async def _open(self, taken: list[Taken]) -> None:
        """Read what they hold. Hosts of a bucket that was not let go in order may still be asked by its
        owner, cut off from us all: they are left alone until that one has certainly stopped."""
        store, holdings = self._store, self._store.holdings
        machine, now = holdings.machine, store.now()
        late = now + self._timing.inherit
        buckets = [one.bucket for one in taken]
        holdings.begin({one.bucket: now if one.in_order else late for one in taken})
        with _without_collections():
            for first, last in runs_of(buckets):
                await store.read_hosts(first, last)
                async with aclosing(store.reader.urls_of(first, last)) as parts:
                    async for rows in parts:
                        if machine is not holdings.machine:
                            raise Lost("the session ended while buckets were read")
                        holdings.restore(rows, store.offset)
        if machine is holdings.machine:
            holdings.own(buckets)

    async def _let_go(self) -> None:
        """Of buckets on their way out: those of which nothing is in flight."""
        store = self._store
        holdings = store.holdings
        ready = {bucket for bucket in holdings.leaving if not holdings.machine.busy({bucket})}
        if ready and store.member is not None:
            await store.flush()
            waiting = holdings.waiting(ready, store.now())
            await store.member.let_go(holdings.drop(ready), waiting)

    # ── what others see ────────────────────────────────────────────────────────────────────────────────

    async def _report_waits(self) -> None:
        """What some of our hosts wait for, for those who look from outside."""
        store = self._store
        waits = store.holdings.machine.waiting_hosts(store.now())[:MOST_WAITS]
        told = [
            msgspec.structs.replace(
                wait,
                host=clean(wait.host),
                ready_at=NEVER if wait.ready_at == INFINITY else wait.ready_at + store.offset,
            )
            for wait in waits
        ]
        text = msgspec.json.encode(told).decode()
        silence = steady() - max(self._told_at, store.written_at)
        if text != self._told or silence > self._timing.session / 6:  # others end who is silent for long
            await store.membership().say("hosts", text)
            self._told, self._told_at = text, steady()

    async def _report_stuck(self) -> None:
        """Open URLs of which none can be done, however long we wait, do not keep the job from its end."""
        store = self._store
        machine = store.holdings.machine
        open_now = machine.counts.open.total()
        # What is withheld has to wait for its owner of before, or for its next one.
        can_ask = not machine.hosts.withheld
        is_stuck = can_ask and open_now > 0 and not machine.leases.held and machine.next_ready() is None
        stuck = open_now if is_stuck else 0
        if stuck != self._reported_stuck or stuck:
            await store.membership().say("stuck", stuck)
            self._reported_stuck = stuck

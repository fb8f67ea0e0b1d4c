"""Frontier and Ledger of one worker: the in-memory frontier over the hosts that it owns, written to
PostgreSQL.

Every change is applied in memory and written with the next batch, over the session that holds the locks;
answers go out after the commit. If that session ends, so does all that is in memory: ``Lost``. What other
workers own goes to them by mail, in the transaction of the page that it was found on.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
import psycopg

from sumi.errors import StateError
from sumi.events import Listener, Warned
from sumi.model import Kind, Lease, PageFacts
from sumi.policy import FrontierPolicy
from sumi.ports import Deferral, FrontierStats, HostReport, HostWait, Judge, Judged, RobotsRecord, Settlement
from sumi.state.cluster.admission import ClusterAdmission
from sumi.state.cluster.batch import Batch, Standing, amended_row, ending_row, write
from sumi.state.cluster.holdings import Holdings
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.membership import Membership, Word
from sumi.state.cluster.rows import HEAD_ANSWERED, Letter, Reader
from sumi.state.cluster.session import Lost, Unreachable
from sumi.state.cluster.snapshot import stats_of
from sumi.state.cluster.timing import Timing, steady
from sumi.state.entries import Entry
from sumi.urls import host_key

PAGE = Kind.PAGE
RESERVED_AT_ONCE = 10  # pages of the limit
MOST_ENDINGS = 256  # in a batch that waits for more


class ClusterStore(ClusterAdmission):
    is_read_whole = False
    torn_bytes = 0

    def __init__(
        self,
        address: str,
        job: int,
        policy: FrontierPolicy,
        opened_at: float,
        *,
        name: str = "worker",
        clock: Callable[[], float] | None = None,
        timing: Timing | None = None,
        tell: Listener | None = None,
        heed: Callable[[str], None] | None = None,
        most_done: int | None = None,
    ) -> None:
        """``clock``: ours, in seconds since the epoch; without one it is taken to be the server's.
        ``heed``: called with the wish for the whole job (run, pause or stop) whenever it changes.
        ``most_done``: URLs with nothing more to do that are kept in memory; None: all."""
        self.timing = timing or Timing()
        super().__init__(
            Reader(address, job, self.timing, patient=True), Holdings(policy, opened_at, most_done)
        )
        self.resumed = False
        self.wish = "run"
        self.member: Membership | None = None
        self.judge: Judge | None = None  # of links that others have found
        self.wake = asyncio.Event()  # something changed that the keeper should look at
        self.failure: BaseException | None = None
        self.last_word: Word | None = None
        self.letters = 0  # in the mail of all workers, when that was last heard
        self.offset = 0.0  # from our clock to the server's
        self._address, self._job, self._name = address, job, name
        self._clock = clock
        self._heed = heed or (lambda _wish: None)
        self.tell = tell or (lambda _event: None)
        self._opened_at = opened_at
        self._writing = asyncio.Lock()
        self.written_at = 0.0
        self._robots: dict[str, RobotsRecord] = {}  # not written yet
        self._others: dict[str, int] = {}  # totals of everybody else
        self._looked_at = 0.0
        self._is_over = False
        self._keeper: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def unsynced(self) -> list[str]:
        return []

    # ── the session ────────────────────────────────────────────────────────────────────────────────────

    async def open(self) -> None:
        """Join, take what is free, and keep both. Raises StateError if the database cannot be reached."""
        from sumi.state.cluster.keeper import Keeper  # it looks after a store

        keeper = Keeper(self)
        try:
            await keeper.join()
        except Unreachable:
            self.lose()  # what was opened of it; another attempt begins anew
            raise
        assert self.last_word is not None
        self.resumed = self.last_word.totals.get("known", 0) > 0
        self._keeper = asyncio.create_task(keeper.run(), name="cluster keeper")

    async def enter(self) -> None:
        self.member = await Membership.join(self._address, self._job, self._name, self.timing)
        await self.member.bury()

    def now(self) -> float:
        return self._opened_at if self._clock is None else self._clock()

    async def listen(self) -> Word:
        """Hear how the job stands: one moment of the whole."""
        word = await self.membership().word()
        self.last_word, self.letters = word, word.letters
        if word.wish != self.wish:
            self.wish = word.wish
            self._heed(word.wish)
        if self._clock is not None:
            self.offset = self.reader.offset = word.time - self._clock()
        others = dict(word.totals)
        for name, number in word.mine.items():
            others[name] = others.get(name, 0) - number
        self._others = others
        machine = self.holdings.machine
        machine.number_from(word.time)
        if word.pages_left is not None:
            if word.pages_left > machine.hosts.unreserved:
                machine.hosts.unpark_all()
            machine.hosts.unreserved = word.pages_left
        open_now = sum(_open_in(word.totals))
        # Somebody's reservation may just have come back to us.
        can_go_on = word.stuck > 0 and machine.next_ready() is not None
        self._is_over = not word.letters and open_now == word.stuck and not can_go_on
        return word

    def membership(self) -> Membership:
        if self.failure is not None:
            raise self.failure
        if self.member is None:
            raise Lost("not connected")
        return self.member

    def lose(self, why: object = "no answer") -> None:
        """The session has ended: nothing that is in memory is ours any more, and leases are void."""
        if self.member is not None:
            self.tell(Warned(f"the session with the database has ended ({why}): joining again"))
        self._batch.was_lost = True
        self._batch.due.set()
        self._batch = Batch()
        self._mailed.clear()
        self._strangers.clear()
        # What all had done by the last word still counts, and a job that had come to its end stays there.
        self._others = dict(self.last_word.totals) if self.last_word is not None else {}
        self._is_over = self._is_over and not any(_open_in(self._others))
        self.holdings.reset(self.now())
        if self.member is not None:
            self._closing = asyncio.create_task(self.member.close())
        self.member = None
        self.wake.set()

    @property
    def session(self) -> Membership | None:
        return self.member

    def may_ask(self, host: str) -> bool:
        """Looked at once more just before a host is asked."""
        member = self.member
        return member is not None and member.seconds_left() > 0 and self.holdings.owns(bucket_of(host))

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    async def flush(self) -> None:
        """Returns once everything applied so far is committed; Lost if it never will be."""
        await self._commit(self._batch)

    async def _commit(self, mine: Batch) -> None:
        async with self._writing:
            if mine.was_lost:
                raise Lost("the session ended before this was written")
            spare = self.member is not None and self.holdings.machine.hosts.spare()
            if mine is not self._batch or (mine.is_empty and not spare and not self._robots):
                return
            self._batch = Batch()
            mine.robots = dict(self._robots)
            self._is_over = self._is_over and not mine.may_open
            try:
                await self._write(mine)
                self.holdings.written([url for url in mine.done if url not in self._batch.done])
            except Lost as error:
                mine.was_lost = True
                self.lose(error)
                raise
            finally:
                self.written_at = steady()
                mine.due.set()
            self._robots = {
                name: kept for name, kept in self._robots.items() if mine.robots.get(name) is not kept
            }

    async def _flush_with_others(self) -> None:
        """As ``flush``, but not before more pages had a chance to come into the same transaction."""
        mine, rest = self._batch, self.written_at + self.timing.commit - steady()
        if rest > 0 and len(mine.endings) < MOST_ENDINGS and self.holdings.will_settle(self.now() + rest):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await mine.due.wait()
        await self._commit(mine)

    async def _write(self, batch: Batch) -> None:
        member, machine = self.membership(), self.holdings.machine
        hosts = [machine.hosts.stored(host) for host in batch.hosts if self.holdings.owns(bucket_of(host))]
        batch.open = self.holdings.turned()
        # With the endings that made them spare: else the others would see a job that is over.
        batch.returned = machine.hosts.spare()
        machine.hosts.allowance -= batch.returned
        standing = Standing(self.holdings.delta(), machine.hosts.allowance, 0)
        try:
            async with member.talking() as connection:
                await write(
                    connection, batch.statements(self._job, hosts, self.offset), member.worker, standing
                )
        except psycopg.Error as error:
            reason = " ".join(str(error).split())
            raise StateError(f"the database refused what was written: {reason}; please report it") from error

    async def _written(self, apply: Callable[[], None], about: Sequence[str] = ()) -> None:
        """Apply something about these URLs and write it; if the session ends, once more in the next one."""
        while True:
            await self.recall(about)
            apply()
            with contextlib.suppress(Lost):
                await self.flush()
                return
            while self.member is None:
                if self.failure is not None:
                    raise self.failure
                await asyncio.sleep(self.timing.idle_word)

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        changed: list[bool] = []

        def apply() -> None:
            changed[:] = [self.admit(item) for item in judged]

        await self._written(apply, [item.candidate.url for item in judged])
        return changed

    async def lease(self, limit: int, now: float) -> list[Lease]:
        if self.failure is not None:
            raise self.failure
        member, machine = self.member, self.holdings.machine
        if member is None or member.silence > self.timing.no_lease or self.wish != "run":
            return []
        places = machine.hosts.places()
        if places is not None and places < limit and machine.hosts.unreserved:
            # Never more than there is to do: the others would end while this worker sits on the rest.
            lacking = machine.counts.open[PAGE] - machine.hosts.allowance
            if lacking > 0:
                await self._reserve(min(lacking, max(RESERVED_AT_ONCE, limit - places)))
                machine = self.holdings.machine
        return machine.lease(limit, now)

    async def _reserve(self, wanted: int) -> None:
        async with self._writing:  # a batch says how many are reserved
            try:
                member = self.membership()
                got, left = await member.reserve(wanted)
            except Lost as error:
                self.lose(error)
                return
            if member is self.member:
                hosts = self.holdings.machine.hosts
                hosts.allowance += got
                hosts.unreserved = left
                hosts.unpark_all()

    async def next_ready(self, now: float) -> float | None:
        later = now + self.timing.idle_word
        if self.member is None or self.wish != "run":
            return later
        local = self.holdings.machine.next_ready()
        if local is None and not self._is_over and (self.holdings.policy.max_pages or not self._is_alone):
            return later
        return local

    async def renew(self, leases: Sequence[Lease], now: float) -> list[bool]:
        return [self.holdings.machine.renew(lease, now) for lease in leases]

    async def release_host(self, lease: Lease, report: HostReport | None) -> None:
        machine = self.holdings.machine
        if machine.leases.held_by(lease) is None:
            return
        pace = machine.hosts.pace(lease.host)
        before = (pace.crawl_delay, pace.hold_until)
        machine.release(lease, report)
        if before != (pace.crawl_delay, pace.hold_until):
            self._batch.hosts.add(lease.host)  # with the next batch: the page's own is near

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        await self.recall([item.candidate.url for unit in units for item in unit.found])
        answers = [self._settle(unit) for unit in units]
        try:
            await self._flush_with_others()
        except Lost:
            return [False] * len(units)
        return answers

    def _settle(self, unit: Settlement | Deferral) -> bool:
        machine = self.holdings.machine
        entry = machine.leases.held_by(unit.lease)
        if entry is None:
            return False
        captured = machine.counts.captured
        machine.settle(msgspec.structs.replace(unit, found=()) if unit.found else unit)
        machine.hosts.allowance -= machine.counts.captured - captured
        if isinstance(unit, Settlement):
            self._note_ending(entry, "settled", unit.at, unit.facts)
            self.holdings.keep(unit.lease.url)
            self._batch.done[unit.lease.url] = None
        else:
            back = HEAD_ANSWERED if unit.head_answered else "back"
            self._note_ending(entry, back if unit.why is None else "failed", unit.at, None, unit)
        for item in unit.found:
            self.admit(item)
        return True

    def _note_ending(
        self, entry: Entry, what: str, at: float, facts: PageFacts | None, deferral: Deferral | None = None
    ) -> None:
        entry.latest += 1
        if facts is not None:
            entry.facts = 1
        self._batch.endings.append(ending_row(entry, what, at, facts, deferral, self.offset))

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        """Those of our own hosts."""
        moved: list[str] = []

        def apply() -> None:
            moved[:] = [url for url in urls if self._requeue(url, at)]

        await self._written(apply, urls)
        return len(moved)

    def _requeue(self, url: str, at: float) -> bool:
        machine = self.holdings.machine
        captured = machine.counts.captured
        if not self.holdings.takes(bucket_of(host_key(url))) or not machine.requeue(url):
            return False
        machine.hosts.allowance -= machine.counts.captured - captured
        self.holdings.keep(url)
        self._note_ending(machine.entries[url], "again", at, None)
        return True

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        def apply() -> None:
            for url, new in facts.items():
                entry = self.holdings.machine.settled(url)
                if entry is not None:
                    row = amended_row(entry, new)
                    self._batch.amended[row[0]] = row

        await self._written(apply, list(facts))

    async def hold_host(self, host: str, until: float, why: str) -> None:
        if self.holdings.owns(bucket_of(host)):
            self.holdings.machine.hosts.hold(host, until, why)
            self._batch.hosts.add(host)

    async def retune(self, policy: FrontierPolicy) -> None:
        self.holdings.policy = policy
        self.holdings.machine.hosts.retune(policy)

    async def stats(self) -> FrontierStats:
        counted = self._counted()
        pending = sum(_open_in(counted))
        if not pending and not self._is_alone:
            pending = await self._surely_over()
            counted = self._counted()
        found = stats_of(counted, leased=len(self.holdings.machine.leases.held))
        return msgspec.structs.replace(found, pending=pending)

    @property
    def _is_alone(self) -> bool:
        """Nobody else has anything to do, nor has sent us anything."""
        return self.holdings.is_whole and not self.letters and self.member is not None

    def _counted(self) -> dict[str, int]:
        counted = dict(self._others)
        for name, number in self.holdings.delta().items():
            counted[name] = counted.get(name, 0) + number
        return counted

    async def _surely_over(self) -> int:
        """0 only if the database says so, in one moment, about everybody and their mail; else at least 1."""
        if steady() - self._looked_at >= self.timing.idle_word and self.member is not None:
            self._looked_at = steady()
            try:
                await self.flush()
                await self.listen()
            except Lost as error:
                self.lose(error)
        pending = sum(_open_in(self._counted()))
        return 0 if self._is_over and not pending else max(pending, 1)

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return self.holdings.machine.waiting_hosts(now)

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        return self.holdings.machine.wait_of(host, now)

    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """What is committed is durable already."""
        await outputs()

    async def aclose(self) -> None:
        """In order: what is ours is let go, and who takes it need not wait."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        member = self.member
        try:
            if member is not None and self.failure is None:
                await self.flush()
                owned = self.holdings.owned
                opens = self.holdings.machine.open_of(owned)
                await member.leave(opens, self.holdings.waiting(owned, self.now()))
        except Lost:
            pass  # as after a kill: an heir waits a little
        finally:
            self.member = None
            if member is not None:
                await member.close()
            if self._closing is not None:
                await self._closing
            await self.reader.close()

    # ── Ledger: what is written ────────────────────────────────────────────────────────────────────────

    async def put_robots(self, record: RobotsRecord) -> None:
        """Written before any page that is judged by it."""
        self._robots[record.origin] = record

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return self._robots.get(origin) or await super().get_robots(origin)

    async def put_note(self, key: str, value: str) -> None:
        def apply() -> None:
            self._batch.notes[key] = value

        await self._written(apply)

    # ── Team ───────────────────────────────────────────────────────────────────────────────────────────

    def judge_with(self, judge: Judge) -> None:
        """From now on links that others found are taken in, as this judges them."""
        self.judge = judge
        self.wake.set()

    async def receive(self, letters: Sequence[Letter]) -> None:
        """Links that others found on our hosts. We judge them: their finder does not know the sitemaps and
        traps of these hosts. Applied and removed from the mail in one transaction."""
        assert self.judge is not None
        for letter in letters:
            judged = await self.judge(letter.items)
            await self.recall([item.candidate.url for item in judged])
            if self.holdings.takes(letter.bucket):  # else it stays in the mail
                for item in judged:
                    self.admit(item)
                self._batch.taken_in.append((letter.bucket, letter.id))

    async def read_hosts(self, first: int, last: int) -> None:
        """Of buckets that are opened."""
        self.holdings.restore_hosts(await self.reader.hosts_of(first, last))


def _open_in(totals: Mapping[str, int]) -> list[int]:
    """URLs to do, of each kind."""
    return [number for name, number in totals.items() if name.startswith("open ")]

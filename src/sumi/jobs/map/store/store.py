"""Frontier and Ledger of a terrain map: what the crawl settles, and the terrain that follows from it.

Each settlement brings all links of its page. In the transaction that settles it they are recorded, distances
from the origins are brought up to date, and pages that came within reach join the queue.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.frontier.pacing import SUSPENDED, is_asked_for
from sumi.jobs.map.store.changes import DomainRow, TerrainChange, pairs
from sumi.jobs.map.store.depths import USUAL_BOUNDS, DepthBounds, Depths
from sumi.jobs.map.store.page_numbers import PageNumbers
from sumi.jobs.map.store.queue_ahead import QueueAhead
from sumi.jobs.map.store.rows import TerrainRows, domain_of, page_id
from sumi.jobs.map.store.runs import UNTOLD, Beginning, MapRun, begin_run, end_run
from sumi.jobs.map.store.statements import FINISHED_AT, GET_HEADS
from sumi.jobs.map.store.states import PageState
from sumi.model import Hop, Lease
from sumi.outcomes import Ending, Outcome
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Deferral, FrontierStats, Judged, OutputHandler, Settlement
from sumi.scope.hosts import DomainClass
from sumi.state.entries import Entry, State
from sumi.state.indexed.rows import Change
from sumi.state.indexed.store import IndexedStore
from sumi.state.lock import FolderLock

FOREVER = float("inf")
# Seconds. A longer pause, which an earlier run was asked for, is not waited for.
LONGEST_PAUSE = 300.0
# Of the distances left to be told, what one write takes up.
WORK_AT_ONCE = 1000


def map_lock(database: Path, command: str = "sumi") -> FolderLock:
    """Beside the database, which comes and goes."""
    return FolderLock(database.parent, f"{database.name}.lock", command)


class TerrainStore(IndexedStore):
    change_type = TerrainChange
    _draft: TerrainChange

    def __init__(
        self,
        path: Path,
        policy: FrontierPolicy,
        opened_at: float,
        run: MapRun,
        durability: Durability = Durability.BATCH,
        handlers: Sequence[OutputHandler] = (),
        depth_bounds: DepthBounds = USUAL_BOUNDS,
        lock: FolderLock | None = None,
    ) -> None:
        """``lock``: of the map, if it is held already; whoever gave it releases it."""
        self._handlers = handlers
        self._own_lock = map_lock(path) if lock is None else None
        try:
            self._terrain = TerrainRows(path, strict=durability is Durability.STRICT)
            self.beginning = begin_run(self._terrain, run, opened_at)
            self._revisiting = self.beginning is Beginning.AGAIN
            self._run = run
            self._at = opened_at
            self._new: list[Entry] = []
            self._read: list[tuple[int, Sequence[str]]] = []  # pages that were read, and their links
            # Pages between HEAD and GET: at most a few of each host that is being asked.
            self._heads: set[int] = {page for (page,) in self._terrain.run_query(GET_HEADS)}
            self._suspended: set[str] = set()
            self._carried: dict[str, int] = {}  # requests of this run, before it was taken up again
            self._depths = Depths(run.origins, self._terrain, depth_bounds)
            self._numbers = PageNumbers(self._terrain)
            self._unfinished = bool(self._terrain.depth_work(1))
            super().__init__(self._terrain, policy, opened_at)
            self._ahead = self._queue_ahead = QueueAhead(self._terrain, self._queues, self._leased_ids)
            self._recall_domains()
        except BaseException:
            self._unlock()
            raise

    @property
    def run_id(self) -> int:
        return self._terrain.run_id

    @property
    def known(self) -> int:
        """Addresses ever found; told even when the database cannot be asked any more."""
        return len(self._working)

    async def end_run(self, status: str, now: float) -> None:
        async with self._turn:
            end_run(self._terrain, status, now)

    @property
    def finished_at(self) -> str:
        """When the last run that ended did so."""
        return str(self._terrain.run_sql(FINISHED_AT, (self.run_id,)))

    async def is_untold(self) -> bool:
        """Whether the run completed, and was killed before all that follows from that was done."""
        return await self.get_note(UNTOLD) == str(self.run_id)

    async def note_told(self) -> None:
        await self.put_note(UNTOLD, "")

    async def aclose(self) -> None:
        await super().aclose()
        self._unlock()

    def _unlock(self) -> None:
        if self._own_lock is not None:
            self._own_lock.release()

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        """Whoever settles tells of every link: only what nobody knows has to be judged."""
        async with self._turn:
            return self._numbers.unknown(urls)

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        answers = await super().settle(units)
        for unit, settled in zip(units, answers, strict=True):
            if settled and isinstance(unit, Settlement):
                for handler in self._handlers:
                    self._hand_over(unit, handler)
        return answers

    def _hand_over(self, unit: Settlement, handler: OutputHandler) -> None:
        url = unit.lease.url
        if unit.verdict.ending is Ending.DONE:
            handler.record_page(url, unit.facts)
        else:
            handler.record_error(url, unit.verdict)
        for target in unit.links or ():
            handler.record_link(url, target)
            match self._numbers.class_of(target, self._run.classes):
                case DomainClass.BLACKLISTED:
                    handler.record_blacklisted(target, url)
                case DomainClass.STUBBED:
                    handler.record_stubbed(target, url)

    async def stats(self) -> FrontierStats:
        """Nobody may think that all is done while pages may still come within reach."""
        while self._unfinished and not self._open.total():
            async with self._turn:
                self._write()
        return await super().stats()

    async def retune(self, policy: FrontierPolicy) -> None:
        async with self._turn:
            barred = self._over_budget()
            await super().retune(policy)
            self._draft.readmitted += sorted(barred - self._over_budget())
            self._write()

    def _over_budget(self) -> set[str]:
        pacing = self._policy.pacing
        return {domain_of(host) for host, pace in self._schedule.paces() if pace.over_budget(pacing)}

    # ── what a unit changes ────────────────────────────────────────────────────────────────────────────

    def _apply(self, unit: Settlement | Deferral) -> list[Judged] | None:
        news = super()._apply(unit)
        if news is not None:
            self._at = max(self._at, unit.at)
            self._count_requests(unit)
            self._note_head(unit)
            if isinstance(unit, Settlement) and unit.links is not None:
                self._read.append((page_id(self._working[unit.lease.url].sequence), unit.links))
        return news

    def _note_head(self, unit: Settlement | Deferral) -> None:
        page = page_id(self._working[unit.lease.url].sequence)
        if isinstance(unit, Deferral) and unit.head_answered:
            self._heads.add(page)
            self._draft.heads.append((page,))
        elif isinstance(unit, Settlement) and page in self._heads:
            self._heads.discard(page)
            self._draft.heads_done.append((page,))

    def _lease_out(self, entry: Entry, now: float) -> Lease:
        lease = super()._lease_out(entry, now)
        if page_id(entry.sequence) in self._heads:
            return msgspec.structs.replace(lease, head_answered=True)
        return lease

    def _register(self, item: Judged) -> None:
        super()._register(item)
        self._new.append(self._working[item.candidate.url])

    def _open_entry(self, entry: Entry) -> None:
        super()._open_entry(entry)
        if self._suspended or self._carried:
            self._recall_domain(entry.host)

    def _write(self) -> None:
        """What is written is complete: links, distances, and what came within reach by them."""
        if self._new or self._read or self._unfinished:
            self._chart()
        super()._write()
        self._depths.forget()

    def _write_rows(self, change: Change) -> None:
        if isinstance(change, TerrainChange):
            change.at = self._at
        super()._write_rows(change)
        self._queue_ahead.written(change.inserted, change.updated)

    def _chart(self) -> None:
        new, self._new = self._new, []
        read, self._read = self._read, []
        for entry in new:
            self._numbers.learn(entry.candidate.url, page_id(entry.sequence))
            self._depths.enter(page_id(entry.sequence), self._run.classes.origin_of(domain_of(entry.host)))
        edges = self._edges(read)
        draft = self._draft
        draft.work_done = self._terrain.depth_work(WORK_AT_ONCE) if self._unfinished else []
        self._depths.resume(draft.work_done)
        self._depths.spread(edges)
        draft.depths, closer, draft.work = self._depths.take_changes()
        self._bring_closer(closer, {page_id(entry.sequence): entry for entry in new})
        self._unfinished = bool(draft.work) or len(draft.work_done) == WORK_AT_ONCE

    def _edges(self, read: Sequence[tuple[int, Sequence[str]]]) -> dict[int, list[int]]:
        edges = {page: self._numbers.of_known(links) for page, links in read}
        self._draft.links = pairs((page, target) for page, targets in edges.items() for target in targets)
        if self._revisiting:
            self._draft.revisited = [(page, set(targets)) for page, targets in edges.items()]
        return edges

    # ── what came within reach ─────────────────────────────────────────────────────────────────────────

    def _bring_closer(self, pages: Sequence[int], new: dict[int, Entry]) -> None:
        known = [page for page in pages if page not in new]
        entries = [(page, new[page]) for page in pages if page in new]
        for row in self._terrain.by_id(page - 1 for page in known):
            held = row.url in self._working
            entries.append((page_id(row.id), self._working[row.url] if held else self._working.adopt(row)))
        for page, entry in entries:
            depth = self._depths.least(page)
            if depth != entry.candidate.depth:
                self._set_depth(entry, depth)

    def _set_depth(self, entry: Entry, depth: int) -> None:
        candidate = msgspec.structs.replace(entry.candidate, depth=depth)
        too_deep = entry.verdict is not None and entry.verdict.outcome is Outcome.TOO_DEEP
        reachable = too_deep and depth <= self._run.max_depth
        if entry.state is State.REFUSED and reachable:
            self._lift(entry, candidate)
        elif entry.state is State.WAITING:
            self._shorten(entry, candidate)
        else:
            entry.candidate = candidate
            if entry.state is State.SETTLED and reachable:
                self._requeue(candidate.url)

    # ── domains ────────────────────────────────────────────────────────────────────────────────────────

    def _count_requests(self, unit: Settlement | Deferral) -> None:
        host, domain = unit.lease.host, domain_of(unit.lease.host)
        pace = self._schedule.pace(host)
        limited = isinstance(unit, Settlement) and unit.verdict.outcome is Outcome.RATE_LIMITED
        if limited and domain not in self._suspended:
            self._suspend(domain, host)
        elif pace.over_budget(self._policy.pacing) and domain not in self._suspended:
            self._draft.barred.append((domain, PageState.REQUEST_LIMIT_HIT))
        self._draft.domains[domain] = DomainRow(domain, pace.budget_used, domain in self._suspended)

    def _suspend(self, domain: str, host: str) -> None:
        self._suspended.add(domain)
        self._draft.barred.append((domain, PageState.RATE_LIMITED))
        self._schedule.pace(host).hold(FOREVER, SUSPENDED)
        self._offer_if_busy(host)

    def _recall_domains(self) -> None:
        """An interrupted run goes on with what it had spent; who said 429 is not asked again in it."""
        for domain, requests, suspended in self._terrain.domains():
            self._carried[domain] = requests
            if suspended:
                self._suspended.add(domain)
        for host in list(self._open_of):
            self._recall_domain(host)
        budget = self._policy.pacing.host_budget
        barred = {d: PageState.REQUEST_LIMIT_HIT for d, n in self._carried.items() if budget and n >= budget}
        self._terrain.recall_barred(barred | dict.fromkeys(self._suspended, PageState.RATE_LIMITED))
        for host in list(self._open_of):
            self._suspend_if_paused(host)
        self._write()

    def _suspend_if_paused(self, host: str) -> None:
        pace, domain = self._schedule.pace(host), domain_of(host)
        if is_asked_for(pace.hold_why) and pace.hold_until > self._at + LONGEST_PAUSE:
            self._draft.domains[domain] = DomainRow(domain, pace.budget_used, True)
            if domain not in self._suspended:
                self._suspend(domain, host)

    def _recall_domain(self, host: str) -> None:
        domain, pace = domain_of(host), self._schedule.pace(host)
        pace.budget_used = max(pace.budget_used, self._carried.get(domain, 0))
        if domain in self._suspended:
            pace.hold(FOREVER, SUSPENDED)
        self._offer_if_busy(host)

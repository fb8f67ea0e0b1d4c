"""The Frontier and Ledger of a map.

A settlement has all links of its page. One transaction settles the page, records the links, updates the
depths, and queues pages that came within the depth limit.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from sumi.frontier.pacing import BUDGET_SPENT, INFINITY, SUSPENDED, is_server_hold
from sumi.jobs.map.output import OutputHandler
from sumi.jobs.map.store.caches import PageIds, QueueAhead
from sumi.jobs.map.store.depths import USUAL_BOUNDS, DepthBounds, Depths
from sumi.jobs.map.store.rows import DomainRow, MapChange, MapRows, domain_of, page_id, pairs
from sumi.jobs.map.store.runs import COMPLETED, UNANNOUNCED, Beginning, MapRun, begin_run, end_run
from sumi.jobs.map.store.schema import FINISHED_AT, GET_HEADS, LIMITED_DOMAINS
from sumi.jobs.map.store.states import PageState
from sumi.model import Hop, Lease
from sumi.outcomes import Ending, Outcome
from sumi.policy import Durability, FrontierPolicy
from sumi.ports import Deferral, FrontierStats, HostWait, Settlement
from sumi.scope.hosts import DomainClass
from sumi.state.database.rows import Change
from sumi.state.database.store import DatabaseStore
from sumi.state.entries import REFUSED, SETTLED, WAITING, Entry
from sumi.state.hosts import Hosts
from sumi.state.lock import FolderLock

# Seconds. If a host asked an earlier run for a longer pause, this run does not wait for it.
LONGEST_PAUSE: Final = 300.0


class DomainLimits:
    """Limits per domain and run: the number of requests, and no more of them after a 429. Changes go into the
    given draft and are written with it."""

    def __init__(self, rows: MapRows, hosts: Hosts) -> None:
        self._rows = rows
        self._hosts = hosts
        self._carried: dict[str, int] = {}  # requests of this run before it was resumed
        self._suspended: set[str] = set()

    def load(self, open_hosts: Iterable[str], now: float, draft: MapChange) -> None:
        """A resumed run keeps its request counts, and does not ask domains again that answered 429."""
        for domain, requests, suspended in self._rows.domains():
            self._carried[domain] = requests
            if suspended:
                self._suspended.add(domain)
        hosts = list(open_hosts)
        self.apply_to(hosts)
        budget = self._hosts.policy.pacing.host_budget
        barred = {d: PageState.REQUEST_LIMIT_HIT for d, n in self._carried.items() if budget and n >= budget}
        self._rows.load_barred(barred | dict.fromkeys(self._suspended, PageState.RATE_LIMITED))
        for host in hosts:
            self._suspend_if_paused(host, now, draft)

    def apply_to(self, hosts: Iterable[str]) -> None:
        """Call it with hosts that have something to fetch."""
        if self._suspended or self._carried:
            for host in hosts:
                self._apply_to(host)

    def _apply_to(self, host: str) -> None:
        domain, pace = domain_of(host), self._hosts.pace(host)
        pace.budget_used = max(pace.budget_used, self._carried.get(domain, 0))
        if domain in self._suspended:
            pace.hold(INFINITY, SUSPENDED)
        self._hosts.offer(host)

    def count(self, unit: Settlement | Deferral, draft: MapChange) -> None:
        host, domain = unit.lease.host, domain_of(unit.lease.host)
        pace = self._hosts.pace(host)
        limited = isinstance(unit, Settlement) and unit.verdict.outcome is Outcome.RATE_LIMITED
        if limited and domain not in self._suspended:
            self._suspend(domain, host, draft)
        elif pace.over_budget(self._hosts.policy.pacing) and domain not in self._suspended:
            draft.barred.append((domain, PageState.REQUEST_LIMIT_HIT))
        draft.domains[domain] = DomainRow(domain, pace.budget_used, domain in self._suspended)

    def over_budget(self) -> set[str]:
        pacing = self._hosts.policy.pacing
        return {domain_of(host) for host, pace in self._hosts.schedule.paces() if pace.over_budget(pacing)}

    def _suspend(self, domain: str, host: str, draft: MapChange) -> None:
        self._suspended.add(domain)
        draft.barred.append((domain, PageState.RATE_LIMITED))
        self._hosts.hold(host, INFINITY, SUSPENDED)

    def _suspend_if_paused(self, host: str, now: float, draft: MapChange) -> None:
        pace, domain = self._hosts.pace(host), domain_of(host)
        if is_server_hold(pace.hold_why) and pace.hold_until > now + LONGEST_PAUSE:
            draft.domains[domain] = DomainRow(domain, pace.budget_used, True)
            if domain not in self._suspended:
                self._suspend(domain, host, draft)


# Stored depth updates that one write continues.
WORK_AT_ONCE = 1000


def map_lock(database: Path, command: str = "sumi") -> FolderLock:
    """Next to the database, not in it: --fresh deletes the database."""
    return FolderLock(database.parent, f"{database.name}.lock", command)


class MapStore(DatabaseStore):
    change_type = MapChange
    ahead_type = QueueAhead
    _draft: MapChange
    _ahead: QueueAhead

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
        """``lock``: if the caller already holds it, who then releases it."""
        own_lock = map_lock(path) if lock is None else None
        try:
            self._map = MapRows(path, strict=durability is Durability.STRICT)
            self.beginning = begin_run(self._map, run, opened_at)
            super().__init__(self._map, policy, opened_at, own_lock)
            self._run = run
            self._handlers = handlers
            self._revisiting = self.beginning is Beginning.AGAIN
            self._at = opened_at
            self._read: list[tuple[int, Sequence[str]]] = []  # pages and their links, since the last write
            # Pages between HEAD and GET: a few per active host.
            self._heads: set[int] = {page for (page,) in self._map.run_query(GET_HEADS)}
            self._depths = Depths(run.origins, self._map, depth_bounds)
            self._page_ids = PageIds(self._map)
            self._unfinished = bool(self._map.depth_work(1))
            self._domains = DomainLimits(self._map, self._hosts)
            self._domains.load(self._machine.counts.open_of, opened_at, self._draft)
            self._write()
        except BaseException:
            if own_lock is not None:
                own_lock.release()
            raise

    @property
    def run_id(self) -> int:
        return self._map.run_id

    @property
    def known(self) -> int:
        """All URLs ever found; from memory, so that it works when the database has failed."""
        return len(self._working)

    async def end_run(self, status: str, now: float) -> None:
        async with self._turn:
            end_run(self._map, status, now)

    @property
    def finished_at(self) -> str:
        """When the last run ended."""
        return str(self._map.run_sql(FINISHED_AT, (self.run_id,)))

    async def end_is_unannounced(self) -> bool:
        """Whether the run completed and was killed before its summary was written and its webhook sent."""
        return await self.get_note(UNANNOUNCED) == str(self.run_id)

    async def note_announced(self) -> None:
        await self.put_note(UNANNOUNCED, "")

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        """Settlements lower depths by their links, so only URLs that are not known at all need the gate."""
        async with self._turn:
            return self._page_ids.unknown(urls)

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
            match self._page_ids.class_of(target, self._run.classes):
                case DomainClass.BLACKLISTED:
                    handler.record_blacklisted(target, url)
                case DomainClass.STUBBED:
                    handler.record_stubbed(target, url)

    async def stats(self) -> FrontierStats:
        """Finishes pending depth updates first: they may queue more pages."""
        while self._unfinished and not self._machine.counts.open.total():
            async with self._turn:
                self._write()
        return await super().stats()

    async def lease(self, limit: int, now: float) -> list[Lease]:
        leases = await super().lease(limit, now)
        return [self._with_head(lease) for lease in leases] if self._heads else leases

    def _with_head(self, lease: Lease) -> Lease:
        page = page_id(self._working[lease.url].sequence)
        return msgspec.structs.replace(lease, head_answered=True) if page in self._heads else lease

    async def retune(self, policy: FrontierPolicy) -> None:
        async with self._turn:
            barred = self._domains.over_budget()
            await super().retune(policy)
            self._draft.readmitted += sorted(barred - self._domains.over_budget())
            self._write()

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────

    def _settle(self, unit: Settlement | Deferral) -> bool:
        if not super()._settle(unit):
            return False
        self._at = max(self._at, unit.at)
        self._domains.count(unit, self._draft)
        page = page_id(self._working[unit.lease.url].sequence)
        self._note_head(unit, page)
        if isinstance(unit, Settlement) and unit.links is not None:
            self._read.append((page, unit.links))
        return True

    def _note_head(self, unit: Settlement | Deferral, page: int) -> None:
        if isinstance(unit, Deferral) and unit.head_answered:
            self._heads.add(page)
            self._draft.heads.append((page,))
        elif isinstance(unit, Settlement) and page in self._heads:
            self._heads.discard(page)
            self._draft.heads_done.append((page,))

    def _write(self) -> None:
        """One write has the links, the depths, and the pages that come within reach through them."""
        if self._working.entered or self._read or self._unfinished:
            self._update_depths()
        super()._write()
        self._depths.forget()

    def _write_rows(self, change: Change) -> None:
        if isinstance(change, MapChange):
            change.at = self._at
        super()._write_rows(change)
        self._ahead.written(change.inserted, change.updated)
        opened = [row for row in change.inserted if row.outcome is None]
        opened += [row for old, row in change.updated if old.outcome is not None and row.outcome is None]
        self._domains.apply_to({row.host for row in opened})

    def _update_depths(self) -> None:
        new = list(self._working.entered)
        read, self._read = self._read, []
        for entry in new:
            self._page_ids.learn(entry.candidate.url, page_id(entry.sequence))
            self._depths.enter(page_id(entry.sequence), self._run.classes.origin_of(domain_of(entry.host)))
        edges = self._edges(read)
        draft = self._draft
        draft.work_done = self._map.depth_work(WORK_AT_ONCE) if self._unfinished else []
        self._depths.resume(draft.work_done)
        self._depths.propagate(edges)
        draft.depths, closer, draft.work = self._depths.take_changes()
        self._lower_depths(closer, {page_id(entry.sequence): entry for entry in new})
        self._unfinished = bool(draft.work) or len(draft.work_done) == WORK_AT_ONCE

    def _edges(self, read: Sequence[tuple[int, Sequence[str]]]) -> dict[int, list[int]]:
        edges = {page: self._page_ids.of_known(links) for page, links in read}
        self._draft.links = pairs((page, target) for page, targets in edges.items() for target in targets)
        if self._revisiting:
            self._draft.revisited = [(page, set(targets)) for page, targets in edges.items()]
        return edges

    # ── pages that come closer ─────────────────────────────────────────────────────────────────────────

    def _lower_depths(self, pages: Sequence[int], new: dict[int, Entry]) -> None:
        known = [page for page in pages if page not in new]
        entries = [(page, new[page]) for page in pages if page in new]
        for row in self._map.by_id(page - 1 for page in known):
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
        if entry.state is REFUSED and reachable:
            self._machine.lift(entry, candidate)
        elif entry.state is WAITING:
            self._machine.shorten(entry, candidate)
        else:
            entry.candidate = candidate
            if entry.state is SETTLED and reachable:
                self._machine.requeue(candidate.url)


class MapView(DatabaseStore):
    """A map opened read-only, without the lock."""

    def __init__(self, path: Path, policy: FrontierPolicy, opened_at: float) -> None:
        rows = MapRows(path, strict=False, readonly=True)
        super().__init__(rows, policy, opened_at)
        last = rows.last_run()
        self.ended = last is not None and last[2] == COMPLETED
        limited: dict[str, str] = dict.fromkeys((d for (d,) in rows.run_query(LIMITED_DOMAINS)), BUDGET_SPENT)
        suspended = [row.domain for row in rows.domains() if row.suspended]
        self._left_out = limited | dict.fromkeys(suspended, SUSPENDED)

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        """As the run itself reports it: domains that left the run wait for the next one, not for a time."""
        return [self._as_in_run(wait, now) for wait in await super().waiting_hosts(now)]

    def _as_in_run(self, wait: HostWait, now: float) -> HostWait:
        why = self._left_out.get(domain_of(wait.host))
        return wait if why is None else msgspec.structs.replace(wait, why=why, ready_at=now)

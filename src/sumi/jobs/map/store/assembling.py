"""A map that many machines made, as the database that one machine would have made of it.

Its URLs come in the order of their discovery, and then the links of each page; depths are computed from these
as in any run.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from sumi.errors import StateError
from sumi.frontier.pacing import BUDGET_SPENT, INFINITY, SUSPENDED
from sumi.jobs.map.store.map_store import MapStore
from sumi.jobs.map.store.rows import DomainRow, MapRows, domain_of, page_id
from sumi.jobs.map.store.runs import COMPLETED, UNANNOUNCED, MapRun, end_run
from sumi.jobs.map.store.states import PageState
from sumi.policy import FrontierPolicy
from sumi.ports import HostWait, RobotsRecord
from sumi.state.entries import StoredHost, StoredNote, StoredUrl
from sumi.state.lock import FolderLock
from sumi.state.sqlite import sql
from sumi.urls import host_key

# A note: the job in a database that the map was taken from.
SHARED_JOB: Final = "shared job"
_AT_ONCE: Final = 500  # pages per write
_UNFINISHED: Final = ".unfinished"


class SharedMap(Protocol):
    """What is read of the job."""

    async def all_notes(self) -> list[tuple[str, str]]: ...

    async def all_robots(self) -> list[RobotsRecord]: ...

    async def hosts_of(self, first: int, last: int) -> list[StoredHost]: ...

    async def spent_of(self, first: int, last: int) -> list[tuple[str, int, str]]: ...

    def mapped(self) -> AsyncIterator[tuple[StoredUrl, float, bool]]: ...

    def all_links(self) -> AsyncIterator[tuple[str, list[str]]]: ...


class AssembledMap(MapStore):
    def enter(self, pages: Sequence[tuple[StoredUrl, float, bool]]) -> None:
        """URLs as they stand, when each was found, and whether its HEAD was answered."""
        for stored, found_at, head_answered in pages:
            self._restore(stored)
            row = self._working[stored.candidate.url].sequence
            self._draft.found_at[row] = found_at
            if head_answered:
                self._draft.heads.append((page_id(row),))
        self._write()

    def link(self, pages: Sequence[tuple[str, list[str]]]) -> None:
        """Once all URLs are there."""
        ids = self._page_ids.of([url for url, _ in pages])
        self._read += [(ids[url], links) for url, links in pages if url in ids]
        self._write()

    def finish_depths(self) -> None:
        while self._unfinished:
            self._write()

    def limit(self, spent: Iterable[tuple[str, int, str]]) -> None:
        """What was asked of each host, and which of them are not asked again in this run."""
        budget = self._hosts.policy.pacing.host_budget
        for host, requests, why in spent:
            domain, suspended = domain_of(host), why == SUSPENDED
            before = self._draft.domains.get(domain, DomainRow(domain, 0, suspended=False))
            now = DomainRow(domain, max(requests, before.requests), suspended or before.suspended)
            self._draft.domains[domain] = now
        for domain, requests, suspended in self._draft.domains.values():
            if suspended:
                self._draft.barred.append((domain, PageState.RATE_LIMITED))
            elif budget and requests >= budget:
                self._draft.barred.append((domain, PageState.REQUEST_LIMIT_HIT))
        self._write()


class Assembly(msgspec.Struct, frozen=True):
    """Where a map goes, and what is known of it besides its pages."""

    database: Path
    policy: FrontierPolicy
    run: MapRun
    began_at: float
    job: str  # as in the note
    last_bucket: int


async def assemble(to: Assembly, source: SharedMap, lock: FolderLock) -> list[HostWait]:
    """Replaces the map in ``to.database``; its run has yet to be ended. ``lock``: of that map. Returns the
    hosts that have pages left."""
    unfinished = to.database.with_name(f"{to.database.name}{_UNFINISHED}")
    _remove(unfinished)
    store = AssembledMap(unfinished, to.policy, to.began_at, to.run, lock=lock)
    try:
        await store.restore([StoredNote(*note) for note in await source.all_notes()])
        await store.restore([StoredNote(SHARED_JOB, to.job)])
        await store.restore(await source.all_robots())
        await store.restore(await source.hosts_of(0, to.last_bucket))
        opened = await _enter(store, source)
        await _link(store, source)
        spent = await source.spent_of(0, to.last_bucket)
        store.limit(spent)
    finally:
        await store.aclose()
    _remove(to.database)
    unfinished.rename(to.database)
    return _waits(opened, spent, to.policy.pacing.host_budget)


async def _enter(store: AssembledMap, source: SharedMap) -> Counter[str]:
    """Returns the number of pages that wait, by host."""
    opened, some = Counter[str](), list[tuple[StoredUrl, float, bool]]()
    async for page in source.mapped():
        if page[0].verdict is None:
            opened[host_key(page[0].candidate.url)] += 1
        some.append(page)
        if len(some) == _AT_ONCE:
            store.enter(some)
            some = []
    store.enter(some)
    return opened


async def _link(store: AssembledMap, source: SharedMap) -> None:
    some: list[tuple[str, list[str]]] = []
    async for page in source.all_links():
        some.append(page)
        if len(some) == _AT_ONCE:
            store.link(some)
            some = []
    store.link(some)
    store.finish_depths()


def _waits(opened: Counter[str], spent: Iterable[tuple[str, int, str]], budget: int) -> list[HostWait]:
    asked = {host: (requests, why) for host, requests, why in spent}
    waits = []
    for host, number in opened.items():
        requests, why = asked.get(host, (0, ""))
        over = bool(budget) and requests >= budget
        waits.append(HostWait(host, number, 0, INFINITY, BUDGET_SPENT if over else why or "spacing"))
    return waits


def end_assembled(database: Path, status: str, now: float) -> None:
    rows = MapRows(database, strict=False)
    try:
        last = rows.last_run()
        assert last is not None
        rows.run_id = last[0]
        end_run(rows, status, now)
        rows.run_sql(sql.PUT_NOTE, (UNANNOUNCED, ""))
    finally:
        rows.close()


def shared_job_of(database: Path) -> str | None:
    """The job that the map was taken from; empty for a map of this machine, None if there is no map."""
    if not database.is_file():
        return None
    rows = MapRows(database, strict=False, readonly=True)  # refuses a file that is damaged or not a map
    try:
        return rows.note(SHARED_JOB) or ""
    finally:
        rows.close()


def leave_shared_job(database: Path, *, consent: bool) -> None:
    """Before a run on this machine alone: others may still work on what the map was taken from."""
    job = shared_job_of(database)
    if not job:
        return
    rows = MapRows(database, strict=False)
    try:
        last = rows.last_run()
        if last is not None and last[2] != COMPLETED and not consent:
            address, _, name = job.partition("#")
            raise StateError(
                f"{database} is of the job {name} in a database, which is not over: go on with it by "
                f"--state {address} --job {name}, or give --resume to go on alone, once it is stopped there"
            )
        rows.run_sql(sql.PUT_NOTE, (SHARED_JOB, ""))
    finally:
        rows.close()


def _remove(database: Path) -> None:
    """With what a reader may have left beside it, which would be taken for that of its successor."""
    for name in (database.name, f"{database.name}-wal", f"{database.name}-shm"):
        database.with_name(name).unlink(missing_ok=True)

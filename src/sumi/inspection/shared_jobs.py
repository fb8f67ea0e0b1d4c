"""Jobs in a database, looked at and steered from outside: a wish is a row that all workers read."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from sumi.engine.completeness import counted, noted_standing
from sumi.engine.summary import balanced
from sumi.errors import StateError, UsageError
from sumi.inspection.contents import Garbage, collect_garbage, stored_content_findings
from sumi.inspection.explain import Explanation, explain_in
from sumi.inspection.status import JobStatus, waiting_host
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.state.check import Finding, ledger_violations
from sumi.state.cluster.jobs import JobRow, all_jobs, find_job, wish
from sumi.state.cluster.schema import require_tables, set_up
from sumi.state.cluster.server import Check, examine
from sumi.state.cluster.session import connect, shown
from sumi.state.cluster.snapshot import ClusterSnapshot, WorkerRow
from sumi.state.cluster.timing import Timing

LONG_TRANSACTION = 600.0  # seconds
MUCH_MAIL = 10_000  # letters


async def set_up_database(address: str) -> list[str]:
    """``sumi state setup``: returns what was done, and what is left to do."""
    connection = await connect(address, Timing())
    try:
        return await set_up(connection)
    finally:
        await connection.close()


async def examine_server(address: str) -> list[Check]:
    """``sumi doctor``: its settings, and what would be better."""
    connection = await connect(address, Timing())
    try:
        return await examine(connection)
    finally:
        await connection.close()


async def only_job_in(address: str, name: str | None) -> JobRow:
    """The one of this name, or the only one."""
    connection = await connect(address, Timing())
    try:
        return await find_job(connection, name)
    finally:
        await connection.close()


async def jobs_in(address: str, name: str | None = None) -> list[JobRow]:
    """All jobs, or the one of this name."""
    if name is not None:
        return [await only_job_in(address, name)]
    connection = await connect(address, Timing())
    try:
        await require_tables(connection)
        return await all_jobs(connection)
    finally:
        await connection.close()


@asynccontextmanager
async def looking_at_job(
    address: str, job: JobRow, *, at_one_moment: bool = False
) -> AsyncIterator[ClusterSnapshot]:
    snapshot = await ClusterSnapshot.open(address, job, time.time(), at_one_moment=at_one_moment)
    try:
        yield snapshot
    finally:
        await snapshot.aclose()


async def shared_status(address: str, job: JobRow) -> JobStatus:
    """From what workers write of themselves: nothing is scanned, however large the job is."""
    now = time.time()
    async with looking_at_job(address, job) as store:
        raw, workers = await store.stats(), await store.workers()
        living = [worker for worker in workers if worker.is_alive]
        told = None if living else await noted_standing(store, raw)
        settings = await load_saved_settings(store)
        stats = counted(raw, settings.max_pages if settings else 0, told)
        state = "interrupted" if stats.pending or not stats.known else "complete"
        if told is not None:
            state = told.status
        if living:
            state = "running" if job.wish == "run" else "paused" if job.wish == "pause" else "stopping"
        waits = await store.waiting_hosts(now) if stats.pending else []
        return JobStatus(
            folder=f"{shown(address)} --job {job.name}",
            state=state,
            target=settings.url if settings else None,
            process=None,
            discovered=stats.known,
            outcomes=balanced(stats),
            balanced=sum(stats.outcomes.values()) + stats.pending == stats.known,
            pages_per_second=None,
            eta_seconds=None,
            hosts=tuple(waiting_host(wait, 1 if living else None) for wait in waits),
            at=now,
            job=job.kind,
            notes=await _notes(store, living),
            left_out={} if told is None else told.left_out,
            excused={} if told is None else told.excused,
        )


async def _notes(store: ClusterSnapshot, living: Sequence[WorkerRow]) -> tuple[str, ...]:
    notes = [f"worker {one.name}, heard of {one.silence:.0f} s ago" for one in living]
    if not living:
        notes.append("nobody works on it: sumi worker with this address goes on")
    if store.job.pages_left is not None:
        notes.append(f"{store.job.pages_left:,} pages of --max-pages are not given to a worker yet")
    letters = await store.letters()
    if letters > MUCH_MAIL:
        notes.append(f"{letters:,} letters wait for the owners of their hosts: more workers would help")
    oldest = await store.oldest_transaction()
    if oldest > LONG_TRANSACTION:
        notes.append(
            f"a transaction in this database has been open for {oldest / 60:.0f} minutes, which keeps vacuum "
            "from its work: end it"
        )
    return tuple(notes)


async def explain_shared(url: str, address: str, job: JobRow) -> Explanation:
    async with looking_at_job(address, job) as store:
        return await explain_in(url, f"{shown(address)} --job {job.name}", store)


async def check_shared(address: str, name: str | None, *, deep: bool) -> list[Finding]:
    """``sumi state check``: whether its endings and its contents agree. Workers may go on."""
    job = await only_job_in(address, name)
    async with looking_at_job(address, job, at_one_moment=True) as store:
        if not job.store:
            return [Finding(words) async for words in ledger_violations(store, 0)]
        return [one async for one in stored_content_findings(store, job.store, deep=deep)]


async def collect_shared(address: str, name: str | None, *, dry_run: bool) -> Garbage:
    """``sumi state gc``. Workers may go on: what they store is younger than what is removed."""
    job = await only_job_in(address, name)
    if not job.store:
        raise UsageError(f"{job.name} keeps its contents in files, so there are no segments to remove")
    async with looking_at_job(address, job) as store:
        return await collect_garbage(store, job.store, dry_run=dry_run)


class Wished(msgspec.Struct, frozen=True):
    job: str
    workers: int  # that will hear of it


async def make_wish(address: str, name: str | None, wanted: str) -> Wished:
    """``sumi pause``, ``resume`` and ``stop``: run, pause or stop."""
    connection = await connect(address, Timing())
    try:
        job = await find_job(connection, name)
        if wanted == "pause" and job.wish == "stop":
            raise StateError(f"the job {job.name} is stopped: sumi resume lets it go on")
        await wish(connection, job, wanted)
    finally:
        await connection.close()
    async with looking_at_job(address, job) as store:
        return Wished(job.name, sum(worker.is_alive for worker in await store.workers()))

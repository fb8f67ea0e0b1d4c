"""Creates the components of every run: its store, fetcher, digester and event loop."""

import asyncio
import contextlib
import os
import random
import resource
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from sumi.assembly.own_hosts import OwnFetcher
from sumi.engine.io import Io
from sumi.errors import UsageError
from sumi.events import Busy, Event, Listener, Warned
from sumi.fetch.browser.rendering import rendering
from sumi.fetch.http import FirstContact, HttpFetcher
from sumi.fetch.replay import ReplayFetcher
from sumi.files.shared_pace import SharedPace, default_file
from sumi.files.warc import WarcRecorder
from sumi.policy import Durability, FrontierPolicy, ParseLimits, RenderMode, StateBackend
from sumi.ports import Clock, Digester, Fetcher, JobStore, Output, Store, Team
from sumi.recipe import Job
from sumi.state.folder import backend_named, backend_to_use, holds_state
from sumi.state.growing import GrowingStore, remove_journal
from sumi.state.journal.journal import journal_bytes
from sumi.state.lock import FolderLock
from sumi.workers.pool import InProcessDigester, WorkerPool

STATE_FOLDER = ".sumi"
# Bytes. Longer journals take more than a second to read before anything else can be shown.
LONG_JOURNAL = 32 * 1024 * 1024
# Each request needs a few file descriptors. Running out of them would look like hosts that cannot be reached.
# The event loop, the journal, the logs and the terminal need about 20; each worker process needs its pipes.
RESERVED = 28
PER_PROCESS = 4
# A socket, the resolver's two, and a second socket while two addresses are tried.
PER_REQUEST = 4
# Shares of all descriptors: one in eight for open folders, one in four for idle connections.
SHARE_OF_FOLDERS = 8
SHARE_OF_IDLE = 4
# More is not needed, and a huge limit makes some system calls slow.
ENOUGH = 8192
T = TypeVar("T")


def open_store(
    backend: StateBackend | None,
    folder: Path,
    policy: FrontierPolicy,
    now: float,
    durability: Durability,
    tell: Listener,
    lock: FolderLock | None = None,
) -> JobStore:
    """``backend``: None for that of the existing state, or else a journal that becomes a database once it is
    too large. ``lock``: of the folder, if it is held already."""
    found = backend_to_use(folder, backend)
    if found is StateBackend.FILES and (size := journal_bytes(folder)) > LONG_JOURNAL:
        tell(Busy(f"reading the state of this job, {size / 1024**2:,.0f} MB"))
    if backend is None and found is StateBackend.FILES:
        return GrowingStore(folder, policy, now, durability, tell, lock=lock)
    store = backend_named(found)(folder, policy, now, durability, lock)
    if found is not StateBackend.FILES:
        remove_journal(folder)
    return store


def refuse_state_in(folder: Path) -> None:
    """For a job whose state is in a database: the folder must not have one of its own."""
    if holds_state(folder):
        raise UsageError(
            f"{folder} holds the state of a job already: give another folder, continue without --state, "
            "or move it into the database with `sumi state migrate`"
        )


def team_of(store: JobStore) -> Team | None:
    """Those who share the job, if its store is one that can be shared."""
    return cast("Team", store) if hasattr(store, "judge_with") else None


@asynccontextmanager
async def connected(
    job: Job,
    store: Store,
    output: Output,
    clock: Clock,
    listeners: Sequence[Listener],
    processes: int | None,
    *,
    must_reach: bool = False,
    warc: str | None = None,
    team: Team | None = None,
) -> AsyncIterator[Io]:
    """The engine's connections, which are closed afterwards. The caller closes the store.

    ``must_reach``: if the first request cannot be made, fail at once instead of retrying. ``warc``: the file
    that exchanges are archived in. ``team``: of a job that others work on too."""
    recorder = None if warc is None else WarcRecorder(Path(warc))
    try:
        if recorder is not None:
            await recorder.load(store)
        tell = teller(listeners)
        http = None if job.replay else new_http(job, clock, keep_exchanges=recorder is not None)
        fetcher = new_fetcher(job, clock, tell, http, must_reach=must_reach)
        if team is not None:
            fetcher = OwnFetcher(fetcher, team, clock)
        digester = new_digester(processes, job.recipe.parse)
        pace = _shared_pace(job, tell)
        try:
            ways = (store, store, fetcher, digester, output, clock, tell, random.random)
            io = Io(*ways, recorder=recorder, pace=pace, team=team)
            if http is not None and job.network.per_address:
                io = replace(io, per_address=job.network.per_address, address_of=http.address_of)
            yield io
        finally:
            await fetcher.aclose()
            await digester.aclose()
            if pace is not None:
                pace.close()
    finally:
        if recorder is not None:
            recorder.close()


def _shared_pace(job: Job, tell: Listener) -> SharedPace | None:
    """None for a job that has no pace, or shares it with nobody."""
    pacing = job.recipe.pacing
    if not job.network.shared_pace or job.replay or not max(pacing.delay, pacing.sitemap_delay):
        return None
    file = default_file()
    try:
        return SharedPace(file)
    except OSError as error:
        why = error.strerror or str(error)
        tell(Warned(f"{file} cannot be used ({why}): other jobs on this machine keep a pace of their own"))
        return None


def new_http(job: Job, clock: Clock, *, keep_exchanges: bool = False) -> HttpFetcher:
    return HttpFetcher(job.limits, job.network, clock, keep_exchanges=keep_exchanges)


def new_fetcher(
    job: Job, clock: Clock, tell: Listener, http: HttpFetcher | None, *, must_reach: bool
) -> Fetcher:
    """``http``: None for a job that is answered by an archive."""
    if http is None:
        return _replaying(job, tell)
    fetcher = rendering(http, job.render, job.limits, job.network, clock)
    return FirstContact(fetcher) if must_reach else fetcher


def replayed(job: Job, archives: Sequence[str]) -> Job:
    """The job, answered by archives: there is no server to be polite to."""
    if not archives:
        return job
    if job.render.mode is not RenderMode.NONE:
        raise UsageError(
            "--replay answers from an archive and --render needs the network: leave one of them out"
        )
    unpaced = msgspec.structs.replace(job.recipe.pacing, delay=0.0, sitemap_delay=0.0, slow_factor=0.0)
    return msgspec.structs.replace(
        job,
        recipe=msgspec.structs.replace(job.recipe, pacing=unpaced),
        frontier=msgspec.structs.replace(job.frontier, pacing=unpaced),
        replay=tuple(archives),
        notes=(*job.notes, "answers come from an archive (--replay); nothing is requested from the site"),
    )


def _replaying(job: Job, tell: Listener) -> ReplayFetcher:
    tell(Busy(f"reading {' and '.join(job.replay)}"))
    fetcher = ReplayFetcher([Path(path) for path in job.replay], job.limits)
    for note in fetcher.notes():
        tell(Warned(note))
    return fetcher


def new_digester(processes: int | None, limits: ParseLimits) -> Digester:
    count = worker_count(processes)
    if not count:
        return InProcessDigester()
    cpu = limits.cpu_seconds
    return WorkerPool(count, cpu_seconds=cpu, wall_seconds=1.5 * cpu, memory_bytes=limits.memory_bytes)


def worker_count(processes: int | None) -> int:
    return workers_for(_usable_cores()) if processes is None else processes


def workers_for(cores: int) -> int:
    """One for each core but that of the crawling process. On two cores that would be too few: the crawling
    process does a third of the work on a page, and a second worker uses the rest of its core. With a single
    core there is still a worker: it costs a few percent, and no page can hang or crash the crawl."""
    return max(min(2, cores), cores - 1)


def _usable_cores() -> int:
    """Those that this process may use: a container or taskset may restrict it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def affordable(job: Job, processes: int | None) -> Job:
    """The job, with no more concurrent requests than the limit on open files allows."""
    wanted, most = job.recipe.concurrency, affordable_requests(worker_count(processes))
    if wanted <= most:
        return job
    note = f"{most} requests at once instead of {wanted}: the limit on open files (ulimit -n) allows no more"
    recipe = msgspec.structs.replace(job.recipe, concurrency=most)
    return msgspec.structs.replace(job, recipe=recipe, notes=(*job.notes, note))


def teller(listeners: Sequence[Listener]) -> Listener:
    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    with closing(main):  # no warning if an interrupt comes before it has started
        try:
            import uvloop
        except ImportError:  # not on every platform
            return asyncio.run(main)
        return uvloop.run(main)


def raise_limit() -> None:
    """As far as is useful and allowed without privileges."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard < 0 else min(hard, ENOUGH)
    if 0 <= soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # the old limit serves too
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def affordable_requests(processes: int) -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < 0:
        limit = ENOUGH
    left = limit - limit // SHARE_OF_FOLDERS - limit // SHARE_OF_IDLE - RESERVED - PER_PROCESS * processes
    return max(1, left // PER_REQUEST)

"""A run of a map that is in a database, where many machines work on it."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import msgspec

from sumi.assembly.many_machines import join
from sumi.assembly.operating import operated
from sumi.assembly.parts import affordable, connected, raise_limit, team_of, teller
from sumi.assembly.shared_job import SharedRecipe
from sumi.engine.control import Control, obeying_signals
from sumi.engine.io import SystemClock
from sumi.engine.run import Run
from sumi.errors import StateError, SumiError, UsageError
from sumi.events import Listener, Summary
from sumi.jobs.map.config import MapConfig
from sumi.jobs.map.recipe import map_job
from sumi.jobs.map.run import MapRequest, Notice, map_run, place_of, send_notice, write_map_summary
from sumi.jobs.map.sharing import (
    SharedMapOutput,
    config_for_worker,
    refuse_what_is_not_shared,
    shared_map,
)
from sumi.jobs.map.store.assembling import Assembly, end_assembled, shared_job_of
from sumi.jobs.map.store.map_store import map_lock
from sumi.jobs.map.store.runs import COMPLETED, INTERRUPTED
from sumi.recipe import Job
from sumi.settings.operating import Operating
from sumi.state.cluster.jobs import age_of
from sumi.state.cluster.keys import BUCKETS
from sumi.state.cluster.map_store import ClusterMapStore
from sumi.state.cluster.schema import has_map_tables, require_tables
from sumi.state.cluster.session import asking, patiently
from sumi.urls import split


async def join_map(
    recipe: SharedRecipe, address: str, name: str, own: Mapping[str, object], listeners: Sequence[Listener]
) -> Summary:
    """``sumi worker``: help with a map that is in a database already."""
    if "seen_memory" in own:
        raise UsageError("--seen-memory is not for a map: any of its pages may come nearer at any time")
    raise_limit()
    config = config_for_worker(recipe, name, own)
    operating = {field: own[field] for field in Operating.__struct_fields__ if field in own}
    request = MapRequest(min_free=own.get("min_free"), state=address, job=name, **operating)  # type: ignore[arg-type]
    job = affordable(map_job(config), None)
    if "browser" in own:
        job = msgspec.structs.replace(job, render=msgspec.structs.replace(job.render, browser=own["browser"]))
    async with operated(request, job, listeners) as heard:
        return await run_shared(config, job, heard, Control(), request, joins=True)


async def run_shared(
    config: MapConfig,
    job: Job,
    listeners: Sequence[Listener],
    control: Control,
    request: MapRequest,
    *,
    joins: bool = False,
) -> Summary:
    assert request.state is not None
    if request.handlers:
        raise UsageError("handlers are for a map on one machine: read the map of one in a database")
    refuse_what_is_not_shared(config)
    shared = shared_map(config, request.state, request.job, joins=joins)
    # Whether an earlier run of a shared job may be retried is not for one of its machines to say.
    job = msgspec.structs.replace(job, recipe=msgspec.structs.replace(job.recipe, retry_earlier=False))
    place, database = place_of(config, request), config.output.database_path
    clock, tell = SystemClock(), teller(listeners)
    async with AsyncExitStack() as stack:
        lock = map_lock(database, "sumi map")
        stack.callback(lock.release)
        origin = f"{request.state}#{shared.name}"
        _require_own(database, origin)
        began_at = await patiently(lambda: _began_at(shared.address, shared.name, clock.now()), tell)
        store, _ = await join(shared, job, clock, tell, control, _store_of(config))
        stack.push_async_callback(store.aclose)
        assert isinstance(store, ClusterMapStore)
        to = Assembly(
            database, job.frontier, map_run(config, request), began_at, origin, last_bucket=BUCKETS - 1
        )
        output = SharedMapOutput(store, to, lock)
        io = await stack.enter_async_context(
            connected(job, store, output, clock, listeners, request.processes, team=team_of(store))
        )
        run = Run(job, place, io, store, output, control, has_lone_page=output.has_lone_page)
        hooks, notice = config.webhooks, Notice(1, COMPLETED, str(database), 0)
        try:
            with obeying_signals(control):
                summary = await run.run()
            if summary.status == "aborted":
                return summary
            status = INTERRUPTED if summary.status == "interrupted" else COMPLETED
            end_assembled(database, status, clock.now())
            write_map_summary(config)
        except SumiError as error:
            failed = msgspec.structs.replace(notice, status=INTERRUPTED, error=str(error))
            await send_notice(io.fetcher, tell, hooks.on_error, failed)
            raise
        if status == COMPLETED:
            ended = msgspec.structs.replace(notice, discovered=summary.discovered)
            await send_notice(io.fetcher, tell, hooks.on_complete, ended)
        return summary


def _store_of(config: MapConfig) -> partial[ClusterMapStore]:
    classes = config.classes
    return partial(
        ClusterMapStore,
        is_home=lambda url: classes.origin_of(split(url).host) is not None,
        max_depth=config.crawler.max_depth,
    )


def _require_own(database: Path, origin: str) -> None:
    found = shared_job_of(database)
    if found is not None and found != origin:
        raise UsageError(
            f"{database} holds another map already: name another file, or give another folder by --output"
        )


async def _began_at(address: str, name: str, now: float) -> float:
    async with asking(address) as connection:
        await require_tables(connection)
        if not await has_map_tables(connection):
            raise StateError(
                "this database was set up by a version of sumi that shared no maps: run `sumi state setup` "
                "with its address once more"
            )
        return now - await age_of(connection, name)

"""Joins a job in a database, on which many machines work."""

import os
import socket
from collections.abc import Callable
from typing import Final

import msgspec

from sumi.assembly.shared_job import SharedJob, SharedRecipe, read_recipe
from sumi.engine.control import Control
from sumi.errors import StateError, UsageError
from sumi.events import Listener
from sumi.files.contents_place import agreed_contents, new_contents
from sumi.ports import Clock
from sumi.recipe import Job
from sumi.state.cluster.admission import BYTES_OF_URL
from sumi.state.cluster.jobs import JobRow, change_limit, find_job, keep_recipe, make_job, wish
from sumi.state.cluster.session import asking, patiently
from sumi.state.cluster.store import ClusterStore


async def look_up(address: str, name: str | None, tell: Listener) -> JobRow:
    async def look() -> JobRow:
        async with asking(address) as connection:
            return await find_job(connection, name)

    return await patiently(look, tell)


async def join(
    shared: SharedJob,
    job: Job,
    clock: Clock,
    tell: Listener,
    control: Control,
    make: Callable[..., ClusterStore] = ClusterStore,
) -> tuple[ClusterStore, str | None]:
    """Work on the job; a command that brings its recipe makes it unless it is there. Also returns where its
    contents are, if not in files. ``make``: the store of the kind of job."""
    row = await patiently(lambda: _row_of(shared, job), tell)
    timing = read_recipe(row.name, row.recipe).timing
    store = make(
        shared.address,
        row.id,
        job.frontier,
        clock.now(),
        name=f"{socket.gethostname()}:{os.getpid()}",
        clock=clock.now,
        timing=timing,
        tell=tell,
        heed=lambda wanted: _heed(wanted, control),
        most_done=None if shared.seen_memory is None else shared.seen_memory // BYTES_OF_URL,
    )
    try:
        await patiently(store.open, tell)
    except BaseException:
        await store.aclose()
        raise
    return store, row.store or None


async def _row_of(shared: SharedJob, job: Job) -> JobRow:
    async with asking(shared.address) as connection:
        if shared.recipe is None:
            return await find_job(connection, shared.name)
        text = msgspec.json.encode(shared.recipe).decode()
        limit = job.frontier.max_pages
        contents = "" if shared.store is None else new_contents(shared.store, shared.name)
        row = await make_job(connection, shared.name, shared.kind, text, contents, job.recipe.seeds, limit)
        before = read_recipe(row.name, row.recipe)
        _refuse_another(shared, row, before)
        agreed_contents(row.store or None, shared.store, row.name, is_new=False)
        if row.recipe != text:
            recipe = msgspec.structs.replace(shared.recipe, timing=before.timing)
            await keep_recipe(connection, row, msgspec.json.encode(recipe).decode())
            await change_limit(connection, row, limit)
        if row.wish == "stop":  # whoever starts it again wants it to run
            await wish(connection, row, "run")
        return row


# What makes it another job, if it differs.
_DECISIVE: Final = {"capture": "urls", "map": "config_hash"}


def _refuse_another(shared: SharedJob, row: JobRow, before: SharedRecipe) -> None:
    assert shared.recipe is not None
    if row.state != "ready":
        raise StateError(f"the job {row.name} is being copied into the database by sumi state migrate")
    key = _DECISIVE.get(shared.kind, "url")
    ours, theirs = (each.settings.get(key) for each in (shared.recipe, before))
    if row.kind != shared.kind or (ours is not None and theirs is not None and ours != theirs):
        about = "" if theirs is None else f" of {msgspec.json.decode(theirs)}"
        if row.kind == "map":
            about = " of another configuration"
        raise UsageError(
            f"the database has a job {row.name} already, a {row.kind}{about}: give this one another name by "
            "--job"
        )


def _heed(wanted: str, control: Control) -> None:
    if wanted == "run":
        control.resume("the job goes on")
    elif wanted == "pause":
        control.pause("the job is paused for all workers")
    elif not control.stopping:
        control.stop("the job is stopped for all workers")

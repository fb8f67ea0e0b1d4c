"""Jobs in a database, as folders that stand for them: ``postgresql://HOST/DATABASE`` means all of its jobs,
``postgresql://HOST/DATABASE#NAME`` one."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sumi.errors import StateError
from sumi.files.contents_place import keep_contents
from sumi.state.folder import STATE_FOLDER, WORKSPACE_STATES

if TYPE_CHECKING:
    from sumi.state.cluster.jobs import JobRow

_FOLDER: Final = "sumi/databases"
_CRAWL: Final = "unified"


def linked_folders(place: str) -> list[Path]:
    """The folders of the jobs. Their search index is beside them. Raises StateError."""
    address, _, name = place.partition("#")
    with ThreadPoolExecutor(max_workers=1) as thread:  # an event loop may be running in this one
        rows = thread.submit(asyncio.run, _rows(address, name or None)).result()
    return [_linked(address, row) for row in rows]


async def _rows(address: str, name: str | None) -> "list[JobRow]":
    from sumi.state.cluster.jobs import all_jobs
    from sumi.state.cluster.linked import job_named
    from sumi.state.cluster.schema import require_tables
    from sumi.state.cluster.session import connect
    from sumi.state.cluster.timing import Timing

    if name is not None:
        row = await job_named(address, name)
        if not row.store:
            raise StateError(f"the pages of {name} are in the folders of its workers: it has no --store")
        return [row]
    connection = await connect(address, Timing())
    try:
        await require_tables(connection)
        return [row for row in await all_jobs(connection) if row.state == "ready" and row.store]
    finally:
        await connection.close()


def _linked(address: str, row: "JobRow") -> Path:
    from sumi.state.cluster.linked import Link, write_link

    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    # By its number too: another job may get the name of one that was removed.
    number = sha256(f"{address}\n{row.id}\n{row.store}".encode()).hexdigest()[:16]
    home = usual / _FOLDER / number / row.name
    # A crawl is one by where its state is.
    state = home / WORKSPACE_STATES / _CRAWL if row.kind == _CRAWL else home / STATE_FOLDER
    write_link(state, Link(address, row.name))
    keep_contents(state, row.store)
    return home

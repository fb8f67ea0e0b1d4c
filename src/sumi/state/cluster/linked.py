"""A folder that stands for a job in a database, so that whatever looks at the state of a job by its folder
looks at such a one too. It holds where the job is, and nothing of what it found.
"""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import StateDamaged, StateError
from sumi.outcomes import Outcome
from sumi.ports import Attempt, FrontierStats, HostWait, RobotsRecord, UrlRecord
from sumi.state.cluster.jobs import JobRow, find_job
from sumi.state.cluster.session import connect
from sumi.state.cluster.snapshot import ClusterSnapshot
from sumi.state.cluster.timing import Timing
from sumi.state.folder import DATABASE_FORMAT, FORMAT_NAME, mark_folder

LINK: Final = "database.json"


class Link(msgspec.Struct, frozen=True):
    address: str  # without a password: no address has one
    job: str


def write_link(folder: Path, link: Link) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / LINK).write_bytes(msgspec.json.encode(link) + b"\n")
    if not (folder / FORMAT_NAME).exists():
        mark_folder(folder, DATABASE_FORMAT, 1)


class LinkedSnapshot:
    """Implements ``sumi.ports.Snapshot``: asks the database once something is wanted."""

    def __init__(self, folder: Path, now: float) -> None:
        try:
            self._link = msgspec.json.decode((folder / LINK).read_bytes(), type=Link)
        except (OSError, msgspec.MsgspecError):
            raise StateDamaged(f"{folder / LINK} does not say which database the job is in") from None
        self._now = now
        self._opened: ClusterSnapshot | None = None

    async def _snapshot(self) -> ClusterSnapshot:
        if self._opened is None:
            row = await job_named(self._link.address, self._link.job)
            self._opened = await ClusterSnapshot.open(self._link.address, row, self._now)
        return self._opened

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        async for record in (await self._snapshot()).records(outcomes):
            yield record

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        async for record in (await self._snapshot()).waiting_again():
            yield record

    async def record(self, url: str) -> UrlRecord | None:
        return await (await self._snapshot()).record(url)

    async def history(self, url: str) -> list[Attempt]:
        return await (await self._snapshot()).history(url)

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return await (await self._snapshot()).get_robots(origin)

    async def get_note(self, key: str) -> str | None:
        return await (await self._snapshot()).get_note(key)

    async def stats(self) -> FrontierStats:
        return await (await self._snapshot()).stats()

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return await (await self._snapshot()).waiting_hosts(now)

    async def put_robots(self, record: RobotsRecord) -> None:
        raise StateError(f"the job {self._link.job} is only looked at")

    async def put_note(self, key: str, value: str) -> None:
        raise StateError(f"the job {self._link.job} is only looked at")

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()


async def job_named(address: str, name: str | None) -> JobRow:
    connection = await connect(address, Timing())
    try:
        return await find_job(connection, name)
    finally:
        await connection.close()

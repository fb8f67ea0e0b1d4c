"""A job that is copied into a database: its rows are written while it is marked ``importing``, which nobody
works on, and one update decides. What a killed import left is removed by the next one of that name.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec
from psycopg import AsyncConnection

from sumi.errors import StateError, StateLocked, UsageError
from sumi.model import Kind, PageFacts
from sumi.outcomes import KEPT, Outcome
from sumi.ports import RobotsRecord
from sumi.state.cluster.batch import Batch, clean, facts_text, url_row
from sumi.state.cluster.jobs import JobRow, all_jobs, make_job
from sumi.state.cluster.keys import bucket_of, key_of
from sumi.state.cluster.schema import require_tables
from sumi.state.entries import REFUSED, Entry, Stored, StoredHost, StoredListing, StoredNote, StoredUrl
from sumi.urls import host_key

IMPORTING: Final = "importing"
_NOTHING: Final = PageFacts()
# Those that refer to the job's row come before it.
_TABLES: Final = ("url", "ending", "mail", "host", "robots", "note", "bucket", "worker")


class JobImport:
    """Over one session, whose end gives the lock on the name back."""

    def __init__(
        self, connection: AsyncConnection[Any], row: JobRow, offset: float, left: Sequence[str]
    ) -> None:
        """``left``: where imports that were killed had put contents."""
        self.row = row
        self.left = left
        self._connection = connection
        self._offset = offset  # from our clock to the server's
        self._sequence = 0
        self._totals: Counter[str] = Counter()
        self._open: Counter[int] = Counter()  # by bucket

    @classmethod
    async def begin(
        cls, connection: AsyncConnection[Any], name: str, kind: str, recipe: str, store: str, now: float
    ) -> "JobImport":
        left = await make_way(connection, name)
        row = await make_job(connection, name, kind, recipe, store, (), 0, IMPORTING)
        return cls(connection, row, await _server_time(connection) - now, left)

    async def restore(self, items: Sequence[Stored]) -> None:
        batch, hosts = Batch(), list[StoredHost]()
        for item in items:
            match item:
                case StoredNote():
                    batch.notes[item.key] = item.value
                case RobotsRecord():
                    batch.robots[item.origin] = item
                case StoredHost():
                    hosts.append(item)
                case StoredUrl():
                    self._add(batch, item)
                case StoredListing():
                    self._totals["listed"] = item.pages
        async with self._connection.pipeline(), self._connection.transaction():
            for text, values in batch.statements(self.row.id, hosts, self._offset):
                await self._connection.execute(text, values)

    def _add(self, batch: Batch, item: StoredUrl) -> None:
        candidate, verdict = item.candidate, item.verdict
        if item.address:
            candidate = msgspec.structs.replace(candidate, address=item.address)
        self._sequence += 1
        entry = Entry(candidate, host_key(candidate.url), self._sequence)
        self._totals["known"] += 1
        if verdict is not None:
            self._totals[f"outcome {verdict.outcome}"] += 1
        if item.refused and verdict is not None:
            entry.state, entry.verdict = REFUSED, verdict
            batch.urls.append(url_row(entry))
            return
        batch.urls.append(url_row(entry))
        batch.endings.extend(self._endings(entry, item))
        if verdict is None:
            self._totals[f"open {candidate.kind}"] += 1
            self._open[bucket_of(entry.host)] += 1
        elif verdict.outcome in KEPT and candidate.kind is Kind.PAGE:
            self._totals["captured"] += 1

    def _endings(self, entry: Entry, item: StoredUrl) -> list[tuple[Any, ...]]:
        """Its history, and how it stands as the last of it."""
        verdict, tries = item.verdict, list(item.history)
        if verdict is not None and tries and (tries[-1].at, tries[-1].outcome) == (item.at, verdict.outcome):
            tries.pop()
        rows = [("failed", each.at, each.outcome.value, each.rule) for each in tries]
        at = item.at or 0.0
        if verdict is not None:
            rows.append(("settled", at, verdict.outcome.value, verdict.rule))
        elif item.facts != _NOTHING:
            rows.append(("again", at, "", ""))
        elif rows or item.attempts or item.not_before or item.behind:
            rows.append(("back", at, "", ""))
        due = item.not_before + self._offset if item.not_before else 0.0
        key, last = key_of(entry.host, entry.candidate.url), len(rows)
        facts = "" if item.facts == _NOTHING else facts_text(item.facts)
        return [
            (
                *(key, serial, what, when + self._offset, outcome, clean(rule)),
                *((due, item.attempts, item.behind) if serial == last else (0.0, serial, False)),
                clean(entry.candidate.address),
                item.at + self._offset if item.at is not None and serial == last else None,
                facts if serial == last else "",
            )
            for serial, (what, when, outcome, rule) in enumerate(rows, 1)
        ]

    async def finish(self, outcomes: dict[Outcome, int], pending: int, max_pages: int) -> int:
        """Compares what arrived with what should have, and makes the job one that can be worked on. Returns
        the number of its URLs."""
        found = {
            name.removeprefix("outcome "): number
            for name, number in self._totals.items()
            if name.startswith("outcome ") and number
        }
        wanted = {outcome.value: number for outcome, number in outcomes.items() if number}
        opened = sum(self._open.values())
        answer = await self._connection.execute(
            "SELECT count(*) FROM sumi.url WHERE job = %s", (self.row.id,)
        )
        (arrived,) = await answer.fetchone() or (0,)
        if found != wanted or opened != pending or arrived != self._totals["known"]:
            raise StateError("not copied completely: the counts differ; please report it")
        left = max(0, max_pages - self._totals["captured"]) if max_pages else None
        totals = msgspec.json.encode({name: n for name, n in self._totals.items() if n}).decode()
        async with self._connection.transaction():
            await self._connection.execute(
                """UPDATE sumi.bucket b SET open = x.open FROM unnest(%s::int[], %s::bigint[]) x (id, open)
                WHERE b.job = %s AND b.id = x.id""",
                (list(self._open), list(self._open.values()), self.row.id),
            )
            await self._connection.execute(
                "UPDATE sumi.job SET state = 'ready', totals = %s::jsonb, pages_left = %s WHERE id = %s",
                (totals, left, self.row.id),
            )
        return arrived


async def make_way(connection: AsyncConnection[Any], name: str) -> list[str]:
    """Nobody else imports a job of this name, and none is there. Returns where what was removed had
    contents."""
    await require_tables(connection)
    number = int.from_bytes(blake2b(f"import {name}".encode(), digest_size=8).digest(), signed=True)
    answer = await connection.execute("SELECT pg_try_advisory_lock(%s)", (number,))
    (is_ours,) = await answer.fetchone() or (False,)
    if not is_ours:
        raise StateLocked(f"another command is copying a job {name} into this database: wait for it")
    found = [job for job in await all_jobs(connection) if job.name == name]
    if found and found[0].state != IMPORTING:
        raise UsageError(f"the database has a job {name} already: give this one another name by --job")
    for job in found:
        await _remove(connection, job)
    return [job.store for job in found]


async def _remove(connection: AsyncConnection[Any], job: JobRow) -> None:
    async with connection.transaction():
        for table in _TABLES:
            await connection.execute(f"DELETE FROM sumi.{table} WHERE job = %s", (job.id,))
        await connection.execute("DELETE FROM sumi.job WHERE id = %s AND state = %s", (job.id, IMPORTING))


async def _server_time(connection: AsyncConnection[Any]) -> float:
    answer = await connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
    (now,) = await answer.fetchone() or (0.0,)
    return float(now)

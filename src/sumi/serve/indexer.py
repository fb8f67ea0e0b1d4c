"""``python -m sumi.serve.indexer STATE OUT``: what a window lists of a job, as one SQLite file.

A ledger is read once, in a process of its own, so that the server stays small and answers at once however
large a job is. The counts are those of ``sumi status``, by the same code.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec

from sumi.catalogue.role import MIRROR_SETTINGS
from sumi.errors import SumiError
from sumi.inspection.status import MAP, JobStatus, look, looking_at
from sumi.outcomes import KEPT, MEANINGS, Ending, Outcome
from sumi.ports import Snapshot, UrlRecord
from sumi.serve.map_layout import write_picture
from sumi.serve.schema import ROOT_SLASHES, SCHEMA, folders_of

_BATCH: Final = 2000
_MOST_HOSTS: Final = 2000
_ASKED: Final = (Ending.DONE, Ending.FAILED)  # the endings of what a server was asked for
_INSERT: Final = "INSERT INTO url VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"


async def write_view(state: Path, target: Path) -> None:
    """Replaces the file in one step."""
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        await _write(state, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


async def _write(state: Path, path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    status = await look(state)
    writer = _Writer(db, waiting=_waiting(status))
    with db:
        db.execute(SCHEMA)
        async with looking_at(state) as store:
            await writer.take(store)
            await writer.note_hosts(store)
            saved = await store.get_note(MIRROR_SETTINGS)
        writer.finish()
        if status.job == MAP:
            write_picture(state, db)
        db.execute("INSERT INTO meta VALUES ('status', ?)", (msgspec.json.encode(status).decode(),))
        db.execute("INSERT INTO meta VALUES ('settings', ?)", (saved or "{}",))
    db.close()


def _waiting(status: JobStatus) -> Outcome:
    """What pending URLs count as."""
    is_full = Outcome.OVER_CAP in status.outcomes and Outcome.PENDING not in status.outcomes
    return Outcome.OVER_CAP if is_full else Outcome.PENDING


class _Host:
    __slots__ = ("at", "outcome", "urls")

    def __init__(self) -> None:
        self.urls = 0
        self.at = 0.0  # of the last answer
        self.outcome = ""


class _Writer:
    def __init__(self, db: apsw.Connection, waiting: Outcome) -> None:
        self._db = db
        self._waiting = waiting
        self._groups: Counter[tuple[str, str, str]] = Counter()
        self._folders: Counter[str] = Counter()
        self._fidelity: Counter[int] = Counter()
        self._hosts: dict[str, _Host] = {}  # by origin
        self._number = 0

    async def take(self, store: Snapshot) -> None:
        batch: list[tuple[Any, ...]] = []
        async for record in store.records():
            batch.append(self._row(record))
            if len(batch) == _BATCH:
                self._db.executemany(_INSERT, batch)
                batch.clear()
        self._db.executemany(_INSERT, batch)

    def _row(self, record: UrlRecord) -> tuple[Any, ...]:
        self._number += 1
        outcome = self._waiting if record.outcome is Outcome.PENDING else record.outcome
        facts, ending = record.facts, MEANINGS[outcome].ending
        is_page = _is_page(record)
        folders = folders_of(record.url) if is_page else []
        if is_page:
            self._folders.update(folders)
            if facts.fidelity is not None:
                self._fidelity[min(19, int(facts.fidelity * 20))] += 1
        self._groups[ending, outcome, record.rule] += 1
        origin = folders_of(record.url)[0]
        self._count_host(origin, outcome, record.at if ending in _ASKED else None)
        return (
            self._number,
            record.url,
            origin,
            outcome,
            ending,
            record.rule,
            record.kind,
            record.depth,
            record.referrer,
            record.at,
            record.attempts,
            facts.title,
            facts.fidelity,
            facts.size,
            facts.changed_at,
            int(is_page),
            folders[-1] if folders else None,
            msgspec.json.encode(facts) if is_page or facts.raw or facts.asset else None,
        )

    def _count_host(self, origin: str, outcome: Outcome, answered: float | None) -> None:
        host = self._hosts.setdefault(origin, _Host())
        host.urls += 1
        if answered is not None and answered >= host.at:
            host.at, host.outcome = answered, outcome

    async def note_hosts(self, store: Snapshot) -> None:
        """Those with the most URLs: what each answered last, and to the question for its robots.txt."""
        largest = sorted(self._hosts, key=lambda origin: -self._hosts[origin].urls)[:_MOST_HOSTS]
        for origin in largest:
            host, robots = self._hosts[origin], await store.get_robots(origin.rstrip("/"))
            name, status = origin.partition("://")[2].rstrip("/"), None if robots is None else robots.status
            row = (name, host.urls, host.at or None, host.outcome or None, status)
            self._db.execute("INSERT OR IGNORE INTO host VALUES (?, ?, ?, ?, ?)", row)

    def finish(self) -> None:
        groups = ((*key, count) for key, count in self._groups.items())
        self._db.executemany("INSERT INTO grouped VALUES (?, ?, ?, ?)", groups)
        self._db.executemany("INSERT INTO folder VALUES (?, ?, ?, ?)", self._folder_rows())
        self._db.executemany("INSERT INTO fidelity VALUES (?, ?)", self._fidelity.items())

    def _folder_rows(self) -> Iterator[tuple[str, str, str, int]]:
        for path, pages in self._folders.items():
            cut = path.rfind("/", 0, -1) + 1
            is_root = path.count("/") == ROOT_SLASHES
            yield path, "" if is_root else path[:cut], path if is_root else path[cut:], pages


def _is_page(record: UrlRecord) -> bool:
    if record.facts.asset or record.kind != "page":
        return False
    return record.outcome in KEPT or (record.outcome is Outcome.PENDING and record.facts.path is not None)


def main() -> int:
    state, target = Path(sys.argv[1]), Path(sys.argv[2])
    os.nice(5)
    try:
        asyncio.run(write_view(state, target))
    except (SumiError, apsw.Error, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

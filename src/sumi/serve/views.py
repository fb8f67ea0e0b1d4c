"""The lists of jobs, kept in files that are made again when a job has changed.

A view that is no longer current is still shown, with its time, until the next one is there.
"""

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import msgspec

from sumi.catalogue.find import Job
from sumi.serve.jobs import job_id, stamp_of
from sumi.serve.schema import VIEW_VERSION

QUERY_SECONDS: Final = 10.0
_AT_ONCE: Final = 2  # views in the making
_LONGEST_SECONDS: Final = 900.0
# While a job runs its view is never current: making it takes at most a tenth of the time.
_LEAST_SECONDS: Final = 3.0
_TIMES_ITS_COST: Final = 10.0
_KEPT_DAYS: Final = 30
T = TypeVar("T")


class NotYet(Exception):
    """The view is still in the making, or cannot be made; the text is for people."""


class QueryTooLong(Exception):
    pass


class _Known:
    """What is known of the view of one job."""

    def __init__(self) -> None:
        self.stamp = ""  # of the state that the file shows
        self.made_at = 0.0  # monotonic; when it was last begun
        self.cost = 0.0
        self.problem = ""
        self.making: asyncio.Task[None] | None = None


class Views:
    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _cache_folder()
        self._known: dict[str, _Known] = {}
        self._turn = asyncio.Semaphore(_AT_ONCE)
        _forget_old(self._folder)

    def refresh(self, job: Job) -> _Known:
        """Make it again if the job has changed since, and not just now."""
        known = self._known.setdefault(job_id(job), _Known())
        if known.making is None and not job.damage and self._is_due(job, known):
            known.making = asyncio.create_task(self._make(job, known))
        return known

    def _is_due(self, job: Job, known: _Known) -> bool:
        pause = max(_LEAST_SECONDS, _TIMES_ITS_COST * known.cost) if job.process else _LEAST_SECONDS / 3
        if known.made_at and time.monotonic() - known.made_at < pause:
            return False
        return known.stamp != stamp_of(job)

    async def _make(self, job: Job, known: _Known) -> None:
        try:
            async with self._turn:
                stamp, began = stamp_of(job), time.monotonic()
                known.problem = await _indexed(job, self._path(job))
                known.stamp, known.made_at = stamp, time.monotonic()
                known.cost = known.made_at - began
        finally:
            known.making = None

    async def settled(self, job: Job) -> None:
        """Wait for a first view, so that a page need not ask twice; not for a newer one."""
        known = self.refresh(job)
        if known.making is not None and (not self.is_ready(job) or job.process is None):
            await asyncio.wait([known.making], timeout=QUERY_SECONDS)

    def problem(self, job: Job) -> str:
        return job.damage or self._known.setdefault(job_id(job), _Known()).problem

    def is_ready(self, job: Job) -> bool:
        """A file of an earlier window counts only after its job was looked at again."""
        return bool(self._known.setdefault(job_id(job), _Known()).stamp) and self._path(job).is_file()

    async def ask(self, job: Job, question: Callable[["View"], T]) -> T:
        """Raises NotYet if there is no view, QueryTooLong after ten seconds."""
        await self.settled(job)
        if not self.is_ready(job):
            raise NotYet(self.problem(job) or "The job is still being read; this takes a moment.")
        return await asyncio.to_thread(self._asked, job, question)

    def _asked(self, job: Job, question: Callable[["View"], T]) -> T:
        with _opened(self._path(job)) as db, interrupted_after(db, QUERY_SECONDS):
            return question(View(db))

    def _path(self, job: Job) -> Path:
        return self._folder / f"{job_id(job)}.{VIEW_VERSION}.sqlite"

    async def aclose(self) -> None:
        tasks = [known.making for known in self._known.values() if known.making is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class View:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def rows(self, statement: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._db.execute(statement, tuple(bindings)))

    def status(self) -> dict[str, Any]:
        """As ``sumi status --json`` has it."""
        return self._meta("status")

    def settings(self) -> dict[str, Any]:
        """What a mirror saved of its settings; no secrets are among them."""
        return self._meta("settings")

    def _meta(self, key: str) -> dict[str, Any]:
        text = self.rows("SELECT value FROM meta WHERE key = ?", (key,))[0][0]
        return msgspec.json.decode(text, type=dict[str, Any])


async def _indexed(job: Job, target: Path) -> str:
    """What went wrong; "" if nothing did."""
    command = (sys.executable, "-m", "sumi.serve.indexer", str(job.state), str(target))
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LONGEST_SECONDS):
            _, words = await process.communicate()
    except TimeoutError:
        return f"Reading the job took more than {_LONGEST_SECONDS:.0f} seconds; sumi status may tell more."
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = words.decode("utf-8", "replace").strip().splitlines()
    return "" if process.returncode == 0 else (lines[-1] if lines else "The job cannot be read.")


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        yield db


@contextmanager
def interrupted_after(db: apsw.Connection, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, db.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except apsw.InterruptError:
        raise QueryTooLong(f"This took more than {seconds:.0f} seconds: ask for less.") from None
    finally:
        timer.cancel()
        timer.join()


def _cache_folder() -> Path:
    """Of this user alone: titles and URLs of private sites are in it."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base, "sumi", "window")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
            folder.chmod(0o700)
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="sumi-window-"))


def _forget_old(folder: Path) -> None:
    oldest = time.time() - _KEPT_DAYS * 86400
    for path in folder.glob("*.sqlite*"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:
            continue

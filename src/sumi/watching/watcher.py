"""The process that starts jobs when they are due. Each job is a process of its own, as if it were typed.

A job's process holds its lock, so a job is never run twice, even if the watcher was killed and another one
was started meanwhile. A start is recorded before the process is created, and an end after it: a run
whose end was not recorded is repeated once, which continues it.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import INTERRUPTED, StateError
from sumi.files.disk_errors import explained
from sumi.state.lock import FolderLock, lock_owner, make_folders
from sumi.watching.plan import LastRun, Plan, WatchedJob, load_plan, next_due

LOOK_SECONDS: Final = 30.0  # the machine may sleep, and a lock of an earlier watcher's job become free
SHORTEST_SECONDS: Final = 0.05
_RECORD: Final = "record.json"
_LOG_BYTES: Final = 8 * 1024 * 1024
_MOST_FOUND: Final = 100
_PATIENCE: Final = 5
_PATIENCE_SECONDS: Final = 0.01

Tell = Callable[[str], None]


class JobWatch(msgspec.Struct, frozen=True):
    """How a watched job stands."""

    name: str
    command: str
    schedule: str
    running: bool
    due: float  # when it starts next; in the past if it is due now
    started: float | None = None
    ended: float | None = None
    code: int | None = None


class Record:
    """What ran when, in a file that is replaced whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _RECORD
        self.runs: dict[str, LastRun] = {}
        try:
            self.runs = msgspec.json.decode(self._path.read_bytes(), type=dict[str, LastRun])
        except FileNotFoundError:
            pass
        except (OSError, msgspec.MsgspecError) as error:
            raise StateError(
                f"{self._path} cannot be read ({error}): remove it to begin with every job due"
            ) from None

    def note(self, name: str, run: LastRun) -> None:
        self.runs[name] = run
        beside = self._path.with_suffix(".new")
        with explained(self._path):
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(self.runs)))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self._path)


class Watcher:
    def __init__(self, plan: Plan, tell: Tell, now: Callable[[], float] = time.time) -> None:
        self._plan = plan
        self._tell = tell
        self._now = now
        self._record = Record(plan.folder)
        self._running: dict[str, asyncio.Task[int]] = {}
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()
        self.codes: list[int] = []
        for job in plan.jobs:  # so that a cron time which passes while nobody watches counts as missed
            if job.name not in self._record.runs:
                self._record.note(job.name, LastRun(now()))

    def stop(self) -> None:
        """Ask the jobs to end; a second call is passed on, too, and ends them at once."""
        self._stopping.set()
        for child in self._children.values():
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)

    async def run(self, *, once: bool) -> None:
        """``once``: only what is due now."""
        waiting = {job.name for job in self._plan.jobs if self._due(job) <= self._now()} if once else None
        while not self._stopping.is_set():
            started = self._start_due(waiting)
            if once and not self._running and not started and not waiting:
                return
            await self._wait()
        while self._running:
            await asyncio.wait(self._running.values())
            self._reap()

    def _due(self, job: WatchedJob) -> float:
        return next_due(job, self._record.runs.get(job.name), self._now())

    def _start_due(self, only: set[str] | None) -> bool:
        started = False
        for job in sorted(self._plan.jobs, key=self._due):
            if len(self._running) >= self._plan.at_once:
                break
            wanted = only is None or job.name in only
            if wanted and job.name not in self._running and self._due(job) <= self._now():
                started |= self._start(job)
                if only is not None:
                    only.discard(job.name)
        return started

    def _start(self, job: WatchedJob) -> bool:
        lock = _locked(self._plan.folder / f"{job.name}.lock")
        if lock is None:
            self._tell(f"{job.name}: still running, started by an earlier watcher")
            return False
        now = self._now()
        run = LastRun(min(self._due(job), now), now)
        self._record.note(job.name, run)
        self._tell(f"{job.name}: starts")
        self._running[job.name] = asyncio.create_task(self._run(job, lock), name=job.name)
        return True

    async def _run(self, job: WatchedJob, lock: int) -> int:
        log = _log(log_of(self._plan.path, job.name))
        try:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "sumi", *job.words),
                cwd=self._plan.path.parent,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )
        finally:
            os.close(log)
            os.close(lock)
        self._children[job.name] = child
        if self._stopping.is_set():
            self.stop()
        return await child.wait()

    def _reap(self) -> None:
        for name, task in list(self._running.items()):
            if task.done():
                del self._running[name]
                self._children.pop(name, None)
                self._note_end(name, task.result())

    def _note_end(self, name: str, code: int) -> None:
        self.codes.append(code)
        # Below zero: a signal that came while it was starting.
        if self._stopping.is_set() and (code == INTERRUPTED or code < 0):
            self._tell(f"{name}: interrupted; it continues with the next watch")
            return
        run = self._record.runs[name]
        self._record.note(name, msgspec.structs.replace(run, ended=self._now(), code=code))
        self._tell(f"{name}: ended with exit code {code}")

    async def _wait(self) -> None:
        free = len(self._running) < self._plan.at_once
        due = [self._due(job) for job in self._plan.jobs if free and job.name not in self._running]
        soonest = min((moment - self._now() for moment in due if moment > self._now()), default=LOOK_SECONDS)
        seconds = max(SHORTEST_SECONDS, min(soonest, LOOK_SECONDS))
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait(
            {stopping, *self._running.values()}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        stopping.cancel()
        self._reap()


async def watch(
    file: str | os.PathLike[str], *, once: bool = False, tell: Tell = lambda words: None
) -> list[int]:
    """``sumi watch``: run the jobs of a file when they are due, until stopped; with ``once`` only those that
    are due now. Returns the exit codes of the runs."""
    plan = load_plan(Path(file))
    make_folders(plan.folder)
    lock = FolderLock(plan.folder, command="sumi watch")
    try:
        watcher = Watcher(plan, tell)
        with _obeying_signals(watcher):
            await watcher.run(once=once)
        return watcher.codes
    finally:
        lock.release()


def watch_status(file: str | os.PathLike[str]) -> list[JobWatch]:
    """``sumi watch status``: how each job stands. Reads only."""
    plan, now = load_plan(Path(file)), time.time()
    runs = Record(plan.folder).runs
    return [_standing(plan, job, runs.get(job.name), now) for job in plan.jobs]


def _standing(plan: Plan, job: WatchedJob, last: LastRun | None, now: float) -> JobWatch:
    last = last or LastRun(now)
    running = _is_locked(plan.folder / f"{job.name}.lock")
    due = next_due(job, msgspec.structs.replace(last, ended=now) if running else last, now)
    words = " ".join(job.words)
    return JobWatch(job.name, words, job.schedule, running, due, last.started, last.ended, last.code)


def watcher_of(file: str | os.PathLike[str]) -> int | None:
    """The process that watches this file now."""
    return lock_owner(Plan(Path(file), ()).folder)


def log_of(file: Path, name: str) -> Path:
    """What the runs of a watched job say."""
    return Plan(file, ()).folder / f"{name}.log"


def found_plans(folder: Path) -> list[Path]:
    """The watch files in a folder that were ever run: their records lie beside them."""
    try:
        records = sorted(islice(folder.glob(f"*.watch/{_RECORD}"), _MOST_FOUND))
    except OSError:
        return []
    return [path for record in records if (path := record.parent.with_suffix(".toml")).is_file()]


@contextlib.contextmanager
def _obeying_signals(watcher: Watcher) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, watcher.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _locked(path: Path) -> int | None:
    """Open and locked, for the job's process to inherit; None if such a process holds it."""
    with explained(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    for patience in reversed(range(_PATIENCE)):  # who looks at the status holds it for an instant
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        if patience:
            time.sleep(_PATIENCE_SECONDS)
    os.close(descriptor)
    return None


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _log(path: Path) -> int:
    """For appending; one that has grown large is kept as the one before."""
    with explained(path):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size > _LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)

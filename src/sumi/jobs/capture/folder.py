"""A folder of captures as users name it: where its database and its jobs are, and who is at work in it."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import msgspec

from sumi.errors import StateLocked, UsageError
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CaptureJob, JobStatus
from sumi.state.folder import CAPTURES
from sumi.state.lock import Claim, FolderLock, lock_owner

STATE_FOLDER = ".sumi"  # in a job's folder
JOB_NAME = "capture"  # what flag files in a job's folder end in


class CaptureFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def owner(self) -> int | None:
        """The process whose capture is going on here."""
        return lock_owner(self.path)

    @property
    def has_jobs(self) -> bool:
        """Whether any job has ever left something here."""
        return any(self.home_of("").glob("*"))

    def home_of(self, job_id: str) -> Path:
        return self.path / "jobs" / job_id

    @contextmanager
    def working(self, command: str) -> Iterator[CaptureDatabase]:
        """To run a capture, or to delete one. Only one process may: StateLocked for the others. The lock ends
        with its owner, so jobs that seem under way are then known to have lost theirs. A folder that was made
        for a capture that could not start goes again."""
        try:
            claim = Claim(self.path, command, option="--store", leaves_something=lambda: self.has_jobs)
        except StateLocked as error:
            raise StateLocked(f"a capture is already in progress: {error}") from None
        with claim:
            database = CaptureDatabase(self.path / CAPTURES)
            try:
                self._interrupt_orphans(database)
                yield database
            finally:
                database.close()

    @contextmanager
    def looking(self) -> Iterator[CaptureDatabase]:
        """To read, whoever else is at work."""
        path = self.path / CAPTURES
        if not path.is_file():
            raise UsageError(f"{self.path} holds no captures; give their folder with --store")
        database = CaptureDatabase(path, readonly=True)
        try:
            yield database
        finally:
            database.close()

    def jobs(self, database: CaptureDatabase) -> list[CaptureJob]:
        """As they are: what a dead process left under way is interrupted."""
        jobs = database.jobs()
        if self.owner is not None:
            return jobs
        return [_interrupted(job) if job.is_under_way else job for job in jobs]

    def job(self, database: CaptureDatabase, job_id: str) -> CaptureJob:
        """By its id, or by a beginning of it that no other has."""
        found = [job for job in self.jobs(database) if job.id.startswith(job_id)]
        exact = [job for job in found if job.id == job_id]
        if len(exact or found) == 1:
            return (exact or found)[0]
        known = "several jobs match" if found else "no such job"
        raise UsageError(f"{job_id}: {known}; sumi capture list shows them all")

    def active(self, database: CaptureDatabase) -> CaptureJob | None:
        """The one that is going on, if one is."""
        return next((job for job in reversed(self.jobs(database)) if job.is_under_way), None)

    def pause_flag(self, job_id: str) -> Path:
        """While there is such a file, a run fetches nothing new."""
        return self.home_of(job_id) / f"pause.{JOB_NAME}"

    def stop_flag(self, job_id: str) -> Path:
        """A run that finds such a file ends in good order."""
        return self.home_of(job_id) / f"stop.{JOB_NAME}"

    def mark_stopping(self, job_id: str) -> None:
        """Said by the run itself, which takes the stop flag away as soon as it has seen it."""
        self._stopping_mark(job_id).touch(mode=0o644)

    def is_stopping(self, job_id: str) -> bool:
        return self.stop_flag(job_id).exists() or self._stopping_mark(job_id).exists()

    def _stopping_mark(self, job_id: str) -> Path:
        return self.home_of(job_id) / f"stopping.{JOB_NAME}"

    def lower_flags(self, job_id: str) -> None:
        for flag in (self.pause_flag(job_id), self.stop_flag(job_id), self._stopping_mark(job_id)):
            flag.unlink(missing_ok=True)

    @contextmanager
    def alone_with(self, job_id: str, command: str) -> Iterator[None]:
        """A job's own state is locked too, against others than captures: a migration, say."""
        state = self.home_of(job_id) / STATE_FOLDER
        lock = FolderLock(state, command=command) if state.is_dir() else None
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def forget_home(self, job_id: str) -> None:
        home = self.home_of(job_id)
        if home.is_symlink():
            raise UsageError(f"{home} is a symbolic link: remove it yourself")
        shutil.rmtree(home, ignore_errors=True)

    @staticmethod
    def _interrupt_orphans(database: CaptureDatabase) -> None:
        for job in database.jobs():
            if job.is_under_way:
                database.put_job(_interrupted(job))


def _interrupted(job: CaptureJob) -> CaptureJob:
    return msgspec.structs.replace(job, status=JobStatus.INTERRUPTED)


def new_job_id(now: float) -> str:
    """Sorts by time, and is short enough to be typed."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{token_hex(2)}"

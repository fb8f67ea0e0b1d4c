"""A folder of captures: where its database and its jobs are, and which process is working in it."""

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
JOB_NAME = "capture"  # the suffix of flag files


class CaptureFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def owner(self) -> int | None:
        """The process whose capture is running here."""
        return lock_owner(self.path)

    @property
    def has_jobs(self) -> bool:

        return any(self.job_folder("").glob("*"))

    def job_folder(self, job_id: str) -> Path:
        return self.path / "jobs" / job_id

    @contextmanager
    def writing(self, command: str) -> Iterator[CaptureDatabase]:
        """To run a capture or to delete one; StateLocked if another process does. The lock ends with its
        owner, so jobs that are still recorded as under way have died and are marked as interrupted. A folder
        that was made for a capture that could not start is removed."""
        try:
            claim = Claim(self.path, command, option="--captures", leaves_something=lambda: self.has_jobs)
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
    def reading(self) -> Iterator[CaptureDatabase]:
        """To read, even while another process writes."""
        path = self.path / CAPTURES
        if not path.is_file():
            raise UsageError(f"{self.path} holds no captures; give their folder with --captures")
        database = CaptureDatabase(path, readonly=True)
        try:
            yield database
        finally:
            database.close()

    def jobs(self, database: CaptureDatabase) -> list[CaptureJob]:
        """Jobs that a dead process left under way are shown as interrupted."""
        jobs = database.jobs()
        if self.owner is not None:
            return jobs
        return [_interrupted(job) if job.is_under_way else job for job in jobs]

    def job(self, database: CaptureDatabase, job_id: str) -> CaptureJob:
        """By its id or a unique prefix of it."""
        found = [job for job in self.jobs(database) if job.id.startswith(job_id)]
        exact = [job for job in found if job.id == job_id]
        if len(exact or found) == 1:
            return (exact or found)[0]
        known = "several jobs match" if found else "no such job"
        raise UsageError(f"{job_id}: {known}; sumi capture list shows them all")

    def active(self, database: CaptureDatabase) -> CaptureJob | None:
        """The running job, if there is one."""
        return next((job for job in reversed(self.jobs(database)) if job.is_under_way), None)

    def pause_flag(self, job_id: str) -> Path:
        """While this file exists, a run fetches nothing new."""
        return self.job_folder(job_id) / f"pause.{JOB_NAME}"

    def stop_flag(self, job_id: str) -> Path:
        """A run that finds this file stops gracefully."""
        return self.job_folder(job_id) / f"stop.{JOB_NAME}"

    def mark_stopping(self, job_id: str) -> None:
        """Set by the run itself, which removes the stop flag as soon as it has seen it."""
        self._stopping_mark(job_id).touch(mode=0o644)

    def is_stopping(self, job_id: str) -> bool:
        return self.stop_flag(job_id).exists() or self._stopping_mark(job_id).exists()

    def _stopping_mark(self, job_id: str) -> Path:
        return self.job_folder(job_id) / f"stopping.{JOB_NAME}"

    def remove_flags(self, job_id: str) -> None:
        for flag in (self.pause_flag(job_id), self.stop_flag(job_id), self._stopping_mark(job_id)):
            flag.unlink(missing_ok=True)

    @contextmanager
    def locked_job(self, job_id: str, command: str) -> Iterator[None]:
        """Also lock the job's own state, against other commands than captures, such as a migration."""
        state = self.job_folder(job_id) / STATE_FOLDER
        lock = FolderLock(state, command=command) if state.is_dir() else None
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def remove_job_folder(self, job_id: str) -> None:
        home = self.job_folder(job_id)
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
    """Sorts by time, and short enough to type."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{token_hex(2)}"

"""A folder of captures as a Python object: start a job, inspect it, control it, export it."""

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sumi.errors import UsageError
from sumi.events import Listener
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.export import DEFAULT_FORMAT, EXPORT_FORMATS, exported_pages
from sumi.jobs.capture.folder import CaptureFolder
from sumi.jobs.capture.rows import CapturedPage, CaptureJob, FailedPage
from sumi.jobs.capture.settings import DEFAULT_STORE, keyword_settings, resumed_keyword_settings
from sumi.state.folder import refuse_to_replace

if TYPE_CHECKING:
    from sumi.jobs.capture.run import CaptureRun

_DELETE = "sumi capture delete"


class Exported(NamedTuple):
    path: Path
    pages: int


class Captures:
    """The jobs in a folder, of which one runs at a time.

    A job is identified by its id or a unique prefix of it. The default is the last job, or the running one
    for methods that control it.
    """

    def __init__(self, store: str | PathLike[str] = DEFAULT_STORE) -> None:
        self._folder = CaptureFolder(Path(store))

    def jobs(self) -> list[CaptureJob]:
        """Oldest first."""
        with self._folder.reading() as database:
            return self._folder.jobs(database)

    def job(self, job_id: str | None = None) -> CaptureJob:
        with self._folder.reading() as database:
            return self._chosen(database, job_id)

    @contextmanager
    def show(self, job_id: str | None = None) -> "Iterator[ShownJob]":
        with self._folder.reading() as database:
            yield ShownJob(database, self._chosen(database, job_id))

    def export(
        self, job_id: str | None = None, form: str = DEFAULT_FORMAT, output: str | PathLike[str] | None = None
    ) -> Exported:
        """``form``: one of ``EXPORT_FORMATS``. ``output`` is named after the job by default."""
        chosen = EXPORT_FORMATS.get(form)
        if chosen is None:
            raise UsageError(f"{form!r} is not an export format: choose one of {', '.join(EXPORT_FORMATS)}")
        # One snapshot: a running job would otherwise gain pages that are not in the table of contents.
        with self._folder.reading() as database, database.snapshot():
            job = self._chosen(database, job_id)
            target = Path(output or f"{job.id}{chosen.suffix}")
            refuse_to_replace(target)
            return Exported(target, chosen.write(target, lambda: exported_pages(database, job)))

    def delete(self, job_id: str) -> CaptureJob:
        """Delete the job, its pages, and the contents that no other job uses."""
        with self._folder.reading() as database:
            self._folder.job(database, job_id)  # raises before a folder without captures gets a database
        with self._folder.writing(_DELETE) as database:
            job = self._folder.job(database, job_id)
            with self._folder.locked_job(job.id, _DELETE):
                database.delete_job(job.id)
                self._folder.remove_job_folder(job.id)
        return job

    async def start(
        self, urls: str | Sequence[str], *, listeners: Sequence[Listener] = (), **settings: object
    ) -> "CaptureRun":
        """Start a capture in the background of this event loop. Raises StateLocked if another one is running
        in the folder."""
        from sumi.jobs.capture.run import CaptureRun  # here, since it imports the engine

        chosen = keyword_settings(urls, {**settings, "store": self._folder.path})
        return await CaptureRun.begun(chosen, listeners)

    async def resume(
        self, job_id: str | None = None, *, listeners: Sequence[Listener] = (), **settings: object
    ) -> "CaptureRun | None":
        """End the pause of a running capture (returns None), or continue one that has ended, in this loop."""
        from sumi.jobs.capture.run import CaptureRun

        job = self.job(job_id)
        if self.unpause(job):
            return None
        chosen = resumed_keyword_settings(job.settings, {**settings, "store": self._folder.path})
        return await CaptureRun.begun(chosen, listeners, job.id)

    def pause(self, job_id: str | None = None) -> CaptureJob:
        """Takes effect within a second; pages in flight are finished."""
        job = self._running(job_id)
        self._folder.pause_flag(job.id).touch(mode=0o644)
        return job

    def cancel(self, job_id: str | None = None) -> CaptureJob:
        """Finish the pages in flight and stop; the job is then interrupted."""
        job = self._running(job_id)
        self._folder.stop_flag(job.id).touch(mode=0o644)
        return job

    def unpause(self, job: CaptureJob) -> bool:
        """End the pause of a running job; False if it is not running."""
        if not job.is_under_way:
            return False
        if self._folder.is_stopping(job.id):
            raise UsageError(f"{job.id} is being cancelled: resume it once it has ended")
        self._folder.pause_flag(job.id).unlink(missing_ok=True)
        return True

    def _chosen(self, database: CaptureDatabase, job_id: str | None) -> CaptureJob:
        if job_id is not None:
            return self._folder.job(database, job_id)
        jobs = self._folder.jobs(database)
        if not jobs:
            raise UsageError(f"{self._folder.path} holds no job yet: start one with sumi capture URL")
        return jobs[-1]

    def _running(self, job_id: str | None) -> CaptureJob:
        with self._folder.reading() as database:
            active = self._folder.active(database)
            wanted = active if job_id is None else self._folder.job(database, job_id)
        if active is None or wanted is None or wanted.id != active.id:
            which = "no capture" if wanted is None else f"{wanted.id} ({wanted.status})"
            raise UsageError(f"{which} is running in {self._folder.path}; sumi capture list shows all jobs")
        return active


class ShownPage(NamedTuple):
    page: CapturedPage
    urls: tuple[str, ...]  # the page's own URL first


class ShownJob:
    """One job and its contents, read on demand."""

    def __init__(self, database: CaptureDatabase, job: CaptureJob) -> None:
        self._database = database
        self.job = job

    def pages(self) -> Iterator[ShownPage]:
        for page in self._database.pages(self.job.id):
            yield ShownPage(page, self._database.alternates(self.job.id, page))

    def failures(self) -> Iterator[FailedPage]:
        yield from self._database.failures(self.job.id)

    def near_duplicates(self) -> Iterator[list[str]]:
        """Groups of pages whose texts differ in a few words. All of them are kept."""
        from sumi.frontier.novelty import near_duplicates

        hashes = self._database.simhashes(self.job.id)
        for group in near_duplicates(array("Q", (simhash for _, simhash in hashes))):
            yield [hashes[place][0] for place in group]

    def count_by_base(self) -> dict[str, int]:
        counts = self._database.count_by_base(self.job.id)
        return {base: counts.get(number, 0) for number, base in enumerate(self.job.base_urls)}

    def count_by_cache_level(self) -> dict[str, int]:
        return {str(level): n for level, n in self._database.count_by_level(self.job.id).items()}

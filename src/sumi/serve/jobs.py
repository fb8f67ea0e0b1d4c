"""The jobs that a window shows: those below the folders that it was started with, and no others."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from sumi.catalogue.find import Job, find_jobs

_FRESH_SECONDS: Final = 0.5  # a page asks several things at once
_ID_DIGITS: Final = 12
RUN_FILES: Final = ("activity.jsonl", "now.json", "now.json.tmp")  # they change without the ledger


class Jobs:
    def __init__(self, places: Sequence[Path], watch_files: Sequence[Path] = ()) -> None:
        self.places = tuple(places)
        self.watch_files = tuple(watch_files)  # beside those in the places
        self._found: dict[str, Job] = {}
        self._looked = float("-inf")

    def all(self) -> dict[str, Job]:
        """By id, in order of their names."""
        now = time.monotonic()
        if now - self._looked > _FRESH_SECONDS:
            self._found = {job_id(job): job for job in find_jobs(*self.places)}
            self._looked = time.monotonic()
        return self._found

    def get(self, wanted: str) -> Job | None:
        """A path is never made from what a request says: an id names one of the jobs that were found."""
        found = self.all().get(wanted)
        if found is None:
            self.forget()  # it may have begun just now
            found = self.all().get(wanted)
        return found

    def forget(self) -> None:
        """Look at the folders again next time."""
        self._looked = float("-inf")


def job_id(job: Job) -> str:
    """The same after a restart of the window, and for every spelling of the folder."""
    return sha256(os.fsencode(os.path.realpath(job.state)) + b"\0" + job.name.encode()).hexdigest()[
        :_ID_DIGITS
    ]


def stamp_of(job: Job) -> str:
    """Changes whenever the job's state does. Only the names, sizes and times of its files are read."""
    digest = sha256()
    for path in _state_files(job):
        try:
            status = path.stat()
        except OSError:
            continue
        digest.update(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    digest.update(b"running" if job.process else b"stopped")
    return digest.hexdigest()[:16]


def changed_at(job: Job) -> float:
    """When its state was last written to; 0 if it cannot be told."""
    times = [0.0]
    for path in _state_files(job):
        with suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)


def _state_files(job: Job) -> list[Path]:
    if job.state.is_file():
        return [job.state, Path(f"{job.state}-wal")]
    skipped = {"lock", "lock.mdb", *RUN_FILES}
    try:
        return sorted(path for path in job.state.iterdir() if path.name not in skipped and path.is_file())
    except OSError:
        return []

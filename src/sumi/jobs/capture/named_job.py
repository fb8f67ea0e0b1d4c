"""The capture that a user means: its folder, and its job by id or, where none is given, the one at hand."""

import argparse
import os
import time
from typing import TYPE_CHECKING

from sumi.console.options import add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.summary import COMPLETE, WITH_FAILURES
from sumi.errors import UsageError
from sumi.jobs.capture.settings import STORE, store_given

if TYPE_CHECKING:
    from sumi.jobs.capture.database import CaptureDatabase
    from sumi.jobs.capture.folder import CaptureFolder
    from sumi.jobs.capture.rows import CaptureJob

EXIT_CODES = {"completed": COMPLETE, "completed_with_errors": WITH_FAILURES}


def add_store(parser: SentenceParser) -> None:
    add_settings(parser, (STORE,))


def add_job(parser: SentenceParser, *, otherwise: str) -> None:
    count = "?" if otherwise else None
    default = f" Default: {otherwise}." if otherwise else ""
    text = f"The job, by its id or a beginning of it.{default}"
    parser.add_argument("job", metavar="JOB", nargs=count, help=text)


def capture_folder(options: argparse.Namespace) -> "CaptureFolder":
    """Wherever it was said: by the flag, or by the variable as for sumi capture itself."""
    from pathlib import Path

    from sumi.jobs.capture.folder import CaptureFolder

    return CaptureFolder(Path(store_given(given_flags(options, (STORE,)), os.environ)))


def chosen_job(folder: "CaptureFolder", database: "CaptureDatabase", job_id: str | None) -> "CaptureJob":
    """The last one, if none is named."""
    if job_id is not None:
        return folder.job(database, job_id)
    jobs = folder.jobs(database)
    if not jobs:
        raise UsageError(f"{folder.path} holds no job yet: begin one with sumi capture URL")
    return jobs[-1]


def running_job(folder: "CaptureFolder", job_id: str | None) -> "CaptureJob":
    """The one that is going on, in whichever process; UsageError if it is not."""
    with folder.looking() as database:
        active = folder.active(database)
        wanted = active if job_id is None else folder.job(database, job_id)
    if active is None or wanted is None or wanted.id != active.id:
        which = "no capture" if wanted is None else f"{wanted.id} ({wanted.status})"
        raise UsageError(f"{which} is running in {folder.path}; sumi capture list shows all jobs")
    return active


def moment(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))

"""``sumi capture resume``: a paused capture goes on; one that was interrupted is taken up again, here."""

import os
import sys
from collections.abc import Sequence

from sumi.console.options import add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.errors import UsageError
from sumi.jobs.capture.command import add_reporting, run_reported
from sumi.jobs.capture.named_job import add_job, capture_folder, chosen_job
from sumi.jobs.capture.settings import RESUME_SETTINGS, resumed_settings

_EXAMPLES = """\
examples:
  sumi capture resume                     the last job: end its pause, or go on with it here
  sumi capture resume JOB --rate-limit 1  go on with other manners
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture resume",
        usage="sumi capture resume [options] [JOB]",
        description=(
            "Lets a paused capture go on, or takes up one that was interrupted or had failures. Passwords, "
            "headers and proxies are not stored: give them again."
        ),
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="the last one")
    add_settings(parser, RESUME_SETTINGS)
    add_reporting(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    flags = given_flags(options, RESUME_SETTINGS)
    folder = capture_folder(options)
    with folder.looking() as database:
        job = chosen_job(folder, database, options.job)
    if job.is_under_way and folder.is_stopping(job.id):
        raise UsageError(f"{job.id} is being cancelled: take it up again once it has ended")
    if job.is_under_way:
        folder.pause_flag(job.id).unlink(missing_ok=True)
        print(f"{job.id} goes on within a second", file=sys.stderr)
        return 0
    return run_reported(resumed_settings(job.settings, flags, os.environ), options, job.id)

"""``sumi capture delete``: a job and its pages go, with all that no other job needs."""

import sys
from collections.abc import Sequence

from sumi.console.parser import SentenceParser
from sumi.jobs.capture.named_job import add_job, add_store, capture_folder

_COMMAND = "sumi capture delete"
_EXAMPLES = """\
examples:
  sumi capture delete 20260301-120000-3f1a
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture delete",
        usage="sumi capture delete [options] JOB",
        description="Deletes a job, its pages, and the contents that no other job has.",
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="")
    add_store(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = capture_folder(options)
    with folder.looking() as database:
        folder.job(database, options.job)  # nothing is made where there are no captures
    with folder.working(_COMMAND) as database:
        job = folder.job(database, options.job)
        with folder.alone_with(job.id, _COMMAND):
            database.delete_job(job.id)
            folder.forget_home(job.id)
    print(f"{job.id} is deleted", file=sys.stderr)
    return 0

"""``sumi capture cancel``: the running capture ends, with everything saved."""

import sys
from collections.abc import Sequence

from sumi.console.parser import SentenceParser
from sumi.jobs.capture.named_job import add_job, add_store, capture_folder, running_job

_EXAMPLES = """\
examples:
  sumi capture cancel           its pages in flight are finished; it is then interrupted
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture cancel",
        usage="sumi capture cancel [options] [JOB]",
        description="Ends the capture that is running in another process; what it has is kept.",
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="the one that is running")
    add_store(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = capture_folder(options)
    job = running_job(folder, options.job)
    folder.stop_flag(job.id).touch(mode=0o644)
    print(f"{job.id} will end as soon as its pages in flight are done", file=sys.stderr)
    return 0

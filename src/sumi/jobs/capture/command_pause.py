"""``sumi capture pause``: the running capture fetches nothing new until it is resumed."""

import sys
from collections.abc import Sequence

from sumi.console.parser import SentenceParser
from sumi.jobs.capture.named_job import add_job, add_store, capture_folder, running_job

_EXAMPLES = """\
examples:
  sumi capture pause            pages in flight are finished, the rest waits
  sumi capture resume           go on
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture pause",
        usage="sumi capture pause [options] [JOB]",
        description="Pauses the capture that is running in another process.",
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="the one that is running")
    add_store(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = capture_folder(options)
    job = running_job(folder, options.job)
    folder.pause_flag(job.id).touch(mode=0o644)
    print(f"{job.id} will pause within a second", file=sys.stderr)
    return 0

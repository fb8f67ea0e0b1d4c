"""``sumi capture list``: the jobs of a folder of captures."""

import sys
from collections.abc import Sequence

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.jobs.capture.named_job import add_store, capture_folder, moment

_EXAMPLES = """\
examples:
  sumi capture list
  sumi capture list --store docs --json | jq -r .id
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture list",
        usage="sumi capture list [options]",
        description="The jobs of a folder of captures, oldest first, and how they stand.",
        epilog=_EXAMPLES,
    )
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="One JSON object per job.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = capture_folder(options)
    with folder.looking() as database:
        jobs = folder.jobs(database)
    out = Sink(sys.stdout)
    for job in jobs:
        if options.json:
            out.line(msgspec.json.encode(job).decode())
            continue
        counts = f"{job.pages_processed:>7,} pages {job.pages_failed:>5,} failed"
        bases = ", ".join(map(printable, job.base_urls))
        out.line(f"{job.id}  {job.status:<21} {moment(job.created)} {counts}  {bases}")
    return 0

"""``sumi capture``: the pages under base URLs, each text once, into a folder of captures."""

import argparse
import os
from collections.abc import Sequence

from sumi.console.options import add_reporting, add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import reporting
from sumi.console.summary import ABORTED, COMPLETE, INTERRUPTED, WITH_FAILURES
from sumi.jobs.capture.settings import CAPTURE_SETTINGS, CaptureSettings, load_capture_settings

_EXIT_CODES = {"completed": COMPLETE, "completed_with_errors": WITH_FAILURES}
_EXAMPLES = """\
examples:
  sumi capture https://docs.example.org/guide           what lies under /guide, into ./captures
  sumi capture docs.example.org/api docs.example.org/sdk --limit 50     at most 50 pages of each
  sumi capture docs.example.org --external-hops 1       and the pages that its pages link to
  sumi capture app.example.org --render balanced --wait-for main
  sumi capture list                                     all jobs, and how they stand
  sumi capture export JOB --format zip -o docs.zip      also folder, markdown, jsonl

While a capture runs, from another terminal: sumi capture pause, resume, cancel.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture",
        usage="sumi capture [options] URL...",
        description=(
            "Captures the pages under one or several base URLs as Markdown, each text once. Does not fetch "
            "again what earlier captures have."
        ),
        epilog=_EXAMPLES,
    )
    add_settings(parser, CAPTURE_SETTINGS)
    add_reporting(parser).add_argument(
        "--config", metavar="FILE", help="Settings from the [capture] section of a TOML file."
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    settings = load_capture_settings(given_flags(options, CAPTURE_SETTINGS), os.environ, options.config)
    return run_reported(settings, options)


def run_reported(settings: CaptureSettings, options: argparse.Namespace, job_id: str | None = None) -> int:
    """Run the job to its end with a reporter listening; its status decides the exit code."""
    # Imported here because the engine brings the network and the parser, which --help does not need.
    from sumi.assembly.parts import run_loop
    from sumi.jobs.capture.run import capture

    with reporting(options) as reporter:
        captured = run_loop(capture(settings, listeners=[reporter], job_id=job_id))
    if captured.summary.status == "aborted":
        return ABORTED
    return _EXIT_CODES.get(captured.job.status, INTERRUPTED)

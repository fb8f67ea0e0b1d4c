"""``sumi run``: crawler and scraper together, or both in one process."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sumi.console.narration import Verbosity
from sumi.console.parser import SentenceParser
from sumi.console.reporters import ignore_questions
from sumi.console.terminal import Sink, printable
from sumi.jobs.pipeline.command_crawl import add_again, run_crawler
from sumi.jobs.pipeline.options import add_config, add_running, checked, min_free, read_config

if TYPE_CHECKING:
    from sumi.jobs.pipeline.config import CrawlConfig
    from sumi.jobs.pipeline.run_report import JointReport

_EXAMPLES = """\
examples:
  sumi run --config github.yaml                     a crawler, and a scraper that follows it
  sumi run --config github.yaml --unified           one process, each page fetched once, one metadata file
  touch workspace/stop.scraper                      stop both; the same command continues
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi run",
        usage="sumi run --config FILE [--unified] [options]",
        description="Crawls by policy and archives what it finds, in two processes or, unified, in one.",
        epilog=_EXAMPLES,
    )
    add_config(parser)
    parser.add_argument(
        "--unified",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="Run both in one process. Default: the mode of the configuration.",
    )
    add_again(parser)
    add_running(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    checked(options)
    config = read_config(options)
    unified = config.mode == "unified" if options.unified is None else options.unified
    return run_crawler(options, config, unified=True) if unified else _run_both(options, config)


def _run_both(options: argparse.Namespace, config: "CrawlConfig") -> int:
    """The crawler in the background, the scraper here; whichever way this ends, the crawler ends too."""
    from sumi.jobs.pipeline.run_report import JointReport

    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=options.verbose, quiet=options.quiet)
    if not options.quiet:
        for line in _banner(config):
            err.line(printable(line))
    report = JointReport(verbosity, out, err, os.environ, as_json=options.json)
    try:
        return _run_reported(options, config, report)
    finally:
        report.close()


def _banner(config: "CrawlConfig") -> tuple[str, ...]:
    from sumi.jobs.pipeline.policy import compliance_banner

    turns = "turns       both fetch every page (spool.hand_over): the scraper waits while the crawler fetches"
    return (*compliance_banner(config), *(() if config.spool.hand_over else (turns,)))


def _run_reported(options: argparse.Namespace, config: "CrawlConfig", report: "JointReport") -> int:
    # Imported here because the engine brings the network and the parser, which --help does not need.
    from sumi.jobs.pipeline.run import Both, RunOptions

    chosen = RunOptions(
        config=options.config,
        again=options.again,
        warc=options.warc,
        processes=options.processes,
        min_free=min_free(options, os.environ),
        durability=options.durability,
    )
    ignore_questions()  # which the crawler's process inherits
    both = Both(config, chosen, report, report.scraper, lambda: read_config(options, config.run_id))
    verdict = both.run()
    report.verdict(verdict)
    return verdict.code

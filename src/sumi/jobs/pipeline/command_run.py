"""``sumi run``: crawler and scraper together, or both in one process."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sumi.console.narration import Verbosity
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.jobs.pipeline.command_crawl import add_again, run_crawler
from sumi.jobs.pipeline.options import add_config, add_running, checked, min_free, read_config
from sumi.policy import Durability

if TYPE_CHECKING:
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig
    from sumi.jobs.pipeline.crawler_process import CrawlerProcess, JointControl
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
    from sumi.jobs.pipeline.run_report import crawler_end, joint_verdict

    with _crawler(options, config, report) as (crawler, control):
        summary = _scraped(options, config, report, crawler, control)
    verdict = joint_verdict(crawler_end(crawler), summary)
    report.verdict(verdict)
    return verdict.code


@contextmanager
def _crawler(
    options: argparse.Namespace, config: "CrawlConfig", report: "JointReport"
) -> "Iterator[tuple[CrawlerProcess, JointControl]]":
    from sumi.jobs.pipeline.crawler_process import CrawlerProcess, JointControl, signals_heard

    words = ["--config", options.config, "--run-id", config.run_id, "--durability", options.durability]
    words += ["--json", "-q"]  # heard by us, who tell it on
    words += ["--again"] if options.again else []
    words += ["--processes", str(options.processes)] if options.processes is not None else []
    words += ["--min-free", options.min_free] if options.min_free is not None else []
    # Before either side listens, these would kill it by default; that they are ignored is inherited.
    for number in (signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    crawler = CrawlerProcess(words, report)
    control = JointControl(crawler)
    with signals_heard(control):
        try:
            yield crawler, control
        finally:
            crawler.finish()


def _scraped(
    options: argparse.Namespace,
    config: "CrawlConfig",
    report: "JointReport",
    crawler: "CrawlerProcess",
    control: "JointControl",
) -> "Summary":
    # Imported here because the engine brings the network and the parser, which --help does not need.
    from sumi.assembly.parts import run_loop
    from sumi.jobs.pipeline.crawler_process import take_turns
    from sumi.jobs.pipeline.scrape import ScrapeOptions, scrape

    chosen = ScrapeOptions(
        warc=options.warc,
        processes=options.processes,
        min_free=min_free(options, os.environ),
        durability=Durability(options.durability),
    )

    async def scrape_beside() -> "Summary":
        turns = None
        if not config.spool.hand_over:
            control.pause()
            turns = asyncio.create_task(take_turns(control, crawler, 1 / config.limits.req_per_sec))
        try:
            return await scrape(
                config,
                chosen,
                [report.scraper],
                control,
                lambda: read_config(options, config.run_id),
                lambda: crawler.at_work,
            )
        finally:
            if turns is not None:
                turns.cancel()

    return run_loop(scrape_beside())

"""``sumi run``: crawler and scraper together, or both in one process."""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sumi.cli.crawl import add_again, run_crawler
from sumi.cli.parser import SentenceParser
from sumi.cli.pipeline_options import add_config, add_running, checked, read_config
from sumi.cli.scrape import run_scraper
from sumi.cli.summary import ABORTED, worst_of

if TYPE_CHECKING:
    from sumi.settings.crawl_config import CrawlConfig

# A crawler that was asked to stop lets its pages in flight finish, for half a minute at most.
_STOP_SECONDS = 60.0

_EXAMPLES = """\
examples:
  sumi run --config github.yaml                     a crawler, and a scraper that follows it
  sumi run --config github.yaml --unified           one process, each page fetched once, one metadata file
  touch workspace/stop.scraper                      stop both; the same command goes on
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi run",
        usage="sumi run --config FILE [--unified] [options]",
        description="Crawls by policy and archives what is found, in two processes or, unified, in one.",
        epilog=_EXAMPLES,
    )
    add_config(parser)
    parser.add_argument(
        "--unified",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="Both in one process. Default: as the configuration's mode says.",
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
    options.follow = False
    with _crawler(options, config) as crawler:
        scraped = run_scraper(options, config, lambda: crawler.poll() is None)
    return _worse(scraped, crawler.returncode)


@contextmanager
def _crawler(options: argparse.Namespace, config: "CrawlConfig") -> "Iterator[subprocess.Popen[bytes]]":
    words = ["--config", options.config, "--run-id", config.run_id, "--durability", options.durability, "-q"]
    words += ["--again"] if options.again else []
    words += ["--processes", str(options.processes)] if options.processes is not None else []
    words += ["--min-free", options.min_free] if options.min_free is not None else []
    command = [sys.executable, "-m", "sumi.cli.with_parent", "crawl", "run", *words]
    crawler = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    try:
        yield crawler
    finally:
        if crawler.poll() is None:
            crawler.terminate()
        try:
            crawler.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            crawler.kill()
            crawler.wait()


def _worse(one: int, other: int) -> int:
    """What went wrong on either side is told; a crawler that was stopped with us is no fault."""
    return worst_of((one, other if other >= 0 else ABORTED))

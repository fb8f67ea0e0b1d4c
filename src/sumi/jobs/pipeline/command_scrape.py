"""``sumi scrape run``: takes what the crawler found from the spool into the archive and the pages CSV."""

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.jobs.pipeline.options import add_config, add_running, checked, min_free, read_config, report
from sumi.policy import Durability

if TYPE_CHECKING:
    from sumi.console.reporters import Reporter
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig

_EXAMPLES = """\
examples:
  sumi scrape run --config github.yaml              what is in the spool, and what a running crawler adds
  sumi scrape run --config github.yaml --follow     wait for more, whether or not a crawler is at work
  sumi scrape run --config github.yaml --warc pages.warc.gz
  touch workspace/pause.scraper                     pause it; remove the file to go on

Every run has a CSV of its own; sumi scrape resume goes on with the last one.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape run",
        usage="sumi scrape run --config FILE [options]",
        description="Reads the spool from its bookmark and archives each page once.",
        epilog=_EXAMPLES,
    )
    add_config(parser)
    add_following(parser)
    add_running(parser)
    return parser


def add_following(parser: SentenceParser) -> None:
    parser.add_argument("--follow", action="store_true", help="Wait for more even if no crawler is running.")


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    checked(options)
    return run_scraper(options, read_config(options))


def run_scraper(
    options: argparse.Namespace,
    config: "CrawlConfig",
    crawler_at_work: "Callable[[], bool] | None" = None,
) -> int:
    def scrape(reporter: "Reporter") -> "Summary":
        # Imported here because the engine brings the network and the parser, which --help does not need.
        from sumi.jobs.pipeline.scrape import ScrapeOptions, run_scrape

        chosen = ScrapeOptions(
            follow=options.follow,
            warc=options.warc,
            processes=options.processes,
            min_free=min_free(options, os.environ),
            durability=Durability(options.durability),
        )
        return run_scrape(
            config, chosen, [reporter], lambda: read_config(options, config.run_id), crawler_at_work
        )

    return report(options, config, scrape)

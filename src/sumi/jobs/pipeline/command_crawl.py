"""``sumi crawl run``: finds pages by policy and leaves them in the spool for the scraper."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sumi.console.parser import SentenceParser
from sumi.jobs.pipeline.options import (
    USUAL,
    add_beginning,
    add_running,
    add_sharing,
    begun,
    read_config,
    refuse_store,
    report,
    run_options,
    sharing,
)
from sumi.policy import ParseLimits

if TYPE_CHECKING:
    from sumi.console.reporters import Reporter
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig


_EXAMPLES = """\
examples:
  sumi crawl run https://docs.example.org/          into workspace/, with a crawl.yaml to edit
  sumi crawl run --config github.yaml               into workspace/spool/discoveries
  sumi crawl run --config github.yaml --again       request known pages again, in case they changed
  sumi pause workspace                              pause it; sumi resume lets it go on
  sumi stop workspace                               stop it, as one Ctrl-C does

Stopped? Run the same command again to continue. sumi scrape run reads the spool, now or later.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi crawl run",
        usage="sumi crawl run [options] URL... | --urls FILE | --config FILE",
        description="Crawls by policy from the seeds of a workspace; hands each page found to the scraper.",
        epilog=_EXAMPLES,
        usual=("url", "--urls", "--config", "--workspace", "--max-pages", "--max-depth", "--again", *USUAL),
    )
    add_beginning(parser)
    add_again(parser)
    add_sharing(parser)
    add_running(parser)
    return parser


def add_again(parser: SentenceParser) -> None:
    parser.add_argument(
        "--again", action="store_true", help="Request known pages again, in case they changed."
    )


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    run_options(options)
    shared = sharing(parser, options)
    refuse_store(parser, shared)
    if not begun(parser, options):
        return 0
    return run_crawler(options, read_config(options), shared, unified=False)


def run_crawler(
    options: argparse.Namespace, config: "CrawlConfig", shared: dict[str, Any], *, unified: bool
) -> int:
    def run_reported(reporter: "Reporter") -> "Summary":
        # Imported here because the engine brings the network and the parser, which --help does not need.
        from sumi.workers.process import worker_started_early

        limits = ParseLimits()
        with worker_started_early(options.processes, limits.cpu_seconds, limits.memory_bytes):
            from sumi.assembly.parts import run_loop
            from sumi.jobs.pipeline.crawl import crawl

            return run_loop(
                crawl(
                    config,
                    unified=unified,
                    again=options.again,
                    **shared,
                    **msgspec.structs.asdict(run_options(options)),
                    listeners=[reporter],
                    read_config=lambda: read_config(options, config.run_id),
                )
            )

    return report(options, config, run_reported)

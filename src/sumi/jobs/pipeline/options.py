"""What the commands of crawl and scrape share: options, configuration and reporting."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sumi.console.options import add_reporting, add_settings, operating_options
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import Durability
from sumi.settings.operating import OPERATING

if TYPE_CHECKING:
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig, RunOptions

MIN_FREE_VARIABLE = "SUMI_MIN_FREE"


# Of what ``add_running`` adds, what people use.
USUAL: Final = (
    *("--warc", "--max-time", "--log-file", "--notify", "--allow-failed", "--max-failed", "--json"),
    *("--quiet", "--verbose"),
)


def add_config(parser: SentenceParser) -> None:
    parser.add_argument("--config", metavar="FILE", required=True, help="The crawl configuration (YAML).")


def add_run_id(parser: SentenceParser) -> None:
    parser.add_argument(
        "--run-id", metavar="NAME", help="Value of {run_id} in paths. Default: the current time."
    )


def add_running(parser: SentenceParser, *, new_run: bool = True) -> None:
    """Options of every command that fetches pages. ``new_run``: the run needs an id."""
    if new_run:
        add_run_id(parser)
    parser.add_argument(
        "--warc", metavar="FILE", help="Also archive requests and responses in this .warc.gz file."
    )
    parser.add_argument(
        "--durability",
        metavar="batch|strict",
        choices=tuple(Durability),
        default=Durability.BATCH,
        help="batch survives a crash; strict survives a power cut too, and is slower. Default: batch.",
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=int,
        help="Processes that parse pages. Default: by the number of cores.",
    )
    parser.add_argument(
        "--min-free", metavar="SIZE", help="Stop when less disk space is free, such as 1G; 0 for no check."
    )
    add_settings(parser, OPERATING)
    add_reporting(parser)


def read_config(options: argparse.Namespace, run_id: str | None = None) -> "CrawlConfig":
    from sumi.jobs.pipeline.config_file import load_crawl_config

    return load_crawl_config(options.config, run_id or getattr(options, "run_id", None))


def run_options(options: argparse.Namespace) -> "RunOptions":
    """What ``add_running`` added. Raises UsageError, which should happen before anything is started."""
    from sumi.jobs.pipeline.config import RunOptions

    return RunOptions(
        warc=options.warc,
        processes=options.processes,
        min_free=_min_free(options),
        durability=Durability(options.durability),
        **operating_options(options),
    )


def _min_free(options: argparse.Namespace) -> int | None:
    """The flag, or the environment variable that mirrors also use; None: the default of the job."""
    text = options.min_free if options.min_free is not None else os.environ.get(MIN_FREE_VARIABLE)
    if text is None:
        return None
    from sumi.settings.shared import SHARED

    kind = next(setting.kind for setting in SHARED if setting.name == "min-free")
    try:
        return int(str(kind.parse(text)))
    except ValueError:
        raise UsageError(f"--min-free {text!r} must be {kind.expects}") from None


def report(options: argparse.Namespace, config: "CrawlConfig", run: "Callable[[Reporter], Summary]") -> int:
    """Show the rules of the crawl, run it with a reporter listening, and return its exit code."""
    from sumi.jobs.pipeline.policy import compliance_banner

    if not options.quiet:
        err = Sink(sys.stderr)
        for line in compliance_banner(config):
            err.line(printable(line))
    with reporting(options) as reporter:
        return exit_code(run(reporter))

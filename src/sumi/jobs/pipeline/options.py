"""What the commands of a crawl and a scrape share: their options, their configuration, their reporting."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sumi.console.options import add_reporting
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import Durability

if TYPE_CHECKING:
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig

MIN_FREE_VARIABLE = "SUMI_MIN_FREE"


def add_config(parser: SentenceParser) -> None:
    parser.add_argument("--config", metavar="FILE", required=True, help="The crawl configuration (YAML).")


def add_run_id(parser: SentenceParser) -> None:
    parser.add_argument(
        "--run-id", metavar="NAME", help="Value of {run_id} in paths. Default: the current time."
    )


def add_running(parser: SentenceParser, *, new_run: bool = True) -> None:
    """Options of every command that fetches pages. One that goes on with a run has its name already."""
    if new_run:
        add_run_id(parser)
    parser.add_argument("--warc", metavar="FILE", help="Also write responses to this .warc.gz file.")
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
    add_reporting(parser)


def read_config(options: argparse.Namespace, run_id: str | None = None) -> "CrawlConfig":
    from sumi.jobs.pipeline.config_file import load_crawl_config

    return load_crawl_config(options.config, run_id or getattr(options, "run_id", None))


def checked(options: argparse.Namespace) -> None:
    if options.warc is not None and not options.warc.endswith(".warc.gz"):
        raise UsageError(f"--warc {options.warc} must end in .warc.gz, by which readers know the format")
    if options.processes is not None and not 0 <= options.processes <= 256:
        raise UsageError(f"--processes {options.processes} must be between 0 and 256")


def min_free(options: argparse.Namespace, environment: Mapping[str, str]) -> int | None:
    """The flag, or the variable that mirror has for the same; None: as the job sees fit."""
    text = options.min_free if options.min_free is not None else environment.get(MIN_FREE_VARIABLE)
    if text is None:
        return None
    from sumi.settings.shared import SHARED

    kind = next(setting.kind for setting in SHARED if setting.name == "min-free")
    try:
        return int(str(kind.parse(text)))
    except ValueError:
        raise UsageError(f"--min-free {text!r} must be {kind.expects}") from None


def report(options: argparse.Namespace, config: "CrawlConfig", run: "Callable[[Reporter], Summary]") -> int:
    """Show under which rules it goes, run it with a reporter listening, and end with its exit code."""
    from sumi.jobs.pipeline.policy import compliance_banner

    if not options.quiet:
        err = Sink(sys.stderr)
        for line in compliance_banner(config):
            err.line(printable(line))
    with reporting(options) as reporter:
        return exit_code(run(reporter))

"""What the commands of crawl and scrape share: options, configuration and reporting."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sumi.console.options import (
    add_lists,
    add_option,
    add_reporting,
    add_save_config,
    add_settings,
    chosen_options,
    listed_urls,
    operating_options,
)
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import Durability, is_database
from sumi.settings.kinds import JOB_NAME, STATE, parsed
from sumi.settings.kinds import STORE as OBJECT_STORE
from sumi.settings.operating import OPERATING

if TYPE_CHECKING:
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig, RunOptions

MIN_FREE_VARIABLE = "SUMI_MIN_FREE"


# The common ones of what ``add_running`` adds.
USUAL: Final = (
    *("--warc", "--max-time", "--log-file", "--notify", "--allow-failed", "--max-failed", "--json"),
    *("--quiet", "--verbose"),
)


def add_config(parser: SentenceParser) -> None:
    parser.add_argument("--config", metavar="FILE", required=True, help="The crawl configuration (YAML).")


def add_beginning(parser: SentenceParser) -> None:
    """The configuration, or what makes one."""
    from sumi.jobs.pipeline.beginning import option_settings
    from sumi.jobs.pipeline.config import DEFAULT_WORKSPACE

    parser.add_argument(
        "url", metavar="URL", nargs="*", help="Where to begin, instead of --config; its host is crawled."
    )
    parser.add_argument("--config", metavar="FILE", help="The crawl configuration (YAML).")
    group = parser.add_argument_group("without a configuration")
    group.add_argument(
        "--workspace",
        metavar="DIR",
        default=DEFAULT_WORKSPACE,
        help=f"Folder for everything, also for the crawl.yaml that is made. Default: {DEFAULT_WORKSPACE}.",
    )
    add_lists(group, "Take the pages in this list, and follow links only with --max-depth")
    group.add_argument("--contact", metavar="URL|EMAIL", help="Where a site's owner can reach you.")
    for setting in option_settings():
        add_option(group, setting)
    add_save_config(group)


def begun(parser: SentenceParser, options: argparse.Namespace) -> bool:
    """Makes the configuration of a crawl that was given URLs. False if that was all there is to do."""
    from sumi.jobs.pipeline.beginning import AS_OPTIONS, Beginning, begin, option_settings, write

    table = option_settings()
    paths = {name.replace("-", "_"): path for path, name in AS_OPTIONS.items()}
    given = {paths[field]: value for field, value in chosen_options(options, table).items()}
    given |= {"contact": options.contact} if options.contact else {}
    if options.config is not None:
        if options.url or options.urls or given or options.save_config:
            parser.error("give either --config or a URL and its options, not both")
        return True
    if not options.url and not options.urls:
        parser.error("give a URL, --urls FILE, or --config FILE; sumi init crawl writes one")
    beginning = Beginning(options.url, listed_urls(options), given)
    if options.save_config is None:
        options.config = str(begin(options.workspace, beginning))
        return True
    path = Path(options.save_config)
    if path.exists():
        parser.error(f"{path} exists, and is not replaced")
    where = os.path.relpath(options.workspace, path.parent)
    write(path, beginning.config(str(path), where), beginning.seeds)
    Sink(sys.stdout).line(f"written: {printable(str(path))}; run it with --config {printable(str(path))}")
    return False


def add_sharing(parser: SentenceParser) -> None:
    """For a crawl that many machines share, each with the same configuration."""
    parser.add_argument(
        "--state",
        metavar="ADDRESS",
        help="Keep the crawl in the database postgresql://HOST/DATABASE, where other machines with the same "
        "configuration share it by the same command. Default: frontier.backend of the configuration.",
    )
    parser.add_argument("--job", metavar="NAME", help="Its name there. Default: that of the workspace.")
    parser.add_argument(
        "--store",
        metavar="URL",
        help="With --state, and in one process (sumi run --unified): keep the archive in an S3-compatible "
        "store, s3://BUCKET/PREFIX or file:///FOLDER. Default: files of each machine.",
    )


def sharing(parser: SentenceParser, options: argparse.Namespace) -> dict[str, Any]:
    """What ``add_sharing`` added, checked."""
    if options.state is None:
        for option, words in (("job", "names a crawl in"), ("store", "is for the archive of a crawl in")):
            if getattr(options, option) is not None:
                parser.error(f"--{option} {words} a database: give its address by --state")
        return {"state": None, "name": None, "store": None}
    if not is_database(options.state):
        parser.error("--state takes the address of a database, postgresql://HOST/DATABASE")
    state = parsed(STATE, options.state, "--state")
    name = None if options.job is None else str(parsed(JOB_NAME, options.job, "--job"))
    store = None if options.store is None else str(parsed(OBJECT_STORE, options.store, "--store"))
    return {"state": str(state), "name": name, "store": store}


def refuse_store(parser: SentenceParser, shared: dict[str, Any]) -> None:
    """For a crawler that hands bodies over to a scraper."""
    if shared["store"] is not None:
        parser.error(
            "--store is for sumi run --unified: a scraper takes bodies from files that its crawler left"
        )


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
        help=(
            "batch survives a crash of the process; strict survives a power cut too, and is slower. "
            "Default: batch."
        ),
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=int,
        help="Worker processes that parse pages. Default: by the number of cores.",
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

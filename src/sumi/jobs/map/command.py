"""``sumi map``: a configuration file to a run, or to a look at what is there."""

from collections.abc import Sequence
from pathlib import Path

from sumi.console.options import add_reporting
from sumi.console.parser import SentenceParser
from sumi.console.reporters import reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import printable
from sumi.jobs.map.config import MapConfig
from sumi.jobs.map.config_file import load_map_config

_EXAMPLES = """\
examples:
  sumi map web.toml                     start, or continue a stopped run
  sumi map web.toml --update            after a finished run: take what was left, look for changes
  sumi map web.toml --dry-run           check the file and say what would be crawled
  sumi map web.toml --stats             what the map holds
  sumi map web.toml --export-summary    write the summary again
  sumi map web.toml --fresh             forget the map and start over
  sumi map export --format html web.toml     a picture of it; also graphml, gexf, parquet
  sumi map analyze web.toml             what is linked to most, central, apart
  sumi map diff 1 2 web.toml            what changed between two runs

Stopped with Ctrl-C? Run the same command again to continue.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map",
        usage="sumi map [options] CONFIG",
        description="Maps the web around chosen domains: pages, links, and how far away they are.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("config", metavar="CONFIG", help="A TOML file: see docs/guides/map.md.")
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--resume",
        action="store_true",
        help="Continue a stopped run; the configuration may have changed.",
    )
    start.add_argument(
        "--update",
        action="store_true",
        help="After a finished run, start another: first what was left, then what changed.",
    )
    start.add_argument("--fresh", action="store_true", help="Delete the map and start over.")
    look = parser.add_mutually_exclusive_group()
    look.add_argument(
        "--dry-run", action="store_true", help="Check the configuration and say what would be crawled."
    )
    look.add_argument("--stats", action="store_true", help="Show what the map holds, and exit.")
    look.add_argument("--export-summary", action="store_true", help="Write the summary again, and exit.")
    add_reporting(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    path = Path(options.config)
    config = load_map_config(path)
    if options.dry_run:
        return _print_plan(config)
    if options.stats or options.export_summary:
        return _print_summary(config, write=options.export_summary)
    # Imported here because the engine brings the network and the parser, which the above does not need.
    from sumi.assembly.parts import run_loop
    from sumi.jobs.map.run import map as run_map

    with reporting(options) as reporter:
        summary = run_loop(
            run_map(
                config,
                fresh=options.fresh,
                update=options.update,
                resume=options.resume,
                listeners=[reporter],
                read_config=lambda: load_map_config(path),
            )
        )
    return exit_code(summary)


def _print_plan(config: MapConfig) -> int:
    crawler = config.crawler
    print(f"database     {printable(str(config.output.database_path))}")
    print(f"summary      {printable(str(config.output.summary_path))}")
    print(f"user agent   {printable(config.user_agent.header)}")
    print(
        f"limits       depth {crawler.max_depth}, {crawler.max_concurrent_pages_open} pages at once, "
        f"{crawler.minimum_time_on_page} ms between requests to a domain, at most "
        f"{crawler.max_domain_requests:,} per domain and run"
    )
    for entry in config.quality:
        print(f"quality      {printable(entry.domain)}")
        for seed in entry.seeds:
            print(f"  seed       {printable(seed)}")
    for name, entries in (("blacklist", config.blacklist), ("stub", config.stub)):
        for entry in entries:
            print(f"{name:<13}{printable(entry.domain)}")
    for words in config.advice:
        print(f"note         {printable(words)}")
    return 0


def _print_summary(config: MapConfig, *, write: bool) -> int:
    from sumi.jobs.map.run import read_map_summary, write_map_summary

    if write:
        write_map_summary(config)
        print(f"the summary is in {printable(str(config.output.summary_path))}")
        return 0
    from sumi.jobs.map.summary import summary_markdown

    print(summary_markdown(read_map_summary(config)), end="")
    return 0

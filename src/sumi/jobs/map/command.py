"""The commands of a map: ``sumi map``, ``sumi map export``, ``sumi map analyze`` and ``sumi map diff``."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sumi.console.next_steps import command_line, same_again, show_next
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
from sumi.console.reporters import reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink, printable
from sumi.files.disk_errors import explained
from sumi.jobs.map.beginning import DEFAULT_FOLDER, FILE, begin, map_text, option_fields, option_settings
from sumi.jobs.map.config import MapConfig, load_map_config
from sumi.jobs.map.graph import Level
from sumi.policy import is_database
from sumi.settings.kinds import JOB_NAME, STATE, parsed
from sumi.settings.operating import OPERATING

if TYPE_CHECKING:
    from sumi.jobs.map.analysis import Analysis
    from sumi.jobs.map.diff import Difference

_NO_STORE = "a map keeps its pages, if any, in files on one machine"
_EXAMPLES = """\
examples:
  sumi map example.org example.com      into map/, with a map.toml to edit; again to continue
  sumi map --urls domains.txt           around the domains and pages in a list
  sumi map web.toml                     start, or continue a stopped run
  sumi map web.toml --update            after a finished run: fetch what was left, then look for changes
  sumi map web.toml --dry-run           check the file and show what would be crawled
  sumi map web.toml --stats             what the map holds
  sumi map web.toml --export-summary    write the summary again
  sumi map web.toml --fresh             forget the map and start over
  sumi map web.toml --state postgresql://db.example.org/sumi    share it with other machines
  sumi map export --format html web.toml     a picture of it; also graphml, gexf, parquet
  sumi map analyze web.toml             the most linked and central domains, communities
  sumi map diff 1 2 web.toml            what changed between two runs

Stopped with Ctrl-C? Run the same command again to continue.
"""


_USUAL = (
    *("config", "--output", "--max-depth", "--max-domain-requests", "--contact-email", "--blacklist"),
    *("--stub", "--urls", "--update", "--fresh", "--dry-run", "--stats", "--max-time", "--json", "--quiet"),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map",
        usage="sumi map [options] CONFIG | DOMAIN... | --urls FILE",
        description="Maps the web around chosen domains: pages, links, and how far away they are.",
        epilog=_EXAMPLES,
        usual=_USUAL,
        lacks={"--store": _NO_STORE},
    )
    parser.add_argument(
        "config",
        metavar="CONFIG|DOMAIN",
        nargs="*",
        help="A TOML file (see docs/guides/map.md), or the domains to explore.",
    )
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
        "--dry-run", action="store_true", help="Check the configuration and show what would be crawled."
    )
    look.add_argument("--stats", action="store_true", help="Show what the map holds, and exit.")
    look.add_argument("--export-summary", action="store_true", help="Write the summary again, and exit.")
    _add_beginning(parser)
    _add_sharing(parser)
    add_settings(parser, OPERATING)
    add_reporting(parser)
    return parser


def _add_beginning(parser: SentenceParser) -> None:
    group = parser.add_argument_group("without a configuration")
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help=f"Folder for the map and the {FILE} that is made. Default: {DEFAULT_FOLDER}.",
    )
    add_lists(group, "Begin with the domains and pages in this list")
    for name in ("blacklist", "stub"):
        words = {"blacklist": "Never visit this domain.", "stub": "Record links to this domain, visit none."}
        group.add_argument(f"--{name}", metavar="DOMAIN", action="append", help=f"{words[name]} Repeatable.")
    for setting in option_settings():
        add_option(group, setting)
    add_save_config(group)


def _add_sharing(parser: SentenceParser) -> None:
    group = parser.add_argument_group("on many machines")
    group.add_argument(
        "--state",
        metavar="ADDRESS",
        help="Share the map in the database postgresql://HOST/DATABASE, where sumi worker helps with it. "
        "Default: on this machine alone.",
    )
    group.add_argument("--job", metavar="NAME", help="Its name there. Default: the first domain to explore.")


def _sharing(parser: SentenceParser, options: argparse.Namespace) -> dict[str, Any]:
    if options.state is None:
        if options.job is not None:
            parser.error("--job names a map in a database: give its address by --state")
        return {}
    for given, option, why in (
        (options.fresh, "fresh", "give another one a name of its own by --job"),
        (
            options.update,
            "update",
            "without --state, this machine looks for changes",
        ),
        (options.resume, "resume", "give one of another configuration a name of its own by --job"),
    ):
        if given:
            parser.error(f"--{option} is not for a map in a database: {why}")
    if not is_database(options.state):
        parser.error("--state takes the address of a database, postgresql://HOST/DATABASE")
    name = None if options.job is None else str(parsed(JOB_NAME, options.job, "--job"))
    return {"state": str(parsed(STATE, options.state, "--state")), "job": name}


def _file_of(parser: SentenceParser, options: argparse.Namespace) -> Path | None:
    """The configuration, made if domains were given; None if it was only to be saved."""
    words, given = list(options.config), _given(options)
    if not words and not options.urls:
        parser.error("give the configuration of a map, the domains to explore, or --urls FILE")
    first = Path(words[0]) if words else Path()
    if (
        len(words) == 1
        and not options.urls
        and (first.suffix == ".toml" or first.is_file() or (first / FILE).is_file())
    ):
        if given or options.output or options.save_config:
            parser.error("options of a map go into its file; without a file, give domains")
        return first / FILE if first.is_dir() else first
    words += listed_urls(options, bare=True)
    if options.save_config is None:
        folder = Path(options.output or DEFAULT_FOLDER)
        return begin(folder, map_text(words, given, str(folder / FILE)))
    path = Path(options.save_config)
    if path.exists():
        parser.error(f"{path} exists, and is not replaced")
    with explained(path):
        path.write_text(map_text(words, given, str(path)), encoding="utf-8")
    print(f"written: {printable(str(path))}; run it: sumi map {printable(str(path))}")
    return None


def _given(options: argparse.Namespace) -> dict[str, Any]:
    found = chosen_options(options, option_settings())
    given = {path: found[field] for path, field in option_fields().items() if field in found}
    lists = {name: getattr(options, name) for name in ("blacklist", "stub")}
    return given | {name: domains for name, domains in lists.items() if domains}


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    shared = _sharing(parser, options)
    path = _file_of(parser, options)
    if path is None:
        return 0
    config = load_map_config(path)
    if options.dry_run:
        return _print_plan(config)
    if options.stats or options.export_summary:
        return _print_summary(config, write=options.export_summary)
    # Imported here because the engine loads the network and the parser, which the rest does not need.
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
                **shared,
                **operating_options(options),
            )
        )
    show_next(options, Sink(sys.stderr), _steps(summary.status, str(path), arguments))
    return exit_code(summary)


def _steps(status: str, file: str, arguments: Sequence[str]) -> list[tuple[str, str]]:
    if status in ("interrupted", "aborted"):
        return [("continue", same_again("map", arguments))]
    picture = command_line("sumi", "map", "export", "--format", "html", file)
    again = command_line("sumi", "map", file, "--update")
    return [("look", picture), ("update", again)]


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


_EXPORT_EXAMPLES = """\
examples:
  sumi map export --format html web.toml               a picture that opens in any browser, offline
  sumi map export --format svg                         a picture of ./map for a document; png too
  sumi map export --format csv                         tables of its pages and links
  sumi map export --format gexf web.toml -o web.gexf   for Gephi
  sumi map export --format graphml --level domain --measures map.db
  sumi map export --format parquet map.db -o web.parquet    web-nodes.parquet and web-links.parquet
"""


def export_parser() -> SentenceParser:
    from sumi.jobs.map.export import FORMATS

    parser = SentenceParser(
        prog="sumi map export",
        usage="sumi map export --format FORMAT [options] DB_OR_CONFIG",
        description="Writes the pages or domains of a map and the links between them to a file.",
        epilog=_EXPORT_EXAMPLES,
    )
    _add_place(parser)
    parser.add_argument(
        "--format", required=True, choices=FORMATS, metavar="|".join(FORMATS), help="What to write."
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="Output file. Default: next to the database, with its name."
    )
    _add_level(parser, None)
    parser.add_argument(
        "--measures",
        action="store_true",
        help="Add degree, PageRank, community and bridges of every node (not for pictures).",
    )
    return parser


def run_export(arguments: Sequence[str]) -> int:
    from sumi.jobs.map.export import export_map

    options = export_parser().parse_all(arguments)
    written = export_map(
        options.place, options.format, options.output, level=options.level, measures=options.measures
    )
    for path in written:
        print(f"written: {printable(str(path))}", file=sys.stderr)
    return 0


_ANALYZE_EXAMPLES = """\
examples:
  sumi map analyze web.toml
  sumi map analyze map.db --level page --top 50
  sumi map analyze map.db --json
"""


def analyze_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map analyze",
        usage="sumi map analyze [options] DB_OR_CONFIG",
        description=(
            "Shows which domains or pages have the most links, which are central (PageRank), which belong "
            "together (communities), and which links are the only way to a part of the map (bridges)."
        ),
        epilog=_ANALYZE_EXAMPLES,
    )
    _add_place(parser)
    _add_level(parser, Level.DOMAIN)
    parser.add_argument("--top", type=int, default=20, metavar="N", help="Length of each list. Default: 20.")
    parser.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    return parser


def run_analyze(arguments: Sequence[str]) -> int:
    options = analyze_parser().parse_all(arguments)
    from sumi.jobs.map.analysis import analyze_map

    analysis = analyze_map(options.place, options.level, options.top)
    out = Sink(sys.stdout)
    as_json = [msgspec.json.encode(analysis).decode()] if options.json else None
    for line in as_json or _analysis_lines(analysis, options.level):
        out.line(line)
    return 0


def _analysis_lines(analysis: "Analysis", level: Level) -> Iterator[str]:
    yield (
        f"{analysis.nodes:,} {level}s, {analysis.links:,} links between them, "
        f"{analysis.communities:,} communities, {analysis.bridges:,} bridges"
    )
    yield from ("", f"Linked from most {level}s")
    yield from (f"{one.value:>12,.0f}  {printable(one.name)}" for one in analysis.most_linked)
    yield from ("", "Most central, by PageRank")
    yield from (f"{one.value:>12.6f}  {printable(one.name)}" for one in analysis.most_central)
    yield from ("", "Largest communities")
    for community in analysis.largest_communities:
        yield f"{community.size:>12,}  around {', '.join(map(printable, community.leaders))}"
    yield from ("", "Bridges, between the most central first")
    for bridge in analysis.first_bridges:
        yield f"{'':>12}  {printable(bridge.one)} - {printable(bridge.other)}"


_DIFF_EXAMPLES = """\
examples:
  sumi map diff 1 2 web.toml
  sumi map diff 3 7 map.db --json | jq 'select(.event == "went")'
"""
_SIGNS = {"came": "+", "went": "-", "changed": "~"}


def diff_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map diff",
        usage="sumi map diff [options] RUN RUN DB_OR_CONFIG",
        description=(
            "Shows pages, links and domains added (+), removed (-) or changed (~) between two runs of a map. "
            "Exit code 1 if there is any difference."
        ),
        epilog=_DIFF_EXAMPLES,
    )
    parser.add_argument("old", metavar="RUN", type=int, help="Number of the earlier run.")
    parser.add_argument("new", metavar="RUN", type=int, help="Number of the later run.")
    _add_place(parser)
    parser.add_argument("--json", action="store_true", help="One JSON object per difference on stdout.")
    return parser


def run_diff(arguments: Sequence[str]) -> int:
    from sumi.jobs.map.diff import Subject, diff_map

    options = diff_parser().parse_all(arguments)
    counts: Counter[str] = Counter()
    out = Sink(sys.stdout)
    for difference in diff_map(options.place, options.old, options.new):
        counts[difference.subject] += 1
        out.line(msgspec.json.encode(difference).decode() if options.json else _difference_line(difference))
    parts = ", ".join(f"{counts[subject]:,} {subject}s" for subject in Subject)
    print(f"run {options.old} to run {options.new}: {parts} differ", file=sys.stderr)
    return 1 if counts else 0


def _difference_line(one: "Difference") -> str:
    target = f" -> {printable(one.target)}" if one.target else ""
    states = " to ".join(filter(None, (one.before, one.after)))
    return f"{_SIGNS[one.event]} {one.subject:<6} {printable(one.name)}{target}" + (
        f" ({printable(states)})" if states else ""
    )


def _add_place(parser: SentenceParser) -> None:
    parser.add_argument(
        "place",
        metavar="DB_OR_CONFIG",
        nargs="?",
        default=DEFAULT_FOLDER,
        help=f"The map's database, its configuration, or the folder of both. Default: {DEFAULT_FOLDER}.",
    )


def _add_level(parser: SentenceParser, default: Level | None) -> None:
    parser.add_argument(
        "--level",
        type=Level,
        choices=tuple(Level),
        default=default,
        metavar="page|domain",
        help="A node per page, or per domain. Default: "
        + (f"{default}." if default else "page; domain in svg, png and, without sumi[terrain], html."),
    )

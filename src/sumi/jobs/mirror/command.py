"""``sumi mirror``, and ``sumi sitemap``, which only lists the pages in a site's sitemaps."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sumi.console.narration import Verbosity
from sumi.console.next_steps import command_line, show_next, steps_of_mirror
from sumi.console.options import (
    add_loudness,
    add_progress,
    add_save_config,
    add_settings,
    given_flags,
    lists_from_stdin,
)
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, choose_reporter, ignore_questions
from sumi.console.summary import exit_code, worst_of
from sumi.console.terminal import Sink, printable
from sumi.errors import INTERRUPTED, StorageFailed, UsageError
from sumi.events import Summary
from sumi.files.disk_errors import explained
from sumi.jobs.mirror.settings import (
    LOOKING,
    NOT_LISTED,
    SETTINGS,
    URLS,
    MirrorSettings,
    load_settings,
    load_sites,
    mirror_text,
)
from sumi.policy import is_database
from sumi.settings.sources import Given, gathered

_EXAMPLES = """\
examples:
  sumi mirror https://docs.example.org              into ./output, one request per second
  sumi mirror https://docs.example.org/guide        only pages under /guide/
  sumi mirror docs.example.org -o docs --max-pages 200
  sumi mirror docs.example.org --follow-links --exclude '/blog/*' --contact me@example.org
  sumi mirror docs.example.org api.example.com      two sites, one after the other, into one folder
  sumi mirror docs.example.org --assets --rewrite-links
  sumi mirror --urls pages.txt                      the pages in a list, and no others
  sumi mirror docs.example.org --update
  sumi mirror --config site.toml --json

Stopped with Ctrl-C? Run the same command again to continue.
"""


TABLE = (URLS, *(setting for setting in SETTINGS if setting.name != "url"))


# What most people ever need.
_USUAL = (
    *("urls", "--output", "--update", "--fresh", "--max-pages", "--include", "--exclude", "--follow-links"),
    *(
        "--assets",
        "--rewrite-links",
        "--render",
        "--rate-limit",
        "--contact",
        "--config",
        "--quiet",
        "--verbose",
    ),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi mirror",
        usage="sumi mirror [options] URL...",
        description="Mirrors a site into a tree of Markdown files, politely; resumes after any interruption.",
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    add_settings(parser, TABLE)
    report = parser.add_argument_group("reporting")
    report.add_argument("--config", metavar="FILE", help="Settings from the [mirror] section of a TOML file.")
    add_save_config(report)
    report.add_argument(
        "--list-only", action="store_true", help="List the pages in the sitemaps; fetch none of them."
    )
    _add_format(report)
    add_loudness(report)
    add_progress(report)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    with lists_from_stdin(given_flags(options, TABLE)) as flags:
        return _run(arguments, options, flags)


def _run(arguments: Sequence[str], options: argparse.Namespace, flags: dict[str, Given]) -> int:
    def read_sites() -> list[MirrorSettings]:
        return load_sites(flags, os.environ, options.config)

    sites = read_sites()
    if options.save_config is not None:
        return _save(options.save_config, sites, flags, options.config)
    from sumi.console.logging_in import ensure_logged_in

    ensure_logged_in(sites[0].login, [site.url for site in sites], sites[0].browser)
    if options.list_only:
        return max([_print_listing(site, options.format, quiet=options.quiet) for site in sites])
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=options.verbose, quiet=options.quiet)
    reporter = choose_reporter(
        verbosity, out, err, os.environ, as_json=options.json, progress=options.progress
    )
    if len(sites) > 1:
        code = run_several(sites, reporter, read_sites)
    else:
        summary = run_reported(sites[0], reporter, lambda: read_sites()[0])
        show_next(options, err, _steps(summary, arguments, sites[0]))
        code = exit_code(summary)
    _complain_if_cut_short(out)
    return code


def _steps(summary: Summary, arguments: Sequence[str], site: MirrorSettings) -> list[tuple[str, str]]:
    if site.state is None or not is_database(site.state):
        return steps_of_mirror(summary, arguments, site.output)
    from sumi.jobs.mirror.recipe import mirror_home  # the run has loaded it

    # Without a store, each machine has a part of the pages.
    pages = "" if site.store is None else site.state
    return steps_of_mirror(summary, arguments, pages, site.state, site.job or mirror_home(site))


def _save(name: str, sites: list[MirrorSettings], flags: dict[str, Given], config: str | None) -> int:
    values = gathered(flags, os.environ, config, TABLE, "mirror")
    values.pop("urls", None)
    path = Path(name)
    if path.exists():
        raise UsageError(f"{path} exists, and is not replaced: name another file")
    with explained(path):
        path.write_text(mirror_text([site.url for site in sites], values, name), encoding="utf-8")
    command = command_line("sumi", "mirror", "--config", name)
    Sink(sys.stdout).line(f"written: {printable(name)}; run it: {printable(command)}")
    return 0


def run_reported(
    settings: MirrorSettings, reporter: Reporter, read_settings: Callable[[], MirrorSettings] | None = None
) -> Summary:
    """Run the job with ``reporter`` listening; a reload takes its limits from ``read_settings``."""
    # Imported here because the engine loads the network and the parser, which --help does not need.
    from sumi.workers.process import worker_started_early

    ignore_questions()
    try:
        with worker_started_early(settings.processes, settings.parse_cpu, settings.parse_memory):
            from sumi.assembly.parts import run_loop
            from sumi.jobs.mirror.run import mirror

            return run_loop(mirror(settings, listeners=[reporter], read_settings=read_settings))
    finally:
        reporter.close()


def run_several(
    sites: list[MirrorSettings],
    reporter: Reporter,
    read_sites: Callable[[], list[MirrorSettings]] | None = None,
) -> int:
    from sumi.jobs.mirror.several_sites import run_sites

    ignore_questions()
    try:
        ends = run_sites(sites, [reporter], read_sites)
    finally:
        reporter.close()
    codes = [exit_code(end.summary) for end in ends if end.summary is not None]
    codes += [end.error.exit_code for end in ends if end.error is not None]
    codes += [INTERRUPTED for end in ends if end.not_started]
    return worst_of(codes)


def _complain_if_cut_short(out: Sink) -> None:
    """A closed pipe is the reader's choice; a full disk is an error."""
    if out.failure is not None and not isinstance(out.failure, BrokenPipeError):
        raise StorageFailed(
            f"the mirror is done, but some of its events could not be written: {out.failure.strerror}"
        )


_SITEMAP_EXAMPLES = """\
examples:
  sumi sitemap https://docs.example.org                  as Markdown
  sumi sitemap docs.example.org --format text | wc -l    how many pages there are
  sumi sitemap docs.example.org/sitemap-de.xml --format json
"""


_SITEMAP_USUAL = (
    *("url", "--format", "--include", "--exclude", "--hosts", "--rate-limit", "--contact", "--user-agent"),
    *("--auth", "--config", "--quiet"),
)


def sitemap_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi sitemap",
        usage="sumi sitemap [options] URL",
        description=(
            "Lists the pages in a site's sitemaps that a mirror with the same options would take. Fetches "
            "only robots.txt and the sitemaps. Exit code 1 if there are none."
        ),
        epilog=_SITEMAP_EXAMPLES,
        usual=_SITEMAP_USUAL,
    )
    add_settings(parser, LOOKING, NOT_LISTED)
    report = parser.add_argument_group("reporting")
    report.add_argument("--config", metavar="FILE", help="Settings from the [mirror] section of a TOML file.")
    _add_format(report)
    report.add_argument("-q", "--quiet", action="store_true", help="Show only problems.")
    return parser


def _add_format(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        metavar="FORM",
        choices=("markdown", "json", "text"),
        default="markdown",
        help="Output format; text has one URL per line. Default: markdown.",
    )


def run_sitemap(arguments: Sequence[str]) -> int:
    options = sitemap_parser().parse_all(arguments)
    settings = load_settings(given_flags(options, LOOKING), os.environ, options.config)
    return _print_listing(settings, options.format, quiet=options.quiet)


def _print_listing(settings: MirrorSettings, form: str, *, quiet: bool) -> int:
    from sumi.assembly.parts import run_loop
    from sumi.jobs.mirror.sitemap_listing import ListFormat, format_listing, sitemap

    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=0, quiet=quiet)
    reporter = choose_reporter(verbosity, out, err, os.environ, as_json=False)
    try:
        listing = run_loop(sitemap(settings, listeners=[reporter]))
    finally:
        reporter.close()
    out.write(format_listing(listing, ListFormat(form)))
    if not listing.pages:
        err.line("no sitemap lists a page; sumi mirror follows links instead")
    elif not quiet:
        err.line(
            "linked pages that no sitemap lists are missing here: sumi plan finds some in a sample, sumi "
            "mirror --follow-links takes them"
        )
    return 0 if listing.pages else 1

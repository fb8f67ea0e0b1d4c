"""``sumi sitemap``: the pages that a site's sitemaps list; no page is fetched."""

import argparse
import os
import sys
from collections.abc import Sequence

from sumi.console.narration import Verbosity
from sumi.console.options import add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import choose_reporter
from sumi.console.terminal import Sink
from sumi.jobs.mirror.settings import SETTINGS, MirrorSettings, load_settings

FOUND, NONE_FOUND = 0, 1

_EXAMPLES = """\
examples:
  sumi sitemap https://docs.example.org                  as Markdown
  sumi sitemap docs.example.org --format text | wc -l    how many pages there are
  sumi sitemap docs.example.org/sitemap-de.xml --format json
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi sitemap",
        usage="sumi sitemap [options] URL",
        description=(
            "Lists the pages in a site's sitemaps that a mirror with the same options would take. Fetches "
            "only robots.txt and the sitemaps. Exit code 1 if there are none."
        ),
        epilog=_EXAMPLES,
    )
    add_settings(parser, SETTINGS)
    report = parser.add_argument_group("reporting")
    report.add_argument("--config", metavar="FILE", help="Settings from the [mirror] section of a TOML file.")
    add_format(report)
    report.add_argument("-q", "--quiet", action="store_true", help="Show only problems.")
    return parser


def add_format(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        metavar="FORM",
        choices=("markdown", "json", "text"),
        default="markdown",
        help="Output format; text has one URL per line. Default: markdown.",
    )


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    settings = load_settings(given_flags(options, SETTINGS), os.environ, options.config)
    return print_listing(settings, options.format, quiet=options.quiet)


def print_listing(settings: MirrorSettings, form: str, *, quiet: bool) -> int:
    from sumi.assembly.parts import run_loop
    from sumi.jobs.mirror.listing import ListFormat, sitemap, written

    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=0, quiet=quiet)
    reporter = choose_reporter(verbosity, out, err, os.environ, as_json=False)
    try:
        listing = run_loop(sitemap(settings, listeners=[reporter]))
    finally:
        reporter.close()
    out.write(written(listing, ListFormat(form)))
    if not listing.pages:
        err.line("no sitemap lists a page; sumi mirror follows links instead")
    elif not quiet:
        err.line(
            "linked pages that no sitemap lists are missing here: sumi plan finds some in a sample, sumi "
            "mirror --follow-links takes them"
        )
    return FOUND if listing.pages else NONE_FOUND

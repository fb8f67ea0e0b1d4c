"""``sumi import``: mirrors made of web archives, without the network."""

import os
import sys
from collections.abc import Sequence

from sumi.console.narration import Verbosity
from sumi.console.options import add_reporting, add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import choose_reporter
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink
from sumi.errors import UsageError
from sumi.jobs.mirror.settings import SETTINGS

FORMATS = ("warc", "wacz")
# What a mirror can decide when nothing is requested.
TABLE = tuple(
    setting
    for setting in SETTINGS
    if setting.name
    in (
        "output",
        "include",
        "exclude",
        "max-pages",
        "rewrite-links",
        "assets",
        "drop-duplicates",
        "min-fidelity",
        "max-junk",
        "keep-furniture",
        "raw",
        "processes",
        "min-free",
        "fresh",
    )
)

_EXAMPLES = """\
examples:
  sumi import warc crawl.warc.gz                     every site in it, into ./output
  sumi import wacz crawl.wacz -o docs --rewrite-links
  sumi import warc part-*.warc.gz --include '/guide/**'
"""


_USUAL = (
    *("files", "--output", "--include", "--exclude", "--max-pages", "--rewrite-links", "--assets"),
    *("--fresh", "--json", "--quiet", "--verbose"),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi import",
        usage="sumi import [options] warc|wacz FILE...",
        description=(
            "Makes mirrors of what wget, Heritrix, Browsertrix or Sumi archived, as if fetched, but "
            "without the network. Run it again with more files to add what is new."
        ),
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="WARC files, gzipped or not, or WACZ files.")
    add_settings(parser, TABLE)
    add_reporting(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    files = options.files[1:] if options.files[0] in FORMATS else options.files
    if not files:
        raise UsageError("give the files to import, such as sumi import warc crawl.warc.gz")
    from sumi.jobs.mirror.archive_import import archived_sites
    from sumi.jobs.mirror.command import run_reported, run_several
    from sumi.settings.sources import gathered

    given = gathered(given_flags(options, TABLE), os.environ, None, TABLE, "")
    sites = archived_sites(files, given)
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=options.verbose, quiet=options.quiet)
    reporter = choose_reporter(
        verbosity, out, err, os.environ, as_json=options.json, progress=options.progress
    )
    return run_several(sites, reporter) if len(sites) > 1 else exit_code(run_reported(sites[0], reporter))

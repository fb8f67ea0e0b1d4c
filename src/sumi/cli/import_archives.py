"""``sumi import``: mirrors, or a capture, made of web archives, without the network."""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sumi.console.options import add_option, add_reporting, add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import reporting
from sumi.console.summary import exit_code
from sumi.errors import UsageError
from sumi.jobs.capture.settings import FOLDER_OF_CAPTURES, WHERE
from sumi.jobs.mirror.settings import SETTINGS
from sumi.settings.sources import Given, gathered

if TYPE_CHECKING:
    from sumi.console.reporters import Reporter

FORMATS = ("warc", "wacz")
_BOTH = ("include", "exclude", "raw", "processes", "min-free")
_MIRROR = (
    *("output", "max-pages", "rewrite-links", "assets", "drop-duplicates", "min-fidelity", "max-junk"),
    *("keep-furniture", "fresh", "git"),
)
# What can be decided when nothing is requested.
TABLE = tuple(setting for setting in SETTINGS if setting.name in (*_BOTH, *_MIRROR))

_EXAMPLES = """\
examples:
  sumi import warc crawl.warc.gz                     every site in it, into ./output
  sumi import wacz crawl.wacz -o docs --rewrite-links
  sumi import warc part-*.warc.gz --include '/guide/**'
  sumi import warc crawl.warc.gz --as capture        one job of ./captures, each text once
"""


_USUAL = (
    *("files", "--as", "--output", "--captures", "--include", "--exclude", "--max-pages", "--rewrite-links"),
    *("--assets", "--fresh", "--json", "--quiet", "--verbose"),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi import",
        usage="sumi import [options] warc|wacz FILE...",
        description=(
            "Makes mirrors, or a capture, of what wget, Heritrix, Browsertrix or Sumi archived, as if "
            "fetched, but without the network. Run it again with more files to add what is new."
        ),
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="WARC files, gzipped or not, or WACZ files.")
    kind = parser.add_argument_group("what to make")
    kind.add_argument(
        "--as",
        dest="kind",
        choices=("mirror", "capture"),
        default="mirror",
        metavar="mirror|capture",
        help="A mirror of each site, or one capture of them all. Default: mirror.",
    )
    add_option(kind, FOLDER_OF_CAPTURES._replace(help="With --as capture: folder of the captures."))
    # Its name before captures could be in an object store.
    kind.add_argument("--store", dest="captures", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    add_settings(parser, TABLE)
    add_reporting(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    files = options.files[1:] if options.files[0] in FORMATS else options.files
    if not files:
        raise UsageError("give the files to import, such as sumi import warc crawl.warc.gz")
    given = given_flags(options, TABLE)
    return _capture(files, given, options) if options.kind == "capture" else _mirrors(files, given, options)


def _mirrors(files: Sequence[str], given: Mapping[str, Given], options: argparse.Namespace) -> int:
    from sumi.jobs.mirror.archive_import import archived_sites
    from sumi.jobs.mirror.command import run_reported, run_several

    if "captures" in options:
        raise UsageError("--captures is for --as capture; the folder of mirrors is --output")
    sites = archived_sites(files, gathered(given, os.environ, None, TABLE, ""))
    with reporting(options) as reporter:
        if len(sites) > 1:
            return run_several(sites, reporter)
        return exit_code(run_reported(sites[0], reporter))


def _capture(files: Sequence[str], given: Mapping[str, Given], options: argparse.Namespace) -> int:
    foreign = [f"--{name}" for name in given if name not in _BOTH]
    if foreign:
        raise UsageError(
            f"{' and '.join(foreign)}: for mirrors only; a capture takes --captures and --include"
        )
    table = (*(setting for setting in TABLE if setting.name in _BOTH), *WHERE)
    chosen = gathered(given_flags(options, table), os.environ, None, table, "capture")
    with reporting(options) as reporter:
        return _run_capture(files, chosen, reporter)


def _run_capture(files: Sequence[str], chosen: Mapping[str, object], reporter: "Reporter") -> int:
    from sumi.assembly.parts import run_loop
    from sumi.jobs.capture.archive_import import archived_capture, capture_archived

    return exit_code(run_loop(capture_archived(archived_capture(files, chosen), [reporter])).summary)

"""``sumi export``: what jobs captured, for other programs."""

import sys
from collections.abc import Sequence

from sumi.console.options import add_reporting
from sumi.console.parser import SentenceParser
from sumi.console.reporters import reporting
from sumi.console.terminal import Sink, duration, printable
from sumi.errors import COMPLETE, WITH_FAILURES
from sumi.policy import is_database

_EXAMPLES = """\
examples:
  sumi export wacz output/docs.example.org           replay it at replayweb.page, or offline
  sumi export wacz crawl.warc.gz -o crawl.wacz       of WARC files: every record of them
  sumi export parquet --sections -o sections.parquet
  sumi export jsonl captures --since 7d
  sumi export markdown --max-tokens 100000 -o parts  for a model, in pieces that it can read
  sumi export jsonl postgresql://db.example.org/sumi --job docs
  sumi export epub output/docs.example.org           for an e-book reader
  sumi export obsidian output/docs.example.org -o ~/vault/docs
  sumi export mkdocs -o site                         then: mkdocs build -f site/mkdocs.yml
"""


def build_parser() -> SentenceParser:
    from sumi.exchange.formats import FORMATS

    listing = "\n".join(f"  {name:<12}{kind.summary}" for name, kind in FORMATS.items())
    parser = SentenceParser(
        prog="sumi export",
        usage="sumi export [options] FORMAT [DIR...]",
        description=(
            "Writes the pages of mirrors, captures and crawls in a format that other programs read. The "
            "result is there whole or not at all."
        ),
        epilog=f"formats:\n{listing}\n\n{_EXAMPLES}",
    )
    parser.add_argument("format", metavar="FORMAT", help="One of the formats below.")
    parser.add_argument(
        "places",
        metavar="DIR",
        nargs="*",
        help="Folders of jobs, one above them, or the address of a database; for wacz also WARC files. "
        "Default: output and captures.",
    )
    parser.add_argument("--job", metavar="NAME", help="In a database, which job. Default: all.")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="What to write. Default: the job's name, here."
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="Only pages that changed since: an age such as 7d or 12h, or a date."
    )
    parser.add_argument(
        "--sections", action="store_true", help="jsonl and parquet: a row for each section of a page."
    )
    parser.add_argument(
        "--max-tokens",
        metavar="N",
        type=int,
        default=0,
        help="llms-full and markdown: a folder of parts, none longer than this.",
    )
    add_reporting(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    places = options.places
    if options.job is not None:
        if len(places) != 1 or not is_database(places[0]):
            parser.error("--job names a job in a database: give its address, postgresql://HOST/DATABASE")
        places = [f"{places[0]}#{options.job}"]
    from sumi.assembly.parts import run_loop
    from sumi.exchange.export import export

    with reporting(options) as reporter:
        done = run_loop(
            export(
                options.format,
                *places,
                output=options.output,
                since=options.since,
                sections=options.sections,
                max_tokens=options.max_tokens,
                listeners=[reporter],
            )
        )
    if not options.json:
        err = Sink(sys.stderr)
        for note in done.notes:
            err.line(f"note: {printable(note)}")
        if not options.quiet:
            about = f"{done.written:,} written, as of {done.moment}, in {duration(done.seconds)}"
            err.line(printable(f"{done.output}: {about}"))
    return WITH_FAILURES if done.missing else COMPLETE

"""``sumi map review``: what is undecided about a map, and the decisions."""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.jobs.map.beginning import DEFAULT_FOLDER

if TYPE_CHECKING:
    from sumi.jobs.map.review import Undecided

_EXAMPLES = """\
examples:
  sumi map review                                        undecided domains of ./map, the weightiest first
  sumi map review web.toml --in a.org --out ads.net --why 'core of the field'
  sumi map review web.toml --ask                         one after the other, at the terminal
  sumi map review web.toml --from decided.csv            columns domain, decision and why
"""
_CHOICES = ("in", "out", "stub", "undecided")
_HELP = {
    "in": "Explore this domain like those of the configuration. Repeatable.",
    "out": "Never visit this domain. Repeatable.",
    "stub": "Record links to this domain, without visiting it. Repeatable.",
    "undecided": "Take back what was decided about this domain. Repeatable.",
}
_KEYS = {"i": "in", "o": "out", "s": "stub"}


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi map review",
        usage="sumi map review [options] CONFIG",
        description=(
            "Lists the domains that a map found and nobody has decided about, with what speaks for them, and "
            "takes decisions, which the next run obeys."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "config",
        metavar="CONFIG",
        nargs="?",
        default=DEFAULT_FOLDER,
        help=f"The map's configuration, or its folder. Default: {DEFAULT_FOLDER}.",
    )
    for choice in _CHOICES:
        parser.add_argument(f"--{choice}", action="append", default=[], metavar="DOMAIN", help=_HELP[choice])
    parser.add_argument("--from", dest="source", metavar="FILE", help="Decisions from a CSV file.")
    parser.add_argument("--ask", action="store_true", help="Ask about one domain after the other.")
    parser.add_argument("--why", default="", metavar="TEXT", help="The reason, kept with the decision.")
    parser.add_argument("--who", metavar="NAME", help="Who decides. Default: your user name.")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="Length of the list. Default: 20.")
    parser.add_argument(
        "--json", action="store_true", help="One JSON object per domain or decision on stdout."
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    from sumi.jobs.map.review import decide_map, review_map

    out = Sink(sys.stdout)
    choices = [(domain, choice) for choice in _CHOICES for domain in getattr(options, choice)]
    wanted = [(domain, choice, options.why) for domain, choice in choices]
    if options.source is not None:
        wanted += list(_from_file(Path(options.source), options.why))
    if options.ask:
        wanted += list(_asked(review_map(options.config, options.top), out, options.why))
    if not wanted and not options.ask:
        undecided = review_map(options.config, options.top)
        for one in undecided:
            out.line(msgspec.json.encode(one).decode() if options.json else "\n".join(_lines(one)))
        if not undecided and not options.json:
            out.line("nothing is undecided")
        return 0
    for why in dict.fromkeys(why for *_, why in wanted):
        pairs = [(domain, choice) for domain, choice, reason in wanted if reason == why]
        for made in decide_map(options.config, pairs, why, options.who):
            words = f"{made.domain}: {made.choice}"
            out.line(msgspec.json.encode(made).decode() if options.json else printable(words))
    return 0


def _lines(one: "Undecided") -> Iterator[str]:
    yield (
        f"{printable(one.domain)}  linked from {one.from_domains:,} domains, {one.from_pages:,} pages; "
        f"{one.pages:,} of its pages known"
    )
    for title in one.titles:
        yield f"    says  {printable(title)}"
    for source in one.linked_from:
        yield f"    from  {printable(source.url)}  {printable(source.title or '')}".rstrip()


def _from_file(path: Path, why: str) -> Iterator[tuple[str, str, str]]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            if not {"domain", "decision"} <= set(rows.fieldnames or ()):
                raise UsageError(f"{path} needs a first line with the columns domain, decision and why")
            for row in rows:
                yield row["domain"] or "", row["decision"] or "", row.get("why") or why
    except (OSError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _asked(undecided: Sequence["Undecided"], out: Sink, why: str) -> Iterator[tuple[str, str, str]]:
    """Until the end, ``q`` or Ctrl-D."""
    for one in undecided:
        out.line("\n".join(_lines(one)))
        print("in, out, stub, later or quit? [iosLq] ", end="", file=sys.stderr, flush=True)
        key = sys.stdin.readline()[:1].lower()
        if key in ("", "q"):
            return
        if key in _KEYS:
            yield one.domain, _KEYS[key], why

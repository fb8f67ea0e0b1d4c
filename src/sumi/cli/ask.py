"""``sumi index``, ``sumi search`` and ``sumi read``: what was captured, found and read again."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Palette, Sink, printable

if TYPE_CHECKING:
    from sumi.corpus.reading import PageOutline
    from sumi.corpus.searching import Found

DONE = 0
NOTHING = 1

_INDEX_EXAMPLES = """\
examples:
  sumi index                          what is in ./output and ./captures
  sumi index library/docs --rebuild   from nothing
"""
_SEARCH_EXAMPLES = """\
examples:
  sumi search cancel a task after a timeout
  sumi search 'retry -python "exponential backoff"' --in library --in captures
  sumi search site:docs.example.org install --limit 3 --json
"""
_READ_EXAMPLES = """\
examples:
  sumi read docs.example.org/guide --outline        its headings, and how long each section is
  sumi read docs.example.org/guide#install          one section
  sumi read docs.example.org/guide --tokens 500     the beginning of a page
"""


# ── index ──────────────────────────────────────────────────────────────────────────────────────────────────


def index_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi index",
        usage="sumi index [options] [DIR...]",
        description=(
            "Brings the search index of captured pages up to date. Runs do so at their end, and searches "
            "where it is needed: this is for the time in between, and to rebuild an index."
        ),
        epilog=_INDEX_EXAMPLES,
    )
    parser.add_argument(
        "folders", metavar="DIR", nargs="*", help="Folders of captured pages. Default: output and captures."
    )
    parser.add_argument("--rebuild", action="store_true", help="Build it from nothing.")
    parser.add_argument("--json", action="store_true", help="One JSON object per index on stdout.")
    return parser


def run_index(arguments: Sequence[str]) -> int:
    options = index_parser().parse_all(arguments)
    from sumi.assembly.parts import run_loop
    from sumi.corpus.indexing import index

    out = Sink(sys.stdout)
    for done in run_loop(index(*options.folders, rebuild=options.rebuild, tell=_tell)):
        if options.json:
            out.line(json.dumps({**done._asdict(), "root": str(done.root)}))
            continue
        lost = f", {done.unreadable:,} unreadable" if done.unreadable else ""
        out.line(
            printable(
                f"{done.root}: {done.pages:,} pages; {done.added:,} added, {done.changed:,} changed, "
                f"{done.gone:,} gone{lost}"
            )
        )
    return DONE


# ── search ─────────────────────────────────────────────────────────────────────────────────────────────────


def search_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi search",
        usage="sumi search [options] WORD...",
        description=(
            'Finds captured pages by what they say. Ask in everyday words; "quoted words" have to follow one '
            "another, -word leaves pages out, site:HOST looks on one site. Exit code 1 if nothing is found."
        ),
        epilog=_SEARCH_EXAMPLES,
    )
    parser.add_argument("words", metavar="WORD", nargs="+", help="What to look for.")
    _add_places(parser)
    parser.add_argument("--site", metavar="HOST", default="", help="Only pages of this site.")
    parser.add_argument("--limit", metavar="N", type=_number, default=10, help="The most pages. Default: 10.")
    parser.add_argument("--code", action="store_true", help="Only sections with code.")
    parser.add_argument("--json", action="store_true", help="One JSON object per page on stdout.")
    return parser


def run_search(arguments: Sequence[str]) -> int:
    # A word such as -python is part of the question.
    parser = search_parser()
    options = parser.parse_all(_with_exclusions(arguments))
    from sumi.assembly.parts import run_loop
    from sumi.corpus.searching import search

    query = " ".join(word.removeprefix(_MINUS) if word.startswith(_MINUS) else word for word in options.words)
    found = run_loop(
        search(
            query,
            *options.folders,
            site=options.site,
            limit=options.limit,
            kind="code" if options.code else "any",
            tell=_tell,
        )
    )
    out = Sink(sys.stdout)
    palette = Palette.for_sink(out, os.environ)
    for number, page in enumerate(found, 1):
        out.line(_as_json(page) if options.json else "\n".join(_lines(number, page, palette)))
    if not found:
        print("nothing found: try fewer or other words, or another --in folder", file=sys.stderr)
    return DONE if found else NOTHING


_MINUS = "\N{NULL}"


def _with_exclusions(arguments: Sequence[str]) -> list[str]:
    """``-word`` is no option of ours, unless it is one."""
    known = {"-h", "-o"}
    return [
        f"{_MINUS}{word}"
        if len(word) > 2 and word[0] == "-" and word[1] != "-" and word not in known
        else word
        for word in arguments
    ]


def _lines(number: int, page: "Found", palette: Palette) -> list[str]:
    best = page.sections[0] if page.sections else None
    anchor = f"#{best.anchor}" if best is not None and best.anchor else ""
    lines = [f"{number:>2}. {palette.good(printable(page.title or page.url))}"]
    if best is not None and best.trail and best.trail != page.title:
        lines.append(f"    {printable(best.trail)}")
    lines.append(f"    {palette.faint(printable(page.url + anchor))}")
    if page.file:
        lines.append(f"    {palette.faint(printable(page.file))}")
    if page.text_missing:
        lines.append(f"    {palette.caution('its text was changed or removed since it was captured')}")
    lines += [f"    {printable(line)}" for line in (best.snippet if best is not None else ())]
    for other in page.sections[1:]:
        lines.append(palette.faint(printable(f"    also: {other.trail or page.title} (#{other.anchor})")))
    return [*lines, ""]


def _as_json(page: "Found") -> str:
    import msgspec

    return json.dumps(msgspec.to_builtins(page))


# ── read ───────────────────────────────────────────────────────────────────────────────────────────────────


def read_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi read",
        usage="sumi read [options] URL",
        description="Prints a captured page as Markdown, or a part of it.",
        epilog=_READ_EXAMPLES,
    )
    parser.add_argument("url", metavar="URL", help="A captured page, with #section if one is wanted.")
    _add_places(parser)
    parser.add_argument("--section", metavar="NAME", default="", help="One section: its anchor or heading.")
    parser.add_argument("--outline", action="store_true", help="The headings instead of the text.")
    parser.add_argument(
        "--tokens", metavar="N", type=_number, default=0, help="At most this many tokens. Default: all."
    )
    parser.add_argument("--offset", metavar="N", type=_offset, default=0, help="Where to go on. Default: 0.")
    parser.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    return parser


def run_read(arguments: Sequence[str]) -> int:
    options = read_parser().parse_all(arguments)
    from sumi.assembly.parts import run_loop
    from sumi.corpus.reading import outline, read

    if options.outline:
        _show_outline(run_loop(outline(options.url, *options.folders, tell=_tell)), options)
        return DONE
    part = run_loop(
        read(
            options.url,
            *options.folders,
            section=options.section,
            max_tokens=options.tokens or sys.maxsize,
            offset=options.offset,
            tell=_tell,
        )
    )
    out = Sink(sys.stdout)
    if options.json:
        import msgspec

        out.line(json.dumps(msgspec.to_builtins(part)))
        return DONE
    text = _harmless(part.text) if out.is_terminal else part.text
    out.write(text if text.endswith("\n") else f"{text}\n")
    if part.left:
        print(f"(about {part.left:,} more tokens: go on with --offset {part.next_offset})", file=sys.stderr)
    return DONE


def _harmless(text: str) -> str:
    """On a terminal a page's text must not control it."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _show_outline(found: "PageOutline", options: argparse.Namespace) -> None:
    out = Sink(sys.stdout)
    if options.json:
        import msgspec

        out.line(json.dumps(msgspec.to_builtins(found)))
        return
    out.line(printable(f"{found.title or found.url}  ({found.tokens:,} tokens)"))
    for each in found.headings:
        if each.level:
            indent = "  " * each.level
            out.line(printable(f"{indent}{each.heading}  #{each.anchor}  ({each.tokens:,})"))


def _add_places(parser: SentenceParser) -> None:
    parser.add_argument(
        "--in",
        dest="folders",
        metavar="DIR",
        action="append",
        default=[],
        help="A folder of captured pages. Repeatable. Default: output and captures.",
    )


def _tell(words: str) -> None:
    print(printable(words), file=sys.stderr)


def _number(word: str) -> int:
    if word.isascii() and word.isdigit() and 0 < len(word) < 10 and int(word):
        return int(word)
    raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1")


def _offset(word: str) -> int:
    if word.isascii() and word.isdigit() and 0 < len(word) < 13:
        return int(word)
    raise argparse.ArgumentTypeError(f"{word!r} is not a number from 0")

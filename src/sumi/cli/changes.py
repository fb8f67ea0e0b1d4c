"""``sumi log``, ``sumi diff``, ``sumi feed`` and ``sumi history prune``: how pages changed over all runs."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Palette, Sink, printable

if TYPE_CHECKING:
    from sumi.corpus.page_diffs import Hunk, PageDiff
    from sumi.history.rows import HistoryRun, Version

SAME = 0
LOST = 1

_LOG_EXAMPLES = """\
examples:
  sumi log                                   the runs of every site in ./output
  sumi log docs.example.org/guide            the versions of a page
  sumi log --in library --limit 5 --json
"""
_DIFF_EXAMPLES = """\
examples:
  sumi diff docs.example.org/guide           what its last change was
  sumi diff docs.example.org/guide 2 5       between two versions, as sumi log numbers them
  sumi diff docs.example.org/guide 2026-01-31 --word
  sumi diff --since 7d --stat                every page that changed within a week
"""
_FEED_EXAMPLES = """\
examples:
  sumi feed --diff -o changes.atom           for a feed reader, with the diffs
  sumi feed output/docs.example.org --format jsonl --since 7d
  sumi feed --format jsonl --chunks --cursor store.cursor     what a vector store has to add and remove
"""
_PRUNE_EXAMPLES = """\
examples:
  sumi history prune --keep 90d
  sumi history prune output/docs.example.org --keep 1y
"""


# ── log ────────────────────────────────────────────────────────────────────────────────────────────────────


def log_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi log",
        usage="sumi log [options] [URL]",
        description="Lists the versions of a page, or the runs of every site and what each changed.",
        epilog=_LOG_EXAMPLES,
    )
    parser.add_argument("url", metavar="URL", nargs="?", help="A page; without one, the runs are listed.")
    _add_place(parser)
    parser.add_argument("--limit", metavar="N", type=_number, default=20, help="The most lines. Default: 20.")
    parser.add_argument("--json", action="store_true", help="One JSON object per version or run on stdout.")
    return parser


def run_log(arguments: Sequence[str]) -> int:
    options = log_parser().parse_all(arguments)
    from sumi.corpus.change_log import runs, versions

    out = Sink(sys.stdout)
    if options.url is not None:
        for version in versions(options.url, options.folder)[::-1][: options.limit]:
            out.line(json.dumps(_version_fields(version)) if options.json else _version_line(version))
        return SAME
    for site in runs(options.folder, options.limit):
        if not options.json:
            out.line(printable(site.site))
        for run in site.runs:
            out.line(json.dumps({"site": site.site, **run._asdict()}) if options.json else _run_line(run))
    return SAME


def _version_line(version: "Version") -> str:
    from sumi.corpus.change_feeds import summary_of
    from sumi.files.plain_text import iso_utc

    return printable(f"{version.number:>4}  {iso_utc(version.at)}  {summary_of(version)}")


def _run_line(run: "HistoryRun") -> str:
    from sumi.files.plain_text import iso_utc

    if run.added is None:
        return f"{run.id:>4}  {iso_utc(run.started_at)}  not finished yet"
    counts = f"{run.added:,} added, {run.changed:,} changed, {run.moved:,} moved, {run.gone:,} gone"
    job = f"  {run.job}" if run.job else ""
    return printable(f"{run.id:>4}  {iso_utc(run.started_at)}  {run.status:<11}  {counts}{job}")


def _version_fields(version: "Version") -> dict[str, object]:
    from sumi.files.plain_text import iso_utc

    return {
        "url": version.url,
        "version": version.number,
        "kind": version.kind,
        "at": iso_utc(version.at),
        "run": version.run,
        "sha256": None if version.sha256 is None else version.sha256.hex(),
        "title": version.title,
        "added": version.added,
        "removed": version.removed,
        "minor": version.minor,
        "other": version.other,
    }


# ── diff ───────────────────────────────────────────────────────────────────────────────────────────────────


def diff_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi diff",
        usage="sumi diff [options] URL [A [B]]\n       sumi diff [options] --since WHEN",
        description=(
            "Shows how a page changed between two versions, or how all pages changed since a time. Exit code "
            "1 if a text cannot be read."
        ),
        epilog=_DIFF_EXAMPLES,
    )
    parser.add_argument("url", metavar="URL", nargs="?", help="A page.")
    parser.add_argument(
        "versions",
        metavar="A B",
        nargs="*",
        help="A number of sumi log, or a time. Default: the last change.",
    )
    _add_place(parser)
    parser.add_argument(
        "--since", metavar="WHEN", help="All pages that changed since: an age such as 7d or 12h, or a date."
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--word", action="store_true", help="Compare words: [-removed-] and {+added+}.")
    form.add_argument("--stat", action="store_true", help="Only the number of lines added and removed.")
    form.add_argument("--json", action="store_true", help="One JSON object per page on stdout.")
    return parser


def run_diff(arguments: Sequence[str]) -> int:
    parser = diff_parser()
    options = parser.parse_all(arguments)
    if (options.url is None) == (options.since is None):
        parser.error("give a URL, or --since for all pages")
    if len(options.versions) > 2:
        parser.error(f"two versions at most: {options.versions[2]!r} is one too many")
    out = Sink(sys.stdout)
    palette = Palette.for_sink(out, os.environ)
    code = SAME
    for page in _diffs(options):
        code = LOST if page.lost else code
        for line in _shown(page, options, palette):
            out.line(line)
    return code


def _diffs(options: argparse.Namespace) -> "Iterator[PageDiff]":
    from sumi.corpus.change_log import diff, diffs_since

    if options.since is not None:
        yield from diffs_since(options.since, options.folder)
    else:
        old, new = (*options.versions, "", "")[:2]
        yield diff(options.url, old, new, options.folder)


def _shown(page: "PageDiff", options: argparse.Namespace, palette: Palette) -> Iterator[str]:
    if options.json:
        yield json.dumps(_diff_fields(page))
    elif page.lost:
        yield printable(f"{page.url}: the text of {page.lost} cannot be read; see sumi state check --deep")
    elif options.stat:
        kind = "" if page.new.is_there else f"  {page.new.kind}"
        yield printable(f"{page.url}  +{page.added:,} -{page.removed:,}{kind}")
    elif page.forgotten:
        yield printable(
            f"{page.url}: what was before version {page.new.number} is forgotten; it had +{page.added:,} "
            f"-{page.removed:,} lines"
        )
    else:
        yield palette.bad(printable(f"--- {page.url}  {_named(page.old)}"))
        yield palette.good(printable(f"+++ {page.url}  {_named(page.new)}"))
        for hunk in page.hunks:
            yield palette.faint(hunk.head)
            yield from _word_lines(hunk, palette) if options.word else _hunk_lines(hunk, palette)


def _named(version: "Version | None") -> str:
    from sumi.files.plain_text import iso_utc

    if version is None:
        return "not there yet"
    gone = "" if version.is_there else f", {version.kind}"
    return f"version {version.number}, {iso_utc(version.at)}{gone}"


def _hunk_lines(hunk: "Hunk", palette: Palette) -> Iterator[str]:
    paint = {"-": palette.bad, "+": palette.good}
    for line in hunk.lines:
        yield paint.get(line[0], str)(_harmless(line))


def _word_lines(hunk: "Hunk", palette: Palette) -> Iterator[str]:
    from sumi.corpus.page_diffs import word_lines

    for pieces in word_lines(hunk):
        shown = []
        for sign, text in pieces:
            words = _harmless(text)
            if sign == "-":
                words = palette.bad(f"[-{words}-]")
            elif sign == "+":
                words = palette.good(f"{{+{words}+}}")
            shown.append(words)
        yield "".join(shown)


def _harmless(line: str) -> str:
    """Tabs are text; nothing else that a page has may control the terminal."""
    return "\t".join(printable(part) for part in line.split("\t"))


def _diff_fields(page: "PageDiff") -> dict[str, object]:
    import msgspec

    return {
        "url": page.url,
        "from": None if page.old is None else _version_fields(page.old),
        "to": _version_fields(page.new),
        "added": page.added,
        "removed": page.removed,
        "lost": page.lost,
        "forgotten": page.forgotten,
        "hunks": msgspec.to_builtins(page.hunks),
    }


# ── feed ───────────────────────────────────────────────────────────────────────────────────────────────────


def feed_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi feed",
        usage="sumi feed [options] [DIR]",
        description="Writes the changes of sites as an Atom feed or as JSON lines, or those of sections.",
        epilog=_FEED_EXAMPLES,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        help="An output folder, one site's folder in it, or a folder of captures.",
    )
    parser.add_argument(
        "--format",
        metavar="atom|jsonl",
        choices=("atom", "jsonl"),
        default="atom",
        help="An Atom feed, or JSON lines. Default: atom.",
    )
    parser.add_argument("--diff", action="store_true", help="With the diff of each change, up to 20 KB.")
    parser.add_argument("--minor", action="store_true", help="Also changes of numbers and dates only.")
    parser.add_argument("--since", metavar="WHEN", default="", help="An age such as 7d or 12h, or a date.")
    parser.add_argument(
        "--limit", metavar="N", type=_number, default=100, help="The most changes, the newest. Default: 100."
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
    chunks = parser.add_argument_group("sections, for vector stores")
    chunks.add_argument(
        "--chunks",
        action="store_true",
        help="Sections with stable ids as events: add, change, delete, clear. Needs --format jsonl.",
    )
    chunks.add_argument(
        "--cursor", metavar="FILE", help="Only events since the feed that wrote this file last."
    )
    return parser


def run_feed(arguments: Sequence[str]) -> int:
    parser = feed_parser()
    options = parser.parse_all(arguments)
    if options.chunks and options.format != "jsonl":
        parser.error("--chunks needs --format jsonl")
    if options.chunks and (options.since or options.diff):
        parser.error("--chunks follows --cursor; --since and --diff do not go with it")
    if options.cursor is not None and not options.chunks:
        parser.error("--cursor goes with --chunks")
    if options.chunks:
        _write_events(options)
    else:
        _write(options, _feed_lines(options))
    return SAME


def _feed_lines(options: argparse.Namespace) -> Iterator[str]:
    from sumi.corpus.change_feeds import atom, changes, json_lines
    from sumi.corpus.change_log import sites_of
    from sumi.corpus.histories import since_time

    sites = sites_of(options.folder)
    since = since_time(options.since) if options.since else 0.0
    found = changes(sites, since=since, minor=options.minor, limit=options.limit, diffs=options.diff)
    if options.format == "atom":
        yield from atom(found, sites, time.time())
    else:
        yield from (f"{line}\n" for line in json_lines(found))


def _write_events(options: argparse.Namespace) -> None:
    from sumi.corpus.change_log import sites_of
    from sumi.corpus.section_events import SectionEvents, read_cursor, write_cursor

    cursor = None if options.cursor is None else Path(options.cursor)
    events = SectionEvents(sites_of(options.folder), {} if cursor is None else read_cursor(cursor))
    _write(options, (f"{json.dumps(event)}\n" for event in events))
    if cursor is not None:
        write_cursor(cursor, events.reached)


def _write(options: argparse.Namespace, lines: Iterator[str]) -> None:
    if options.output is None:
        for line in lines:
            sys.stdout.write(line)
        sys.stdout.flush()
        return
    from sumi.files.disk_errors import explained
    from sumi.state.folder import refuse_to_replace

    target = Path(options.output)
    refuse_to_replace(target)
    beside = target.with_name(f".{target.name}.tmp")
    with explained(target):
        with beside.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(lines)
        os.replace(beside, target)


# ── prune ──────────────────────────────────────────────────────────────────────────────────────────────────


def prune_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi history prune",
        usage="sumi history prune [options] [DIR] --keep AGE",
        description=(
            "Forgets versions that are older than an age, except the last one of each page before that, and "
            "frees their space."
        ),
        epilog=_PRUNE_EXAMPLES,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        help="An output folder, one site's folder in it, or a folder of captures.",
    )
    parser.add_argument("--keep", metavar="AGE", required=True, help="Such as 90d, 12h, 4w or 1y.")
    return parser


def run_prune(arguments: Sequence[str]) -> int:
    options = prune_parser().parse_all(arguments)
    from sumi.corpus.change_log import prune_history

    out = Sink(sys.stdout)
    code = SAME
    for done in prune_history(options.folder, options.keep):
        sizes = f"{done.bytes_before:,} bytes before, {done.bytes_after:,} now"
        lost = f"; {done.lost:,} texts could not be read and are left out" if done.lost else ""
        out.line(printable(f"{done.folder}: {done.versions:,} versions forgotten, {sizes}{lost}"))
        code = LOST if done.lost else code
    return code


def _add_place(parser: SentenceParser) -> None:
    parser.add_argument(
        "--in",
        dest="folder",
        metavar="DIR",
        help=(
            "An output folder, one site's folder in it, or a folder of captures. "
            "Default: output and captures."
        ),
    )


def _number(word: str) -> int:
    if word.isascii() and word.isdigit() and 0 < len(word) < 10 and int(word):
        return int(word)
    raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1")

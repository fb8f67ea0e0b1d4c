"""``sumi convert``: options, and a page as text."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sumi.console.options import add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import NotWritable, UsageError
from sumi.jobs.mirror.settings import LOOKING, load_settings
from sumi.settings.setting import LIMITS, NETWORK, PACE, RENDERING

if TYPE_CHECKING:
    from sumi.jobs.mirror.convert import Converted

_EXAMPLES = """\
examples:
  sumi convert https://docs.example.org/guide
  sumi convert page.html --base-url https://docs.example.org/guide/page.html > page.md
  curl -s https://docs.example.org/ | sumi convert - --metadata
  sumi convert page.html --explain          what was left out, piece by piece
"""
# The settings of a mirror that say how a page is requested, without those that need several pages.
_OF_MANY = frozenset({"content-rate-limit", "concurrency", "per-host", "max-requests-per-host", "on-error"})
_TABLE = tuple(
    setting
    for setting in LOOKING
    if setting.group in (PACE, NETWORK, RENDERING, LIMITS) and setting.name not in _OF_MANY
)
_SHOWN = 160  # characters of a piece


_USUAL = (
    *(
        "page",
        "--base-url",
        "--metadata",
        "--explain",
        "--json",
        "--output",
        "--render",
        "--auth",
        "--header",
    ),
    *("--user-agent", "--contact", "--allow-private"),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi convert",
        usage="sumi convert [options] FILE|URL|-",
        description=(
            "Writes one page as Markdown to stdout, as a mirror would: from a file, from standard input (-), "
            "or from the web, where robots.txt is obeyed. Links become absolute."
        ),
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    parser.add_argument("page", metavar="FILE|URL|-", help="The page: a file, a URL or - for standard input.")
    result = parser.add_argument_group("result")
    result.add_argument(
        "--base-url",
        metavar="URL",
        default="",
        help="For a file: what its links are relative to. Default: where the page says that it is, else the "
        "file itself.",
    )
    result.add_argument("--metadata", action="store_true", help="Begin with what is known about the page.")
    result.add_argument(
        "--explain",
        action="store_true",
        help="Instead of the Markdown: what of the page is not in it, by class, in the order of the page.",
    )
    result.add_argument("--json", action="store_true", help="Everything as one JSON object on stdout.")
    result.add_argument("-o", "--output", metavar="FILE", help="Write to this file instead of stdout.")
    add_settings(parser, _TABLE)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    page = _converted(options)
    text = _written(page, options)
    if options.output:
        _write_file(Path(options.output), text)
    else:
        Sink(sys.stdout).write(text)
    err = Sink(sys.stderr)
    for note in _notes(page):
        err.line(printable(f"note: {note}"))
    return 0


def _converted(options: argparse.Namespace) -> "Converted":
    from sumi.jobs.mirror.convert import convert, convert_page, fetch_page

    if options.page == "-":
        body = sys.stdin.buffer.read()
        return convert(body, base_url=options.base_url, explain=options.explain)
    if options.page.lower().startswith(("http://", "https://")):
        if options.base_url:
            raise UsageError("--base-url is for files; the links of a URL are relative to it")
        flags = {"url": options.page, **given_flags(options, _TABLE)}
        return convert_page(fetch_page(load_settings(flags, os.environ)), explain=options.explain)
    return convert(Path(options.page), base_url=options.base_url, explain=options.explain)


def _written(page: "Converted", options: argparse.Namespace) -> str:
    if options.json:
        import msgspec

        return msgspec.json.encode(page).decode() + "\n"
    if options.explain:
        return "".join(f"{printable(line)}\n" for line in _explained(page))
    return _head(page) + page.markdown if options.metadata else page.markdown


def _head(page: "Converted") -> str:
    from sumi.files.plain_text import front_matter

    head = front_matter(
        title=page.title,
        url=page.url or None,
        description=page.description,
        language=page.language,
        fidelity=None if page.fidelity is None else f"{page.fidelity:g}",
    )
    return f"{head}\n"


def _explained(page: "Converted") -> Iterator[str]:
    fidelity = "not judged" if page.fidelity is None else f"{page.fidelity:g}"
    yield f"fidelity {fidelity}" + "".join(f"; {shortfall}" for shortfall in page.shortfalls)
    total = sum(page.left_out.values())
    yield f"{total:,} words left out" + (":" if total else "")
    for kind, words in sorted(page.left_out.items(), key=lambda each: -each[1]):
        yield f"  {kind:<12}{words:>7,}"
    for piece in page.pieces:
        text = piece.text if len(piece.text) <= _SHOWN else f"{piece.text[: _SHOWN - 1]}…"
        yield ""
        yield f"{piece.kind}, {piece.words:,} words, {piece.place}"
        yield f"  {text}"


def _notes(page: "Converted") -> Iterator[str]:
    if page.problem:
        yield page.problem
    if page.javascript:
        yield f"the page is filled by scripts ({page.javascript}): convert its URL with --render auto"


def _write_file(path: Path, text: str) -> None:
    from sumi.state.folder import refuse_to_replace

    refuse_to_replace(path)
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        why = error.strerror or "cannot be written"
        raise NotWritable(f"{path}: {why.lower()}; give another --output") from error

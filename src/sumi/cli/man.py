"""``sumi man``: the manual pages, made from the same parsers as ``--help``."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sumi import __version__
from sumi.cli.main import COMMANDS, GROUPS, Command, as_read
from sumi.cli.spelled import Option, Spelled, every_command, spelled
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import EXIT_CODES, NotWritable, UsageError

_EXAMPLES = """\
examples:
  sumi man mirror | man -l -                    read one
  sumi man --output ~/.local/share/man/man1     all of them; then: man sumi-mirror
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi man",
        usage="sumi man [COMMAND] | --output DIR",
        description="Writes the manual page of a command, or of sumi itself, or all of them into a folder.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="Such as mirror, or map export.")
    parser.add_argument("-o", "--output", metavar="DIR", help="Write all manual pages into this folder.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    out = Sink(sys.stdout)
    if options.output is not None:
        out.line(f"{_write_all(Path(options.output))} manual pages are in {printable(options.output)}")
        return 0
    out.write(_page_of(" ".join(options.command)))
    return 0


def _page_of(name: str) -> str:
    if not name:
        return overview()
    found = next((command for command in COMMANDS if command.name == name), None)
    if found is None:
        raise UsageError(f"there is no command {name!r}; see sumi --help")
    return page(spelled(found))


def _write_all(folder: Path) -> int:
    pages = {"sumi.1": overview()} | {f"{_slug(one.command)}.1": page(one) for one in every_command()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise NotWritable(f"cannot write into {folder}: {error.strerror}; choose another folder") from None
    return len(pages)


def overview() -> str:
    lines = [*_head("sumi", "a polite, resumable, fast web crawler"), ".SH SYNOPSIS", ".B sumi"]
    lines += ["[\\-\\-help] [\\-\\-version] COMMAND ...", ".SH DESCRIPTION"]
    lines += [_text("Without a command, sumi shows the jobs below this folder and how to go on with each.")]
    for group, title in GROUPS.items():
        lines += [f".SS {_quoted(title)}"]
        for command in (one for one in as_read() if one.group == group):
            lines += [".TP", f".BR {_slug(command)} (1)", _text(command.summary)]
    return "\n".join([*lines, *_exit_status()]) + "\n"


def page(one: Spelled) -> str:
    usage = (one.parser.usage or one.parser.prog).removeprefix(one.parser.prog).strip()
    lines = [*_head(_slug(one.command), one.command.summary), ".SH SYNOPSIS"]
    lines += [f".B {_text(one.parser.prog)}", _text(usage), ".SH DESCRIPTION"]
    lines += [_text(one.parser.description or one.command.summary), ".SH OPTIONS"]
    for option in (*one.arguments, *one.options):
        lines += [".TP", _term(option), _text(option.help)]
    if one.parser.epilog:
        lines += [".SH EXAMPLES", ".nf", *map(_text, one.parser.epilog.strip().splitlines()[1:]), ".fi"]
    return "\n".join([*lines, *_exit_status(), ".SH SEE ALSO", ".BR sumi (1)"]) + "\n"


def _head(name: str, summary: str) -> Iterator[str]:
    # Without a date: the same version makes the same page.
    yield f'.TH "{name.upper()}" "1" "" "sumi {__version__}" "Sumi"'
    yield ".SH NAME"
    yield f"{_text(name)} \\- {_text(summary)}"


def _exit_status() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _text(meaning))


def _term(option: Option) -> str:
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in option.names)
    value = f"\\fI{_text(option.value)}\\fR" if option.value else ""
    return f"{names} {value}".strip()


def _slug(command: Command) -> str:
    return f"sumi-{command.name.replace(' ', '-')}"


def _quoted(text: str) -> str:
    return f'"{_text(text)}"'


def _text(text: str) -> str:
    """Nothing of it is a request or an escape of roff, and a hyphen can be copied as one."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)

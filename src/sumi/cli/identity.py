"""``sumi identity create|show|directory``: the key that signs requests, and what sites need to check it."""

from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.errors import NotWritable
from sumi.fetch.identity import (
    DIRECTORY_PATH,
    DIRECTORY_TYPE,
    create_identity,
    default_file,
    directory_of,
    load_identity,
    public_key_id,
)

_DONE = 0
_EXAMPLES = """\
examples:
  sumi identity create https://bot.example.org              once, on the machine that crawls
  sumi identity directory -o site                           the file to publish on bot.example.org
  sumi mirror https://docs.example.org --sign               requests that the site can check
"""


def create_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi identity create",
        usage="sumi identity create ORIGIN [--identity FILE]",
        description="Makes an Ed25519 key. Its file is readable by you only and never leaves this machine.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("agent", metavar="ORIGIN", help="Where you will publish the public key, over https.")
    _add_file(parser)
    return parser


def run_create(arguments: Sequence[str]) -> int:
    options = create_parser().parse_all(arguments)
    file = _file_of(options.identity)
    identity = create_identity(file, options.agent.rstrip("/"))
    print(f"created {file}\nkey     {public_key_id(identity)}")
    print(
        f"next    sumi identity directory -o DIR, and publish DIR on {identity.agent}; then crawl with --sign"
    )
    return _DONE


def show_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi identity show",
        usage="sumi identity show [--identity FILE]",
        description="Shows who you are to sites: the origin, the id of the key, and where its file is.",
        epilog=_EXAMPLES,
    )
    _add_file(parser)
    return parser


def run_show(arguments: Sequence[str]) -> int:
    file = _file_of(show_parser().parse_all(arguments).identity)
    identity = load_identity(file)
    print(f"agent      {identity.agent}\nkey        {public_key_id(identity)}")
    print(f"directory  {identity.agent}{DIRECTORY_PATH}\nfile       {file}")
    return _DONE


def directory_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi identity directory",
        usage="sumi identity directory [-o DIR] [--identity FILE]",
        description="Writes the public key as sites look for it. Without -o it goes to standard output.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help=f"The root of the web site; the file is {DIRECTORY_PATH} in it."
    )
    _add_file(parser)
    return parser


def run_directory(arguments: Sequence[str]) -> int:
    options = directory_parser().parse_all(arguments)
    identity = load_identity(_file_of(options.identity))
    content = directory_of(identity)
    if options.output is None:
        print(content, end="")
        return _DONE
    file = Path(options.output) / DIRECTORY_PATH.lstrip("/")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    except OSError as error:
        raise NotWritable(f"cannot write {file}: {error.strerror}") from error
    print(f"wrote {file}: serve it at {identity.agent}{DIRECTORY_PATH} as {DIRECTORY_TYPE}")
    return _DONE


def _add_file(parser: SentenceParser) -> None:
    parser.add_argument(
        "--identity", metavar="FILE", help="The identity's file. Default: ~/.config/sumi/identity.json."
    )


def _file_of(given: str | None) -> Path:
    return Path(given) if given else default_file()

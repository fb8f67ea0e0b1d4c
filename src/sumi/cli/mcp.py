"""``sumi mcp``: what was captured, for agents, over the Model Context Protocol."""

import sys
from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.console.terminal import printable
from sumi.errors import UsageError

DONE = 0

_EXAMPLES = """\
examples:
  sumi mcp                           what is in ./output and ./captures
  sumi mcp ~/library                 what is below a folder
  sumi mcp --allow-crawl ~/library   agents may also capture public sites into it

docs/guides/agents.md has the configuration of common clients.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi mcp",
        usage="sumi mcp [options] [DIR...]",
        description=(
            "Lets an agent search and read what was captured, as an MCP server on stdin and stdout. It is "
            "started by the agent's program; in a terminal it waits for messages that nobody sends."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "folders", metavar="DIR", nargs="*", help="Folders of captured pages. Default: output and captures."
    )
    parser.add_argument(
        "--allow-crawl",
        action="store_true",
        help="Agents may capture sites, into the first folder: robots.txt, pace and address rules apply.",
    )
    parser.add_argument(
        "--allow-private",
        action="store_true",
        help="With --allow-crawl: also sites at private and loopback addresses.",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    if options.allow_private and not options.allow_crawl:
        raise UsageError("--allow-private is for --allow-crawl: give both, or neither")
    try:
        from sumi.agents.server import serve_stdio
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "sumi":
            raise
        raise UsageError("sumi mcp needs the SDK of the protocol: pip install 'sumi[mcp]'") from None
    import anyio

    from sumi.agents.children import Captures
    from sumi.agents.desk import Desk

    places = [Path(name) for name in options.folders]
    for place in places:
        if not place.exists() and not options.allow_crawl:
            raise UsageError(f"{place} does not exist: give a folder of captured pages")
    captures = None
    if options.allow_crawl:
        first = places[0] if places else Path("output")
        captures = Captures(first, allow_private=options.allow_private)
    desk = Desk(places, captures, _tell)
    try:
        anyio.run(serve_stdio, desk)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went away without a word
    finally:
        desk.close()
    return DONE


def _tell(words: str) -> None:
    print(printable(words), file=sys.stderr)

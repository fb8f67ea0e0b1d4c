"""``sumi init``: a commented configuration file to begin with."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sumi.console.next_steps import command_line
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import NotWritable, UsageError

_EXAMPLES = """\
examples:
  sumi init mirror https://docs.example.org       mirror.toml; then: sumi mirror --config mirror.toml
  sumi init map example.org example.com           map.toml; then: sumi map map.toml
  sumi init crawl https://github.com/owner/repo   crawl.yaml and workspace/seeds.txt; then: sumi run
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi init",
        usage="sumi init mirror|crawl|map [options] [URL...]",
        description=(
            "Writes a configuration file with comments for a mirror, a crawl or a map. Nothing that exists "
            "is replaced. No file is needed for a first try: sumi mirror URL, sumi run URL, sumi map DOMAIN."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("job", metavar="mirror|crawl|map", choices=tuple(_FILES), help="What it is for.")
    parser.add_argument("urls", metavar="URL", nargs="*", help="Sites; of a map, domains.")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="Its name. Default: mirror.toml, crawl.yaml or map.toml."
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    name, write = _FILES[options.job]
    path = Path(options.output or name)
    if path.exists():
        raise UsageError(f"{path} exists, and nothing is replaced: name another file with --output")
    try:
        command = write(path, options.urls)
    except OSError as error:
        raise NotWritable(f"cannot write {path}: {error.strerror}; choose another place") from None
    out = Sink(sys.stdout)
    out.line(f"{printable(str(path))} is written; look at it, then run")
    out.line(f"  {printable(command)}")
    return 0


def _mirror(path: Path, urls: Sequence[str]) -> str:
    from sumi.jobs.mirror.settings import mirror_text

    path.write_text(mirror_text(urls or ("https://docs.example.org/",), {}, str(path)), encoding="utf-8")
    return command_line("sumi", "mirror", "--config", str(path))


def _map(path: Path, urls: Sequence[str]) -> str:
    from sumi.jobs.map.beginning import map_text

    path.write_text(map_text(urls or ("example.org",), {}, str(path)), encoding="utf-8")
    return command_line("sumi", "map", str(path))


def _crawl(path: Path, urls: Sequence[str]) -> str:
    from sumi.jobs.pipeline.beginning import Beginning, write
    from sumi.jobs.pipeline.config import DEFAULT_WORKSPACE

    beginning = Beginning(urls or ("https://docs.example.org/",), (), {})
    write(path, beginning.config(str(path), DEFAULT_WORKSPACE), beginning.seeds)
    return command_line("sumi", "run", "--config", str(path))


_FILES: Final[dict[str, tuple[str, Callable[[Path, Sequence[str]], str]]]] = {
    "mirror": ("mirror.toml", _mirror),
    "crawl": ("crawl.yaml", _crawl),
    "map": ("map.toml", _map),
}

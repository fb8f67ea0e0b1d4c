"""``sumi scrape status``: how the scraper of a workspace stands, and what it has archived."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sumi.cli.parser import SentenceParser
from sumi.cli.pipeline_options import read_config
from sumi.cli.pipeline_status import add_output, look, show

_EXAMPLES = """\
examples:
  sumi scrape status --config github.yaml
  sumi scrape status --config github.yaml --json
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape status",
        usage="sumi scrape status --config FILE [--json]",
        description="Says how the scraper stands: its outcomes, its bookmark, its archive and its index.",
        epilog=_EXAMPLES,
    )
    add_output(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    from sumi.assembly.pipeline import open_index
    from sumi.assembly.scrape import scraper_state
    from sumi.jobs.pipeline_note import SCRAPER
    from sumi.ports import SpoolPlace
    from sumi.store.spool import read_bookmark, spool_bytes_after

    options = build_parser().parse_all(arguments)
    config = read_config(options)
    bookmark = read_bookmark(config.bookmark.path)
    place = bookmark or SpoolPlace("", 0)
    files: dict[str, str | int] = {
        "bookmark": f"{place.file or 'the start'}, byte {place.offset}" if bookmark else "cannot be read",
        "unread": spool_bytes_after(config.spool.dir, place),
        "bodies": _bodies(config.store.root),
    }
    if config.index.db_path.exists():
        index = open_index(config)
        files["indexed"] = sum(1 for _ in index.records())
        index.close()
    status = asyncio.run(look(SCRAPER, scraper_state(config), config.workspace, files))
    return show(status, as_json=options.json)


def _bodies(root: Path) -> int:
    return sum(1 for path in root.glob("??/??/*") if not path.name.startswith("."))

"""``sumi crawl status``: how the crawler of a workspace stands, and what it has left for the scraper."""

import asyncio
from collections.abc import Sequence

from sumi.cli.parser import SentenceParser
from sumi.cli.pipeline_options import read_config
from sumi.cli.pipeline_status import add_output, look, show

_EXAMPLES = """\
examples:
  sumi crawl status --config github.yaml
  sumi crawl status --config github.yaml --json
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi crawl status",
        usage="sumi crawl status --config FILE [--json]",
        description="Says how the crawler stands: its frontier, its outcomes, and its spool.",
        epilog=_EXAMPLES,
    )
    add_output(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    from sumi.ports import SpoolPlace
    from sumi.store.spool import read_bookmark, segments, spool_bytes_after

    options = build_parser().parse_all(arguments)
    config = read_config(options)
    spool = config.spool.dir
    files: dict[str, str | int] = {
        "spool": str(spool),
        "segments": len(segments(spool)),
        "bytes": spool_bytes_after(spool, SpoolPlace("", 0)),
        "unread": spool_bytes_after(spool, read_bookmark(config.bookmark.path) or SpoolPlace("", 0)),
    }
    status = asyncio.run(look("crawler", config.frontier.db_path, config.workspace, files))
    return show(status, as_json=options.json)

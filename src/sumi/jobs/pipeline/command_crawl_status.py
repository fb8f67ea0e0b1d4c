"""``sumi crawl status``: how the crawler of a workspace stands, and what it has left for the scraper."""

from collections.abc import Sequence

from sumi.console.parser import SentenceParser
from sumi.jobs.pipeline.options import read_config
from sumi.jobs.pipeline.status import report_status, status_parser


def build_parser() -> SentenceParser:
    return status_parser(
        "sumi crawl status", "Says how the crawler stands: its frontier, its outcomes, and its spool."
    )


def run(arguments: Sequence[str]) -> int:
    from sumi.jobs.pipeline.spool import look_into
    from sumi.jobs.pipeline.spool_reader import unread_bytes
    from sumi.jobs.pipeline.state import CRAWLER, refuse_another_frontier

    options = build_parser().parse_all(arguments)
    config = read_config(options)
    refuse_another_frontier(config)
    spool = config.spool.dir
    sizes = look_into(spool).sizes
    files: dict[str, str | int] = {
        "spool": str(spool),
        "segments": len(sizes),
        "bytes": sum(sizes.values()),
        "unread": unread_bytes(spool, config.bookmark.path),
    }
    return report_status(CRAWLER, config.frontier.db_path, config.workspace, files, as_json=options.json)

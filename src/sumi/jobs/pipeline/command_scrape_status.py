"""``sumi scrape status``: how the scraper of a workspace stands, and what it has archived."""

from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.jobs.pipeline.options import read_config
from sumi.jobs.pipeline.status import SpoolStanding, report_status, status_parser


def build_parser() -> SentenceParser:
    return status_parser(
        "sumi scrape status",
        "Shows the state of the scraper: its outcomes, bookmark, archive and index.",
    )


def run(arguments: Sequence[str]) -> int:
    from sumi.jobs.pipeline.archive_files import indexed
    from sumi.jobs.pipeline.spool import look_into
    from sumi.jobs.pipeline.spool_reader import unread_bytes
    from sumi.jobs.pipeline.state import SCRAPER, scraper_state

    options = build_parser().parse_all(arguments)
    config = read_config(options)
    unread = unread_bytes(config.spool.dir, config.bookmark.path)
    files: dict[str, str | int] = {
        "bookmark": _bookmark(config.bookmark.path),
        "unread": unread,
        "bodies": _bodies(config.store.root),
    }
    if config.index.db_path.exists():
        files["indexed"] = sum(1 for _ in indexed(config))
    strangers = look_into(config.spool.dir).strangers
    if strangers:
        files["not read"] = ", ".join(sorted(strangers)[:10])
    standing = SpoolStanding(unread, len(strangers))
    state = scraper_state(config)
    return report_status(SCRAPER, state, config.workspace, files, as_json=options.json, spool=standing)


def _bookmark(path: Path) -> str:
    from sumi.jobs.pipeline.spool import read_bookmark

    mark = read_bookmark(path)
    return "cannot be read" if mark is None else f"{mark.file or 'the start'}, byte {mark.offset}"


def _bodies(root: Path) -> int:
    return sum(1 for path in root.glob("??/??/*") if not path.name.startswith("."))

"""``sumi scrape resume``: goes on with the last run of the scraper, in the same CSV."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.errors import UsageError
from sumi.jobs.pipeline.command_scrape import add_following, run_scraper
from sumi.jobs.pipeline.options import add_config, add_running, checked, read_config

_EXAMPLES = """\
examples:
  sumi scrape resume --config github.yaml           after a stop, a kill or a power cut
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape resume",
        usage="sumi scrape resume --config FILE [options]",
        description=(
            "Continues the last scrape run under its run id, in the same CSV and metrics. Use sumi scrape "
            "run for a new one."
        ),
        epilog=_EXAMPLES,
    )
    add_config(parser)
    add_following(parser)
    add_running(parser, new_run=False)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    checked(options)
    return run_scraper(options, read_config(options, _last_run_id(options)))


def _last_run_id(options: argparse.Namespace) -> str:
    import asyncio

    from sumi.jobs.pipeline.state import RUN_NOTE, scraper_state
    from sumi.state.folder import FORMAT_NAME, open_snapshot

    state = scraper_state(read_config(options))

    async def noted(folder: Path) -> str | None:
        store = open_snapshot(folder, time.time())
        try:
            return await store.get_note(RUN_NOTE)
        finally:
            await store.aclose()

    last = asyncio.run(noted(state)) if (state / FORMAT_NAME).is_file() else None
    if last is None:
        raise UsageError(f"there is no scrape run to resume in {state}: start one with sumi scrape run")
    return last

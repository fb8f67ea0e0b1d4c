"""``sumi scrape run`` archives what the crawler found, ``resume`` continues the last run, ``replay`` writes
the pages CSV again without the network."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.events import Event, Warned
from sumi.jobs.pipeline.options import (
    USUAL,
    add_config,
    add_run_id,
    add_running,
    read_config,
    report,
    run_options,
)

if TYPE_CHECKING:
    from sumi.console.reporters import Reporter
    from sumi.events import Summary
    from sumi.jobs.pipeline.config import CrawlConfig


_OWN_STATE = (
    "a scraper archives what the crawler of its own machine found, and none works on another's: share the "
    "crawl by sumi crawl run --state, with a scraper beside each, or by sumi run --unified --state, which "
    "needs none"
)
_LACKS = {"--state": _OWN_STATE, "--job": _OWN_STATE, "--store": _OWN_STATE}
_EXAMPLES = """\
examples:
  sumi scrape run --config github.yaml              what is in the spool, and what a running crawler adds
  sumi scrape run --config github.yaml --follow     wait for more even if no crawler is running
  sumi scrape run --config github.yaml --warc pages.warc.gz
  sumi pause workspace                              pause it; sumi resume lets it go on

Every run has its own CSV; sumi scrape resume continues the last one.
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape run",
        usage="sumi scrape run --config FILE [options]",
        description="Reads the spool from its bookmark and archives each page once.",
        epilog=_EXAMPLES,
        usual=("--config", "--follow", "--run-id", *USUAL),
        lacks=_LACKS,
    )
    add_config(parser)
    add_following(parser)
    add_running(parser)
    return parser


def add_following(parser: SentenceParser) -> None:
    parser.add_argument("--follow", action="store_true", help="Wait for more even if no crawler is running.")


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    run_options(options)
    return run_scraper(options, read_config(options))


def run_scraper(options: argparse.Namespace, config: "CrawlConfig") -> int:
    def run_reported(reporter: "Reporter") -> "Summary":
        # Imported here because the engine brings the network and the parser, which --help does not need.
        from sumi.assembly.parts import run_loop
        from sumi.jobs.pipeline.scrape import scrape

        return run_loop(
            scrape(
                config,
                follow=options.follow,
                **msgspec.structs.asdict(run_options(options)),
                listeners=[reporter],
                read_config=lambda: read_config(options, config.run_id),
            )
        )

    return report(options, config, run_reported)


# ── sumi scrape resume ───────────────────────────────────────────────────────────────────────────────────


_RESUME_EXAMPLES = """\
examples:
  sumi scrape resume --config github.yaml           after a stop, a kill or a power cut
  sumi scrape resume --config github.yaml --follow  and wait for what other programs add
"""


def resume_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape resume",
        usage="sumi scrape resume --config FILE [options]",
        description=(
            "Continues the last scrape run under its run id, in the same CSV and metrics. Use sumi scrape "
            "run for a new one."
        ),
        epilog=_RESUME_EXAMPLES,
        usual=("--config", "--follow", *USUAL),
        lacks=_LACKS,
    )
    add_config(parser)
    add_following(parser)
    add_running(parser, new_run=False)
    return parser


def run_resume(arguments: Sequence[str]) -> int:
    options = resume_parser().parse_all(arguments)
    run_options(options)
    from sumi.assembly.parts import run_loop
    from sumi.jobs.pipeline.scrape import last_run_id

    last = run_loop(last_run_id(read_config(options)))
    return run_scraper(options, read_config(options, last))


# ── sumi scrape replay ───────────────────────────────────────────────────────────────────────────────────


_WHOLE, _WITH_GAPS = 0, 1

_REPLAY_EXAMPLES = """\
examples:
  sumi scrape replay --config github.yaml --run-id replay     workspace/logs/pages-replay.csv
"""


def replay_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape replay",
        usage="sumi scrape replay --config FILE [options]",
        description=(
            "Writes the pages CSV again from the page index and the archive: a row for every page, with all "
            "columns. Fetches nothing and replaces an existing CSV. Exit code 1 if bodies are missing."
        ),
        epilog=_REPLAY_EXAMPLES,
    )
    add_config(parser)
    add_run_id(parser)
    parser.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    return parser


def run_replay(arguments: Sequence[str]) -> int:
    from sumi.assembly.parts import run_loop
    from sumi.jobs.pipeline.replay import replay

    options = replay_parser().parse_all(arguments)
    out, err = Sink(sys.stdout), Sink(sys.stderr)

    def tell(event: Event) -> None:
        if isinstance(event, Warned):
            err.line(f"warning: {printable(event.message)}")

    done = run_loop(replay(read_config(options), listeners=[tell]))
    if options.json:
        out.line(json.dumps(msgspec.to_builtins(done)))
    else:
        err.line(f"{done.rows:,} rows in {printable(done.path)}")
    return _WITH_GAPS if done.missing else _WHOLE

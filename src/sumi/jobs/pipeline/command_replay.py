"""``sumi scrape replay``: the pages CSV again, from the index and the archive, without the network."""

import json
import sys
import time
from collections.abc import Sequence

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.events import Event, Warned
from sumi.jobs.pipeline.options import add_config, add_run_id, read_config

_WHOLE, _WITH_GAPS = 0, 1

_EXAMPLES = """\
examples:
  sumi scrape replay --config github.yaml --run-id replay     workspace/logs/pages-replay.csv
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi scrape replay",
        usage="sumi scrape replay --config FILE [options]",
        description=(
            "Writes the pages CSV again from the page index and the archive: a row for every page, with all "
            "columns. Fetches nothing and replaces an existing CSV. Exit code 1 if bodies are missing."
        ),
        epilog=_EXAMPLES,
    )
    add_config(parser)
    add_run_id(parser)
    parser.add_argument("--json", action="store_true", help="The result as a JSON object on stdout.")
    return parser


def run(arguments: Sequence[str]) -> int:
    from sumi.jobs.pipeline.replay import run_replay

    options = build_parser().parse_all(arguments)
    out, err = Sink(sys.stdout), Sink(sys.stderr)

    def tell(event: Event) -> None:
        if isinstance(event, Warned):
            err.line(f"warning: {printable(event.message)}")

    done = run_replay(read_config(options), [tell], time.time())
    if options.json:
        out.line(json.dumps(msgspec.to_builtins(done)))
    else:
        err.line(f"{done.rows:,} rows in {printable(done.path)}")
    return _WITH_GAPS if done.missing else _WHOLE

"""``sumi run``: crawler and scraper together, or both in one process."""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sumi.console.narration import Narrator, Verbosity, progress_line
from sumi.console.parser import SentenceParser
from sumi.console.reporters import Reporter, ignore_questions, reporter_for_people
from sumi.console.summary import summary_lines
from sumi.console.terminal import Palette, Sink, printable
from sumi.events import Event, PageSettled, Progress, Summary, as_json_object
from sumi.jobs.pipeline.command_crawl import add_again, run_crawler
from sumi.jobs.pipeline.options import (
    USUAL,
    add_beginning,
    add_running,
    add_sharing,
    begun,
    read_config,
    refuse_store,
    run_options,
    sharing,
)
from sumi.outcomes import Ending

if TYPE_CHECKING:
    from sumi.jobs.pipeline.config import CrawlConfig
    from sumi.jobs.pipeline.run import JointVerdict

_EXAMPLES = """\
examples:
  sumi run https://docs.example.org/ --max-pages 50 into workspace/: pages, and a CSV with a row for each
  sumi run --urls pages.csv                         the pages in a list, and no others
  sumi run --config github.yaml                     a crawler, and a scraper that follows it
  sumi run --config github.yaml --unified           one process, each page fetched once, one metadata file
  sumi stop workspace                               stop both; the same command continues
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi run",
        usage="sumi run [options] URL... | --urls FILE | --config FILE",
        description="Crawls by policy and archives what it finds, in two processes or, unified, in one.",
        epilog=_EXAMPLES,
        usual=(
            "url",
            "--urls",
            "--config",
            "--workspace",
            "--max-pages",
            "--max-depth",
            "--unified",
            *USUAL,
        ),
    )
    add_beginning(parser)
    parser.add_argument(
        "--unified",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="Run both in one process. Default: the mode of the configuration.",
    )
    add_again(parser)
    add_sharing(parser)
    add_running(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    run_options(options)
    shared = sharing(parser, options)
    if not begun(parser, options):
        return 0
    config = read_config(options)
    unified = config.mode == "unified" if options.unified is None else options.unified
    if unified:
        return run_crawler(options, config, shared, unified=True)
    refuse_store(parser, shared)
    return _run_both(options, config, shared)


def _run_both(options: argparse.Namespace, config: "CrawlConfig", shared: dict[str, Any]) -> int:
    """The crawler in the background, the scraper here; however this ends, the crawler ends too."""
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=options.verbose, quiet=options.quiet)
    if not options.quiet:
        for line in _banner(config):
            err.line(printable(line))
    report = JointReport(verbosity, out, err, os.environ, as_json=options.json)
    try:
        return _run_reported(options, config, report, shared)
    finally:
        report.close()


def _banner(config: "CrawlConfig") -> tuple[str, ...]:
    from sumi.jobs.pipeline.policy import compliance_banner

    turns = "turns       both fetch every page (spool.hand_over): the scraper waits while the crawler fetches"
    return (*compliance_banner(config), *(() if config.spool.hand_over else (turns,)))


def _run_reported(
    options: argparse.Namespace,
    config: "CrawlConfig",
    report: "JointReport",
    shared: dict[str, Any],
) -> int:
    # Imported here because the engine brings the network and the parser, which --help does not need.
    from sumi.jobs.pipeline.crawl import CrawlOptions
    from sumi.jobs.pipeline.run import JointRun

    chosen = CrawlOptions(again=options.again, **shared, **msgspec.structs.asdict(run_options(options)))
    ignore_questions()  # which the crawler's process inherits
    joint = JointRun(
        config,
        options.config,
        chosen,
        report,
        report.scraper,
        lambda: read_config(options, config.run_id),
    )
    verdict = joint.run()
    report.verdict(verdict)
    return verdict.code


# ── reporting on two processes: every line is prefixed with its process ──────────────────────────────────


CRAWL: Final = "crawl"
SCRAPE: Final = "scrape"
_PROCESSES: Final = {CRAWL: "crawler", SCRAPE: "scraper"}
# "Every page found is here" might be false for one process alone.
_DONE_WORDS: Final = {
    CRAWL: "every page found is in the spool",
    SCRAPE: "every page in the spool is archived",
}


class JointReport:
    """Called from two threads: the scraper's, and the one that reads the crawler's output."""

    def __init__(
        self, verbosity: Verbosity, out: Sink, err: Sink, environ: Mapping[str, str], *, as_json: bool
    ) -> None:
        self._out, self._err = out, err
        self._as_json = as_json
        self._quiet = verbosity is Verbosity.QUIET
        self._palette = Palette.for_sink(err, environ)
        self._voices = _ProcessNarrators(verbosity, self._palette)
        self._people: Reporter = reporter_for_people(self._voices, verbosity, err, environ)
        self._one_at_a_time = threading.RLock()

    def scraper(self, event: Event) -> None:
        if self._as_json:
            self._program(SCRAPE, as_json_object(event, time.time()))
        else:
            self._person(SCRAPE, event)

    def event(self, line: str, event: Event | None) -> None:
        """An event of the crawler. None for an error, which it has also written to stderr."""
        if self._as_json:
            self._program(CRAWL, json.loads(line))
        elif event is not None:
            self._person(CRAWL, event)

    def stderr_line(self, line: str) -> None:
        with self._one_at_a_time:
            self._people.close()
            self._err.line(f"{CRAWL}: {printable(line)}")

    def verdict(self, verdict: "JointVerdict") -> None:
        with self._one_at_a_time:
            self.close()
            if self._as_json:
                self._program("run", as_json_object(verdict.summary, time.time()))
            elif not (self._quiet and verdict.summary.status == "complete"):
                self._err.line(("" if self._quiet else "\n") + verdict.line(self._palette))

    def close(self) -> None:
        self._people.close()

    def _program(self, name: str, event: dict[str, object]) -> None:
        whole = event | {"process": _PROCESSES.get(name, name)}
        with self._one_at_a_time:
            self._out.line(json.dumps(whole, separators=(",", ":")))

    def _person(self, name: str, event: Event) -> None:
        with self._one_at_a_time:
            self._voices.speaking = name
            if isinstance(event, Progress):
                self._voices.latest[name] = event
            self._people(event)


class _ProcessNarrators(Narrator):
    """One narrator per process; ``speaking`` is set before each call."""

    def __init__(self, verbosity: Verbosity, palette: Palette) -> None:
        super().__init__(verbosity, palette)
        self._is_quiet = verbosity is Verbosity.QUIET
        self._colours = palette
        self._narrators = {name: Narrator(verbosity, palette) for name in _PROCESSES}
        self._pages = dict.fromkeys(_PROCESSES, 0)  # done in this run
        self.latest: dict[str, Progress] = {}
        self.speaking = CRAWL

    def lines(self, event: Event) -> list[str]:
        if isinstance(event, PageSettled) and event.ending == Ending.DONE:
            self._pages[self.speaking] += 1
        said = self._end(event) if isinstance(event, Summary) else self._narrators[self.speaking].lines(event)
        return [f"{self.speaking}: {line}".rstrip() for line in said]

    def progress(self, event: Progress) -> str:
        """A line for both processes, whichever made progress."""
        known = [(name, self.latest[name]) for name in _PROCESSES if name in self.latest]
        return "; ".join(f"{name}: {progress_line(progress)}" for name, progress in known)

    def _end(self, event: Summary) -> list[str]:
        """Nothing when quiet: the joint verdict says it."""
        if self._is_quiet:
            return []
        lines = summary_lines(event, self._colours, self._pages[self.speaking])
        if event.status == "complete":
            lines[0] = f"{self._colours.good('complete')}: {_DONE_WORDS[self.speaking]}"
        return lines

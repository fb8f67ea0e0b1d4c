"""What ``sumi run`` shows of its two processes: every line says whose it is, and the last word is of both."""

import json
import signal
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from sumi.console.narration import Narrator, Verbosity, progress_line
from sumi.console.reporters import Reporter, reporter_for_people
from sumi.console.summary import (
    ABORTED,
    BAD_USAGE,
    COMPLETE,
    EVERYTHING,
    INTERRUPTED,
    exit_code,
    status_line,
    summary_lines,
    worst_of,
)
from sumi.console.terminal import Palette, Sink, printable
from sumi.events import Event, PageSettled, Progress, Summary
from sumi.jobs.pipeline.crawler_process import CrawlerProcess
from sumi.outcomes import UP_TO_DATE, Ending, Outcome

_PLAIN: Final = Palette(colours=False)
_WORST_FIRST: Final = ("aborted", "interrupted", "partial", "limited", "complete")
_GO_ON: Final = "run the same command again to continue"


class CrawlerEnd(msgspec.Struct, frozen=True):
    """How the crawler ended. ``trouble``: what its summary, if there is one, does not say."""

    code: int
    status: str
    summary: Summary | None
    trouble: str = ""


def crawler_end(crawler: CrawlerProcess) -> CrawlerEnd:
    code, summary = crawler.returncode, crawler.summary
    if code < 0:
        return _killed(signal.Signals(-code), crawler)
    if code in (BAD_USAGE, ABORTED) and crawler.error:
        words = "refused to start" if summary is None else "broke off"
        return CrawlerEnd(code, "aborted", summary, f"the crawler {words}: {crawler.error}")
    if summary is not None:
        return CrawlerEnd(code, summary.status, summary)
    if code == INTERRUPTED:
        return CrawlerEnd(code, "interrupted", None)
    return CrawlerEnd(worst_of((code, ABORTED)), "aborted", None, "the crawler ended without a message")


def _killed(number: signal.Signals, crawler: CrawlerProcess) -> CrawlerEnd:
    """A signal that stops gracefully kills one that is still starting, which has nothing to lose."""
    if crawler.was_stopped and number in (signal.SIGINT, signal.SIGTERM):
        return CrawlerEnd(INTERRUPTED, "interrupted", crawler.summary)
    trouble = f"the crawler was killed by {number.name}, and what it would have found is not here"
    return CrawlerEnd(ABORTED, "aborted", crawler.summary, trouble)


@dataclass(frozen=True)
class JointVerdict:
    summary: Summary
    code: int
    reason: str

    def line(self, palette: Palette) -> str:
        paint = palette.good if self.summary.status == "complete" else palette.caution
        if self.code not in (COMPLETE, INTERRUPTED):
            paint = palette.bad
        return f"{paint(self.summary.status)}: {printable(self.reason)}"


def joint_verdict(crawl: CrawlerEnd, scraped: Summary) -> JointVerdict:
    outcomes = _joint_outcomes(crawl.summary, scraped)
    lacking = "partial" if outcomes.get(Outcome.PENDING) else "complete"
    status = min((crawl.status, scraped.status, lacking), key=_WORST_FIRST.index)
    reason = _reason(status, crawl, scraped)
    summary = Summary(
        job="run",
        status=status,
        discovered=sum(outcomes.values()),
        outcomes=outcomes,
        output=scraped.output,
        seconds=max(scraped.seconds, crawl.summary.seconds if crawl.summary is not None else 0.0),
        notes=() if status == "complete" else (reason,),
        unread=scraped.unread,
        left_out=crawl.summary.left_out if crawl.summary is not None else {},
        alone=crawl.summary is not None and crawl.summary.alone,
        amiss=crawl.summary.amiss if crawl.summary is not None else (),
    )
    return JointVerdict(summary, worst_of((crawl.code, exit_code(scraped))), reason)


def _joint_outcomes(crawled: Summary | None, scraped: Summary) -> dict[str, int]:
    """Each URL once: of a page that the crawler handed over counts what the scraper made of it, and what the
    scraper has not heard of yet is pending."""
    outcomes = Counter(scraped.outcomes)
    if crawled is not None:
        outcomes.update({name: count for name, count in crawled.outcomes.items() if name not in UP_TO_DATE})
        handed_over = sum(crawled.outcomes.get(outcome, 0) for outcome in UP_TO_DATE)
        outcomes[Outcome.PENDING] += max(0, handed_over - scraped.discovered)
    return {str(name): count for name, count in outcomes.items() if count}


def _reason(status: str, crawl: CrawlerEnd, scraped: Summary) -> str:
    if crawl.trouble:
        return f"{crawl.trouble}; {_GO_ON}" if crawl.code != BAD_USAGE else crawl.trouble
    if status == "complete":
        return EVERYTHING
    if status == "interrupted":
        return _GO_ON
    said = [("crawl", crawl.summary), ("scrape", scraped)]
    parts = [
        f"{name}: {_words(summary)}"
        for name, summary in said
        if summary is not None and summary.status != "complete"
    ]
    return "; ".join(parts) or "scrape: some pages are pending"


def _words(summary: Summary) -> str:
    return status_line(summary, _PLAIN).partition(": ")[2]


CRAWL: Final = "crawl"
SCRAPE: Final = "scrape"
_PROCESSES: Final = {CRAWL: "crawler", SCRAPE: "scraper"}
# For one process alone, "every page found is here" might be false.
_DONE_WORDS: Final = {
    CRAWL: "every page found is in the spool",
    SCRAPE: "every page in the spool is archived",
}


class JointReport:
    """Heard from two threads: the scraper's own, and the one that reads what the crawler says."""

    def __init__(
        self, verbosity: Verbosity, out: Sink, err: Sink, environ: Mapping[str, str], *, as_json: bool
    ) -> None:
        self._out, self._err = out, err
        self._as_json = as_json
        self._quiet = verbosity is Verbosity.QUIET
        self._palette = Palette.for_sink(err, environ)
        self._voices = _Voices(verbosity, self._palette)
        self._people: Reporter = reporter_for_people(self._voices, verbosity, err, environ)
        self._one_at_a_time = threading.RLock()

    def scraper(self, event: Event) -> None:
        if self._as_json:
            self._program(SCRAPE, msgspec.to_builtins(event))
        else:
            self._person(SCRAPE, event)

    def event(self, line: str, event: Event | None) -> None:
        """Of the crawler. What is no event for people, an error, it has also written to stderr."""
        if self._as_json:
            self._program(CRAWL, json.loads(line))
        elif event is not None:
            self._person(CRAWL, event)

    def remark(self, line: str) -> None:
        with self._one_at_a_time:
            self._people.close()
            self._err.line(f"{CRAWL}: {printable(line)}")

    def verdict(self, verdict: JointVerdict) -> None:
        with self._one_at_a_time:
            self.close()
            if self._as_json:
                self._program("run", msgspec.to_builtins(verdict.summary))
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


class _Voices(Narrator):
    """A narrator for each process, told apart; which of them is speaking is set before."""

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
        """Of both, whichever moved on."""
        known = [(name, self.latest[name]) for name in _PROCESSES if name in self.latest]
        return "; ".join(f"{name}: {progress_line(progress)}" for name, progress in known)

    def _end(self, event: Summary) -> list[str]:
        """When quiet, the joint verdict says it."""
        if self._is_quiet:
            return []
        lines = summary_lines(event, self._colours, self._pages[self.speaking])
        if event.status == "complete":
            lines[0] = f"{self._colours.good('complete')}: {_DONE_WORDS[self.speaking]}"
        return lines

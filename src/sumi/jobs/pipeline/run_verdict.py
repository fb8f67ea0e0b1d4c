"""How a crawler and its scraper ended together: as badly as the worse of them, in one summary."""

import signal
from collections import Counter
from dataclasses import dataclass
from typing import Final

import msgspec

from sumi.console.summary import (
    ABORTED,
    BAD_USAGE,
    COMPLETE,
    EVERYTHING,
    INTERRUPTED,
    exit_code,
    status_line,
    worst_of,
)
from sumi.console.terminal import Palette, printable
from sumi.events import Summary
from sumi.jobs.pipeline.run_crawler import CrawlerProcess
from sumi.outcomes import UP_TO_DATE, Outcome

_PLAIN: Final = Palette(colours=False)
_WORST_FIRST: Final = ("aborted", "interrupted", "partial", "limited", "complete")
_GO_ON: Final = "run the same command again to go on"


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
    return CrawlerEnd(worst_of((code, ABORTED)), "aborted", None, "the crawler ended without a word")


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
    return "; ".join(parts) or "scrape: some pages are still to come"


def _words(summary: Summary) -> str:
    return status_line(summary, _PLAIN).partition(": ")[2]

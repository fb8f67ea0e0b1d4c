"""``sumi run``: a crawler in its own process and a scraper in this one that follows it; or both in one."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Final

import msgspec

from sumi.assembly.operating import keeping_files, notify_end
from sumi.assembly.parts import run_loop, teller
from sumi.console.summary import EVERYTHING, exit_code, status_line, worst_of
from sumi.console.terminal import Palette, printable
from sumi.engine.control import Control
from sumi.errors import ABORTED, COMPLETE, INTERRUPTED, WITH_FAILURES, SumiError
from sumi.events import Event, Listener, Summary, Warned
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.crawl import CrawlOptions, crawl
from sumi.jobs.pipeline.crawler_process import (
    CrawlerListener,
    CrawlerProcess,
    JointControl,
    forwarding_signals,
    take_turns,
)
from sumi.jobs.pipeline.recipe import scrape_job
from sumi.jobs.pipeline.scrape import scrape
from sumi.jobs.pipeline.state import SCRAPER
from sumi.outcomes import UP_TO_DATE, Outcome
from sumi.policy import Durability
from sumi.settings.operating import checked_operating

_LOOK_SECONDS = 0.05


async def run(
    config: str | PathLike[str],
    *,
    run_id: str | None = None,
    unified: bool | None = None,
    again: bool = False,
    warc: str | None = None,
    processes: int | None = None,
    min_free: int | None = None,
    durability: str = Durability.BATCH,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    **operating: object,
) -> Summary:
    """``sumi run``: crawl by policy and archive what is found; ``unified``: in one process (None: as the
    configuration's ``mode`` says). ``listeners`` get the events of both processes. A run of two processes
    obeys only the ``stop`` of a ``control``; its flag files pause it."""
    chosen, control = load_crawl_config(config, run_id), control or Control()
    checked = checked_operating(operating, "run")
    if unified if unified is not None else chosen.mode == "unified":
        return await crawl(
            chosen,
            unified=True,
            again=again,
            warc=warc,
            processes=processes,
            min_free=min_free,
            durability=durability,
            listeners=listeners,
            control=control,
            **checked,
        )
    loop, tell = asyncio.get_running_loop(), teller(listeners)
    heard = _EventsOnly(lambda event: loop.call_soon_threadsafe(tell, event))
    options = CrawlOptions(
        again=again,
        warc=warc,
        processes=processes,
        min_free=min_free,
        durability=Durability(durability),
        **checked,
    )
    joint = JointRun(chosen, fspath(config), options, heard, heard.tell)
    # In a thread, where the scraper has its own event loop and may block until the crawler has ended.
    work = asyncio.ensure_future(asyncio.to_thread(joint.run))
    try:
        while not work.done():
            await asyncio.wait([work], timeout=_LOOK_SECONDS)
            if control.stopping:
                joint.stop()
    except asyncio.CancelledError:
        joint.stop()
        await work
        raise
    return work.result().summary


class JointRun:
    """Crawler and scraper of one run. However the scraper ends, the crawler ends too. ``file``: the
    configuration's, for the crawler's process."""

    def __init__(
        self,
        config: CrawlConfig,
        file: str,
        options: CrawlOptions,
        crawler_listener: CrawlerListener,
        listener: Listener,
        read_config: Callable[[], CrawlConfig] | None = None,
    ) -> None:
        self._config = config
        self._file = file
        self._options = options
        self._crawler_listener = crawler_listener
        self._listener = listener
        self._read_config = read_config
        self._begun = threading.Event()
        self._stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._control: JointControl | None = None

    def run(self) -> "JointVerdict":
        """Blocks until both have ended."""
        with keeping_files(self._options, self._listener) as log:
            try:
                with self._crawler(log) as (crawler, control):
                    summary = run_loop(self._scrape(crawler, control, log))
            except SumiError as error:
                log(Warned(str(error)))
                self._notify(error)
                raise
            verdict = joint_verdict(crawler_end(crawler), summary)
            log(verdict.summary)
            self._notify(verdict.summary)
        return verdict

    def _notify(self, end: Summary | SumiError) -> None:
        if self._options.notify is not None:
            job = scrape_job(self._config, SCRAPER)
            run_loop(notify_end(self._options, job, self._file, end, self._listener))

    def stop(self) -> None:
        """Called from another thread: both finish the pages in flight. Further calls do nothing."""
        if self._stopped:
            return
        self._stopped = True
        self._begun.wait(timeout=10)
        if self._loop is not None and self._control is not None:
            self._loop.call_soon_threadsafe(self._control.stop, "stop()")

    @contextmanager
    def _crawler(self, log: Listener) -> Iterator[tuple[CrawlerProcess, JointControl]]:
        options = self._options
        words = ["--config", self._file, "--run-id", self._config.run_id]
        words += ["--durability", options.durability]
        words += ["--json", "-q"]  # this process reads and reports what it prints
        words += ["--again"] if options.again else []
        words += ["--state", options.state] if options.state is not None else []
        words += ["--job", options.name] if options.name is not None else []
        words += ["--processes", str(options.processes)] if options.processes is not None else []
        words += ["--min-free", str(options.min_free)] if options.min_free is not None else []
        words += [word for outcomes in options.allow_failed for word in ("--allow-failed", outcomes)]
        words += ["--max-failed", options.max_failed] if options.max_failed is not None else []
        crawler = CrawlerProcess(words, _Logged(self._crawler_listener, log))
        control = JointControl(crawler)
        with forwarding_signals(control):
            try:
                yield crawler, control
            finally:
                crawler.finish()

    async def _scrape(self, crawler: CrawlerProcess, control: JointControl, log: Listener) -> Summary:
        self._loop, self._control = asyncio.get_running_loop(), control
        self._begun.set()
        turns = None
        if not self._config.spool.hand_over:
            control.pause()
            delay = 1 / self._config.limits.req_per_sec
            turns = asyncio.create_task(take_turns(control, crawler, delay))
        try:
            return await scrape(
                self._config,
                warc=self._options.warc,
                processes=self._options.processes,
                min_free=self._options.min_free,
                durability=self._options.durability,
                listeners=[self._listener, log],
                control=control,
                read_config=self._read_config,
                crawler_at_work=lambda: crawler.at_work,
                max_time=self._options.max_time,
                allow_failed=self._options.allow_failed,
                max_failed=self._options.max_failed,
            )
        finally:
            if turns is not None:
                turns.cancel()


class _Logged:
    """A ``CrawlerListener`` whose events are logged, too."""

    def __init__(self, listener: CrawlerListener, log: Listener) -> None:
        self._listener = listener
        self._log = log
        self.stderr_line = listener.stderr_line

    def event(self, line: str, event: Event | None) -> None:
        if event is not None:
            self._log(event)
        self._listener.event(line, event)


class _EventsOnly:
    """Implements ``CrawlerListener``: passes events on to listeners."""

    def __init__(self, tell: Callable[[Event], object]) -> None:
        self._tell = tell

    def tell(self, event: Event) -> None:
        self._tell(event)

    def event(self, line: str, event: Event | None) -> None:
        if event is not None:
            self._tell(event)

    def stderr_line(self, line: str) -> None:
        """Ignored: the summary says it too."""


# ── how the run ended: the verdict on both processes ─────────────────────────────────────────────────────


_PLAIN: Final = Palette(colours=False)
_WORST_FIRST: Final = ("aborted", "interrupted", "partial", "limited", "complete")
_GO_ON: Final = "run the same command again to continue"


class CrawlerEnd(msgspec.Struct, frozen=True):
    """How the crawler ended. ``trouble``: what its summary, if any, does not say."""

    code: int
    status: str
    summary: Summary | None
    trouble: str = ""


def crawler_end(crawler: CrawlerProcess) -> CrawlerEnd:
    code, summary = crawler.returncode, crawler.summary
    if code < 0:
        return _killed(signal.Signals(-code), crawler)
    if code not in (COMPLETE, WITH_FAILURES, INTERRUPTED) and crawler.error:
        words = "refused to start" if summary is None else "broke off"
        return CrawlerEnd(code, "aborted", summary, f"the crawler {words}: {crawler.error}")
    if summary is not None:
        return CrawlerEnd(code, summary.status, summary)
    if code == INTERRUPTED:
        return CrawlerEnd(code, "interrupted", None)
    return CrawlerEnd(worst_of((code, ABORTED)), "aborted", None, "the crawler ended without a message")


def _killed(number: signal.Signals, crawler: CrawlerProcess) -> CrawlerEnd:
    """A signal that asks for a graceful stop kills a crawler that is still starting; nothing is lost."""
    if crawler.was_stopped and number in (signal.SIGINT, signal.SIGTERM):
        return CrawlerEnd(INTERRUPTED, "interrupted", crawler.summary)
    trouble = f"the crawler was killed by {number.name}, so pages that it would have found are missing"
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
        excused=_joint_excused(crawl.summary, scraped),
    )
    return JointVerdict(summary, worst_of((crawl.code, exit_code(scraped))), reason)


def _joint_excused(crawled: Summary | None, scraped: Summary) -> dict[str, int]:
    return dict(Counter(scraped.excused) + Counter(crawled.excused if crawled is not None else {}))


def _joint_outcomes(crawled: Summary | None, scraped: Summary) -> dict[str, int]:
    """Count each URL once: by the scraper's outcome if the crawler handed it over, and as pending if the
    scraper has not read it yet."""
    outcomes = Counter(scraped.outcomes)
    if crawled is not None:
        outcomes.update({name: count for name, count in crawled.outcomes.items() if name not in UP_TO_DATE})
        handed_over = sum(crawled.outcomes.get(outcome, 0) for outcome in UP_TO_DATE)
        outcomes[Outcome.PENDING] += max(0, handed_over - scraped.discovered)
    return {str(name): count for name, count in outcomes.items() if count}


def _reason(status: str, crawl: CrawlerEnd, scraped: Summary) -> str:
    if crawl.trouble:
        return f"{crawl.trouble}; {_GO_ON}" if crawl.code == ABORTED else crawl.trouble
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

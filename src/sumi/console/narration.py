"""Events as lines for users: which ones are shown, and how they are worded."""

import time
from enum import IntEnum

import msgspec

from sumi.console.summary import is_as_wanted, status_line, summary_lines
from sumi.console.terminal import Palette, duration, printable
from sumi.events import (
    AlreadyFinished,
    Busy,
    Event,
    HostWaits,
    PageDeferred,
    PageSettled,
    Progress,
    Recovered,
    Retuned,
    RobotsRead,
    RunStarted,
    StateChanged,
    Status,
    Summary,
    WaitingHost,
    Warned,
)
from sumi.frontier.pacing import USUAL_WAITS
from sumi.outcomes import Ending

# A site may have thousands of dead links: they are in the summary, and in the job's own files.
MOST_FAILURES = 20


class Verbosity(IntEnum):
    QUIET = -1  # only the final status line, unless all is as the user wants it
    NORMAL = 0  # start, warnings, the first failures, summary
    PAGES = 1  # and every page
    EVERYTHING = 2  # and retries and robots.txt

    @classmethod
    def of(cls, *, verbose: int, quiet: bool) -> "Verbosity":
        return cls.QUIET if quiet else cls(min(verbose, cls.EVERYTHING))


class Narrator:
    """Turns an event into the lines that this verbosity shows, safe to print."""

    def __init__(self, verbosity: Verbosity, palette: Palette) -> None:
        self._verbosity = verbosity
        self._palette = palette
        self._done = 0
        self._failed = 0
        self._said: tuple[str, ...] = ()  # notes

    def lines(self, event: Event) -> list[str]:
        if isinstance(event, PageSettled) and event.ending == Ending.DONE:
            self._done += 1
        if isinstance(event, Status):  # requested by the user: shown at any verbosity
            return status_lines(event)
        if self._verbosity is Verbosity.QUIET:
            return self._quiet(event)
        match event:
            case RunStarted():
                return self._started(event)
            case Summary():
                # Those of the start were shown there.
                notes = tuple(note for note in event.notes if note not in self._said)
                shown = msgspec.structs.replace(event, notes=notes)
                return ["", *summary_lines(shown, self._palette, self._done)]
            case Recovered():
                return [_recovered(event)]
            case Warned():
                return [f"{self._palette.caution('warning')}: {printable(event.message)}"]
            case StateChanged():
                return [_state(event)]
            case Retuned():
                return [_retuned(event)]
            case _:
                return self._detail(event)

    def progress(self, event: Progress) -> str:
        return progress_line(event)

    def _quiet(self, event: Event) -> list[str]:
        if isinstance(event, Summary) and not is_as_wanted(event):
            return [status_line(event, self._palette)]
        return []

    def _detail(self, event: Event) -> list[str]:
        match event:
            case PageSettled() if self._verbosity >= Verbosity.PAGES:
                return [self._page(event)]
            case PageSettled() if event.ending == Ending.FAILED:
                return self._failure(event)
            case AlreadyFinished():
                return [_finished(event)]
            case HostWaits():
                return [f"waiting: {waits_words(event)}"]
            case Busy():
                return [f"busy: {printable(event.with_what)}"]
            case PageDeferred() if self._verbosity >= Verbosity.EVERYTHING:
                return [f"retry: {printable(event.url)} ({printable(event.why)})"]
            case RobotsRead() if self._verbosity >= Verbosity.EVERYTHING:
                return [_robots(event)]
            case _:
                return []

    def _started(self, event: RunStarted) -> list[str]:
        self._said = event.notes
        how = f"resuming, {event.pending:,} pending" if event.resumed else "starting"
        line = f"{event.job} {printable(event.target)} into {printable(event.output)}: {how}"
        return [line, *(f"note: {printable(note)}" for note in event.notes)]

    def _failure(self, event: PageSettled) -> list[str]:
        self._failed += 1
        if self._failed <= MOST_FAILURES:
            return [self._page(event)]
        if self._failed == MOST_FAILURES + 1:
            return [f"{self._palette.bad('failed')}: more pages; the summary counts them, -v shows each"]
        return []

    def _page(self, event: PageSettled) -> str:
        rule = f" ({printable(event.rule)})" if event.rule else ""
        if event.ending == Ending.FAILED:
            found = f", found on {printable(event.referrer)}" if event.referrer else ""
            words = f"{printable(event.url)}: {printable(event.outcome)}{rule}{found}"
            return f"{self._palette.bad('failed')}: {words}"
        where = f" -> {printable(event.path)}" if event.path else rule
        return f"{printable(event.outcome)}: {printable(event.url)}{where}"


def progress_line(event: Progress) -> str:
    parts = [
        f"{event.done:,} done",
        f"{event.pending:,} queued",
        f"{event.failed:,} failed",
        f"{event.pages_per_second:.1f} pages/s",
    ]
    if event.eta_seconds is not None:
        parts.append(f"ETA {duration(event.eta_seconds)}")
    if event.waits_for is not None:
        return ", ".join([*parts[:3], waits_words(event.waits_for)])
    # Sorted, so that they do not jump around: they come with the latest first.
    parts += map(printable, sorted(event.hosts))
    return ", ".join(parts)


def waits_words(event: HostWaits) -> str:
    """``docs.example.org answered 429: left alone until 14:03:20``."""
    until = time.strftime("%H:%M:%S", time.localtime(event.until))
    return f"{printable(event.host)} {printable(event.why)}: left alone until {until}"


def status_lines(event: Status) -> list[str]:
    """The answer to SIGUSR1: counts, then what each host with work waits for, then what is being fetched."""
    settled = sum(event.outcomes.values())
    known = f"{event.discovered:,} discovered = {settled:,} settled + {event.pending:,} pending"
    lines = [f"status: {printable(event.state)}, {known}"]
    lines += [f"  {count:>9,}  {printable(name)}" for name, count in sorted(event.outcomes.items())]
    lines += [f"  {waiting_words(host, event.at)}" for host in event.hosts]
    return lines + [f"  in flight: {printable(url)}" for url in event.in_flight]


_SHORTEST_TOLD = 0.05  # seconds; anything shorter would read "0.0s"


def waiting_words(host: WaitingHost, now: float) -> str:
    """``docs.example.org: 12 pending, answered 429, left alone for another 2m 00s``."""
    # For a host that is given up for the rest of the run, the words say so.
    ahead = 0.0 if host.ready_at is None else host.ready_at - now
    until = f" for another {duration(ahead)}" if ahead >= _SHORTEST_TOLD else ""
    if until and host.why not in USUAL_WAITS and not host.why.startswith("waiting for "):
        until = f", left alone{until}"
    return f"{printable(host.host)}: {host.pending:,} pending, {printable(host.why)}{until}"


_STATE_WORDS = {
    "running": "resumed",
    "paused": "paused: finishing the pages in flight, fetching nothing new",
    "stopping": "stopping: finishing the pages in flight; once more stops at once",
    "aborting": "stopping at once",
}


def _state(event: StateChanged) -> str:
    why = f" ({printable(event.why)})" if event.why else ""
    return f"{_STATE_WORDS.get(event.state, printable(event.state))}{why}"


def _retuned(event: Retuned) -> str:
    cap = f"{event.max_pages:,} pages at most" if event.max_pages else "no page limit"
    return (
        f"new limits: {duration(event.delay)} between pages of a host, {event.per_host:,} at once per host, "
        f"{event.concurrency:,} in all, {cap}"
    )


def _finished(event: AlreadyFinished) -> str:
    about = f"{event.job} {printable(event.target)} into {printable(event.output)}"
    return f"{about}: finished at {printable(event.since)}; {printable(event.advice)}"


def _recovered(event: Recovered) -> str:
    return (
        f"recovered from a stopped run: unfinished pages {event.claims_reset:,}, "
        f"incomplete bytes cut off {event.torn_bytes:,}, queued again {event.requeued:,}"
    )


def _robots(event: RobotsRead) -> str:
    delay = f", crawl delay {duration(event.crawl_delay)}" if event.crawl_delay is not None else ""
    sitemaps = f", {event.sitemaps:,} sitemaps" if event.sitemaps else ""
    return f"robots.txt of {printable(event.origin)}: {printable(event.meaning)}{delay}{sitemaps}"

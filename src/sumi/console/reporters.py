"""Listeners of a run: a progress line on a terminal, plain lines in a pipe, JSON for programs.

Reporters see nothing of the engine but its events. Data goes to stdout, everything else to stderr.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from sumi.console.narration import Narrator, Verbosity
from sumi.console.terminal import Palette, Sink, fit
from sumi.events import Event, Progress, as_json_object

Clock: TypeAlias = Callable[[], float]

REWRITE_INTERVAL = 1 / 8
PLAIN_INTERVAL = 10.0

LINE, LIVE, NONE = "line", "live", "none"  # how progress is shown

_CLEAR_LINE = "\r\x1b[2K"


class Reporter(Protocol):
    def __call__(self, event: Event) -> None: ...

    def close(self) -> None:
        """Leave the terminal clean for the shell prompt, however the run ended."""
        ...


class LiveLine:
    """A progress line that is rewritten in place; everything else scrolls by above it."""

    def __init__(
        self, sink: Sink, narrator: Narrator, columns: Callable[[], int], clock: Clock = time.monotonic
    ) -> None:
        self._sink = sink
        self._narrator = narrator
        self._columns = columns
        self._clock = clock
        self._drawn_at = float("-inf")
        self._is_shown = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._redraw(event)
            return
        lines = self._narrator.lines(event)
        if lines:
            self.close()
            self._sink.line("\n".join(lines))

    def close(self) -> None:
        if self._is_shown:
            self._sink.write(_CLEAR_LINE)
            self._is_shown = False

    def _redraw(self, event: Progress) -> None:
        now = self._clock()
        if now - self._drawn_at < REWRITE_INTERVAL:
            return
        # The last column stays free: some terminals wrap a full line, which then cannot be cleared.
        self._sink.write(_CLEAR_LINE + fit(self._narrator.progress(event), self._columns() - 1))
        self._drawn_at = now
        self._is_shown = True


class PlainLines:
    """Lines for a log: the same as on a terminal, with a progress line every ten seconds."""

    def __init__(
        self,
        sink: Sink,
        narrator: Narrator,
        clock: Clock = time.monotonic,
        interval: float = PLAIN_INTERVAL,
    ) -> None:
        self._sink = sink
        self._narrator = narrator
        self._clock = clock
        self._interval = interval
        self._due_at = clock() + interval

    def __call__(self, event: Event) -> None:
        for line in self._narrator.lines(event):
            self._sink.line(line)
        if isinstance(event, Progress) and self._clock() >= self._due_at:
            self._sink.line(self._narrator.progress(event))
            self._due_at = self._clock() + self._interval

    def close(self) -> None:
        """Nothing to undo."""


class QuietEnd:
    """Silent until the end; then it reports only problems."""

    def __init__(self, sink: Sink, narrator: Narrator) -> None:
        self._sink = sink
        self._narrator = narrator

    def __call__(self, event: Event) -> None:
        for line in self._narrator.lines(event):
            self._sink.line(line)

    def close(self) -> None:
        """Nothing to undo."""


class JsonLines:
    """One JSON object per event. ASCII only, so that no URL can affect a terminal or break an encoding."""

    def __init__(self, sink: Sink, clock: Clock = time.time) -> None:
        self._sink = sink
        self._clock = clock

    def __call__(self, event: Event) -> None:
        self._sink.line(json.dumps(as_json_object(event, self._clock()), separators=(",", ":")))

    def close(self) -> None:
        """Nothing to undo."""


def choose_reporter(
    verbosity: Verbosity,
    out: Sink,
    err: Sink,
    environ: Mapping[str, str],
    *,
    as_json: bool,
    progress: str = LINE,
) -> Reporter:
    if as_json:
        return JsonLines(out)
    narrator = Narrator(verbosity, Palette.for_sink(err, environ))
    return reporter_for_people(narrator, verbosity, err, environ, progress)


def reporter_for_people(
    narrator: Narrator, verbosity: Verbosity, err: Sink, environ: Mapping[str, str], progress: str = LINE
) -> Reporter:
    if verbosity is Verbosity.QUIET:
        return QuietEnd(err, narrator)
    if progress == NONE:
        return PlainLines(err, narrator, interval=float("inf"))
    if not err.is_terminal or environ.get("TERM") in ("dumb", "unknown"):
        return PlainLines(err, narrator)
    if progress == LIVE:
        from sumi.console.live import LiveDisplay  # loads rich, which nothing else needs

        return LiveDisplay(err, narrator, colours=not environ.get("NO_COLOR"))
    return LiveLine(err, narrator, lambda: shutil.get_terminal_size().columns)


@contextmanager
def reporting(options: argparse.Namespace) -> Iterator[Reporter]:
    """The reporter that the options of ``add_reporting`` select, for the time of a run."""
    verbosity = Verbosity.of(verbose=options.verbose, quiet=options.quiet)
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    reporter = choose_reporter(
        verbosity, out, err, os.environ, as_json=options.json, progress=options.progress
    )
    ignore_questions()
    try:
        yield reporter
    finally:
        reporter.close()


def ignore_questions() -> None:
    """Before and after a run handles these signals, they would kill the process by default."""
    for number in (signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)

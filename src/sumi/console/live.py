"""The live display on a terminal: a bar, rates, hosts and what each waits for, the last pages, failures.

rich is imported here alone, and this module only when a run begins on a terminal.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sumi.console.narration import Narrator, waiting_words
from sumi.console.terminal import Sink, duration, printable
from sumi.events import Event, PageSettled, Progress, Summary, WaitingHost
from sumi.outcomes import Ending

REDRAW_SECONDS: Final = 0.25
_MOST_HOSTS: Final = 5
_LAST_PAGES: Final = 3
_MOST_REASONS: Final = 5
_BAR: Final = 40  # columns
_NARROW: Final = 50  # columns; below, only the counts
_LOW: Final = 14  # lines; below, no pages and hosts


class SinkFile:
    """What rich writes to: the sink survives a reader that has gone."""

    encoding = "utf-8"

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, text: str) -> int:
        self._sink.write(text)
        return len(text)

    def flush(self) -> None:
        """The sink flushes on every write."""

    def isatty(self) -> bool:
        return True


class Board:
    """What is shown, as it is now. Renders itself to the width and height that there are."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.progress: Progress | None = None
        self._pages: deque[str] = deque(maxlen=_LAST_PAGES)
        self._failures: Counter[str] = Counter()
        self._clock = clock

    def note(self, event: PageSettled) -> None:
        if event.ending == Ending.FAILED:
            self._failures[event.outcome] += 1
        elif event.ending == Ending.DONE:
            self._pages.append(event.url)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.progress is None:
            return
        yield from self._head(self.progress, options.max_width)
        if options.max_width < _NARROW:
            return
        if console.height >= _LOW:
            yield from self._hosts(self.progress)
            yield from (_line(f"  {printable(url)}", "dim") for url in self._pages)
        if self._failures:
            most = self._failures.most_common(_MOST_REASONS)
            words = ", ".join(f"{count:,} {printable(name)}" for name, count in most)
            yield _line(f"failed: {words}", "red")

    def _head(self, now: Progress, width: int) -> RenderResult:
        total = now.done + now.failed + now.pending
        share = (now.done + now.failed) / total if total else 0.0
        eta = f"ETA {duration(now.eta_seconds)}" if now.eta_seconds is not None else ""
        if width >= _NARROW:
            row = Table.grid(padding=(0, 1))
            # Not over the whole width: a line that wraps when the window shrinks cannot be cleared.
            row.add_row(
                Bar(1.0, 0.0, share, width=min(_BAR, width // 2), color="green", bgcolor="grey23"),
                f"{share:4.0%} {eta}".rstrip(),
            )
            yield row
        counts = f"{now.done:,} done, {now.pending:,} queued, {now.failed:,} failed"
        yield _line(f"{counts}, {now.pages_per_second:.1f} pages/s" + (f", {eta}" if width < _NARROW else ""))

    def _hosts(self, now: Progress) -> RenderResult:
        for host in now.waiting[:_MOST_HOSTS]:
            usual = _USUAL.get(host.why)
            words = waiting_words(host, self._clock()) if usual is None else _quiet_words(host, usual)
            yield _line(f"  {words}", "yellow" if usual is None else "cyan")


_USUAL: Final = {
    "spacing": "at its pace",
    "in flight": "fetching",
    "retry": "only retries are left",
    "sitemaps first": "sitemaps first",
}


def _quiet_words(host: WaitingHost, words: str) -> str:
    flying = f", {host.in_flight:,} in flight" if host.in_flight else ""
    return f"{printable(host.host)}: {host.pending:,} queued{flying}, {words}"


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis", end="\n")


class LiveDisplay:
    """A reporter: lines scroll by above, the board is redrawn below them."""

    def __init__(
        self, sink: Sink, narrator: Narrator, *, colours: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._narrator = narrator
        self._clock = clock
        self._board = Board()
        console = Console(
            file=SinkFile(sink),  # type: ignore[arg-type]  # as much of a file as rich uses
            force_terminal=True,
            no_color=not colours,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(self._board, console=console, auto_refresh=False, transient=True)
        self._drawn_at = float("-inf")

    def __call__(self, event: Event) -> None:
        if isinstance(event, PageSettled):
            self._board.note(event)
        if isinstance(event, Progress):
            self._board.progress = event
            self._redraw()
            return
        lines = self._narrator.lines(event)
        if isinstance(event, Summary):
            self.close()
        if lines:
            self._live.console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)

    def close(self) -> None:
        self._live.stop()

    def _redraw(self) -> None:
        now = self._clock()
        if now - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = now
        self._live.start()
        self._live.refresh()

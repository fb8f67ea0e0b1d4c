"""The crawler of ``sumi run``: a child process whose output we read, and to which we pass signals on.

It has its own session: Ctrl-C in a terminal goes to every process of the group, so a crawler in ours would
get it twice, once from us, and the second one means "stop at once".
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Final, Protocol

import msgspec

from sumi.engine.control import Control
from sumi.events import Event, RobotsRead, RunStarted, StateChanged, Summary
from sumi.settings.operating import OPERATING

# A crawler that is asked to stop finishes its pages in flight, which takes at most half a minute.
STOP_SECONDS = 60.0
# Its last output may still be in the pipe when it has ended.
_LAST_OUTPUT_SECONDS = 5.0


# The time limit, the log and the notification are those of both processes together; which failures are
# allowed is passed on as flags.
_OF_BOTH = frozenset(setting.variable for setting in OPERATING)


class CrawlerListener(Protocol):
    def event(self, line: str, event: Event | None) -> None:
        """A line of JSON; ``event`` is None if it is not an event of a run, for example an error."""
        ...

    def stderr_line(self, line: str) -> None:
        """A line of its standard error."""
        ...


class CrawlerProcess:
    def __init__(self, words: Sequence[str], listener: CrawlerListener) -> None:
        self._listener = listener
        self._listening = False
        self._requests: deque[signal.Signals] = deque()
        self._paused = False
        self.was_stopped = False
        self.crawl_delay = 0.0  # the longest of any site
        self.summary: Summary | None = None
        self.error = ""
        command = [sys.executable, "-m", "sumi.cli.with_parent", str(os.getpid()), "crawl", "run", *words]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name not in _OF_BOTH},
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
        )
        self._relays = [
            _relay(self._process.stdout, self._hear_line),
            _relay(self._process.stderr, listener.stderr_line),
        ]

    @property
    def at_work(self) -> bool:
        return self._process.poll() is None

    @property
    def is_fetching(self) -> bool:
        return self.at_work and not self._paused

    @property
    def returncode(self) -> int:
        """Once it has ended; negative if a signal killed it."""
        return int(self._process.returncode)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Let it finish the pages in flight; a second call stops it at once."""
        self.was_stopped = True
        self._process.send_signal(number)

    def ask(self, number: signal.Signals) -> None:
        """Ask it to reload or to show its status; delayed while it is starting and has no handlers yet."""
        self._requests.append(number)
        if self._listening:
            self._send_requests()

    def finish(self) -> None:
        """Stop it if it is still running, and wait for its end and the rest of its output."""
        if self.at_work and not self.was_stopped:
            self.stop()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for relay in self._relays:
            relay.join(_LAST_OUTPUT_SECONDS)

    def _send_requests(self) -> None:
        with suppress(IndexError):  # emptied by another thread
            while True:
                self._process.send_signal(self._requests.popleft())

    def _hear_line(self, line: str) -> None:
        said = _object_of(line)
        if said is None:  # printed by some library
            self._listener.stderr_line(line)
            return
        event = _event_of(said)
        self._note(said, event)
        self._listener.event(line, event)

    def _note(self, said: dict[str, object], event: Event | None) -> None:
        match event:
            case RunStarted():
                self._listening = True
                self._send_requests()
            case StateChanged():
                self._paused = event.state == "paused"
            case RobotsRead():
                self.crawl_delay = max(self.crawl_delay, event.crawl_delay or 0.0)
            case Summary():
                self.summary = event
            case None if said.get("event") == "error":
                self.error = str(said.get("message", ""))
            case _:
                pass


def _object_of(line: str) -> dict[str, object] | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _event_of(said: dict[str, object]) -> Event | None:
    try:
        event: Event = msgspec.convert(said, type=Event)
    except msgspec.ValidationError:
        return None
    return event


def _relay(stream: IO[str] | None, hear: Callable[[str], None]) -> threading.Thread:
    """Reads in a thread, so that a full pipe never blocks the crawler while this process is busy."""

    def read() -> None:
        if stream is None:
            return
        with stream:
            for line in stream:
                hear(line.rstrip("\n"))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


_LOOK_SECONDS = 0.05
_STOPPING: Final = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class JointControl(Control):
    hears_signals = True  # see ``forwarding_signals``

    def __init__(self, crawler: CrawlerProcess) -> None:
        super().__init__()
        self._crawler = crawler

    def stop(self, why: str = "") -> None:
        """Called for a flag file or a full disk; for signals, see ``hear``."""
        super().stop(why)
        self._crawler.stop()

    def pass_on(self, number: signal.Signals) -> None:
        """Pass a signal on to the crawler."""
        if number in _STOPPING:
            self._crawler.stop(number)
        else:
            self._crawler.ask(number)

    def hear(self, number: signal.Signals) -> None:
        """Obey a signal in the scraper."""
        match number:
            case signal.SIGHUP:
                self.reload()
            case signal.SIGUSR1:
                self.show_status()
            case _:
                super().stop(_STOPPING[number])


@contextmanager
def forwarding_signals(control: JointControl) -> Iterator[None]:
    """Handle signals while either process runs. Not with the scraper's event loop, as other jobs do: a signal
    that reaches a loop which is about to end is lost, and the crawler would never get it. Only the main
    thread can handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def obey(number: int, _frame: object) -> None:
        control.pass_on(signal.Signals(number))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # the scraper has not begun, or has ended
            control.hear(signal.Signals(number))
        else:
            loop.call_soon_threadsafe(control.hear, signal.Signals(number))

    before = {number: signal.signal(number, obey) for number in (*_STOPPING, signal.SIGHUP, signal.SIGUSR1)}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


async def take_turns(control: Control, crawler: CrawlerProcess, delay: float) -> None:
    """Let the paused scraper fetch while the crawler does not, one delay after the crawler's last request:
    each is paced by itself, so together they would send requests to a site twice as fast as allowed."""
    held = True
    while True:
        if crawler.is_fetching:
            if not held:
                control.pause("the crawler is fetching")
                held = True
        elif held:
            await asyncio.sleep(max(delay, crawler.crawl_delay))
            if not crawler.is_fetching:
                control.resume("the crawler is not fetching")
                held = False
        await asyncio.sleep(_LOOK_SECONDS)

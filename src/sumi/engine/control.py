"""Control of a run: pause, resume, stop, reload limits, report status.

Signals, flag files and the Python API all go through ``Control``; the engine looks nowhere else.
"""

import asyncio
import contextlib
import os
import signal
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from sumi.engine.io import Io
from sumi.engine.limits import Limits
from sumi.errors import SumiError
from sumi.events import Retuned, Status, Warned
from sumi.ports import Clock

LOOK_SECONDS = 1.0


class RunState(StrEnum):
    """The states of a run. ``MOVES`` is the table of allowed transitions."""

    RUNNING = "running"  # leasing and visiting
    PAUSED = "paused"  # pages in flight finish, nothing new is leased
    STOPPING = "stopping"  # pages in flight finish, then it ends, resumable
    ABORTING = "aborting"  # stopped twice, or the disk failed: ends at once, still resumable
    ENDED = "ended"


MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.RUNNING: frozenset({RunState.PAUSED, RunState.STOPPING, RunState.ABORTING, RunState.ENDED}),
    # A paused run ends if the pages in flight were the last ones.
    RunState.PAUSED: frozenset({RunState.RUNNING, RunState.STOPPING, RunState.ABORTING, RunState.ENDED}),
    RunState.STOPPING: frozenset({RunState.ABORTING, RunState.ENDED}),
    RunState.ABORTING: frozenset({RunState.ENDED}),
    RunState.ENDED: frozenset(),
}


class IllegalMove(Exception):
    """A bug: no event may cause this transition."""


def moved(current: RunState, target: RunState) -> RunState:
    if target not in MOVES[current]:
        raise IllegalMove(f"{current} → {target}")
    return target


Watcher: TypeAlias = Callable[[RunState, str], None]


class Command(StrEnum):
    """What a run can be told without changing its state."""

    RELOAD = "reload"  # read the limits again
    STATUS = "status"  # report its status


class Control:
    """The state of a run, and an event that wakes the loop on every change."""

    hears_signals = False  # already, so that ``obeying_signals`` installs no handlers

    def __init__(self) -> None:
        self.state = RunState.RUNNING
        self.changed = asyncio.Event()
        self._commands: list[Command] = []
        self._has_command = asyncio.Event()
        self.was_stopped = False  # before it was complete
        self.was_aborted = False  # without waiting for the pages in flight
        self._watcher: Watcher | None = None

    def pause(self, why: str = "") -> None:
        if self.state is RunState.RUNNING:
            self._move(RunState.PAUSED, why)

    def resume(self, why: str = "") -> None:
        if self.state is RunState.PAUSED:
            self._move(RunState.RUNNING, why)

    def stop(self, why: str = "") -> None:
        """Stop gracefully; a second call aborts."""
        if self.state in (RunState.RUNNING, RunState.PAUSED):
            self.was_stopped = True
            self._move(RunState.STOPPING, why)
        elif self.state is RunState.STOPPING:
            self.was_aborted = True
            self._move(RunState.ABORTING, why)

    def reload(self) -> None:
        self._send(Command.RELOAD)

    def show_status(self) -> None:
        self._send(Command.STATUS)

    async def next_command(self) -> Command:
        while not self._commands:
            self._has_command.clear()
            await self._has_command.wait()
        return self._commands.pop(0)

    def end(self) -> None:
        self._move(RunState.ENDED, "")

    def watch(self, watcher: Watcher) -> None:
        """Call ``watcher`` on every change of state, with its reason."""
        self._watcher = watcher

    @property
    def leasing(self) -> bool:
        return self.state is RunState.RUNNING

    @property
    def stopping(self) -> bool:
        return self.state in (RunState.STOPPING, RunState.ABORTING)

    def _send(self, command: Command) -> None:
        # A signal may come a thousand times a second; one pending command serves them all.
        if command not in self._commands:
            self._commands.append(command)
            self._has_command.set()

    def _move(self, target: RunState, why: str) -> None:
        self.state = moved(self.state, target)
        self.changed.set()
        if self._watcher is not None:
            self._watcher(target, why)


class Controls:
    """Control of several runs in sequence: stopping one stops the following ones too."""

    hears_signals = False

    def __init__(self) -> None:
        self.was_stopped = False
        self._current = Control()

    def next(self) -> Control:
        """The control of the next run, which hears signals only through this object."""
        self._current = Control()
        self._current.hears_signals = True
        return self._current

    def stop(self, why: str = "") -> None:
        self.was_stopped = True
        self._current.stop(why)

    def reload(self) -> None:
        self._current.reload()

    def show_status(self) -> None:
        self._current.show_status()


@contextmanager
def obeying_signals(control: Control | Controls) -> Iterator[None]:
    """First Ctrl-C or SIGTERM: finish pages in flight; second: end at once. SIGHUP reloads the limits,
    SIGUSR1 reports the status. Outside the main thread, where no signal arrives, no handler is installed."""
    if threading.current_thread() is not threading.main_thread() or control.hears_signals:
        yield
        return
    loop = asyncio.get_running_loop()
    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: lambda: control.stop("Ctrl-C"),
        signal.SIGTERM: lambda: control.stop("SIGTERM"),
        signal.SIGHUP: control.reload,
        signal.SIGUSR1: control.show_status,
    }
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        # Until ours are back, the loop has restored the default handlers, which kill the process.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, before)
        for number, former in before.items():
            loop.remove_signal_handler(number)
            if former is not None:  # None: it was not set from Python and cannot be restored
                signal.signal(number, former)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class FlagFiles:
    """Control by files: ``pause.<job>`` and ``stop.<job>`` in a job's home folder, for scripts and programs.

    While the pause file exists, nothing new is fetched. The stop file stops the run like one Ctrl-C and is
    then removed, so that it does not stop the next run. Only regular files count: a link, or a folder that a
    page happens to have under that name, is ignored.
    """

    def __init__(self, home: Path, job: str, control: Control) -> None:
        self._pause = home / f"pause.{job}"
        self._stop = home / f"stop.{job}"
        self._control = control
        self._paused_by_us = False  # otherwise the pause is not ours to end

    async def watch(self, clock: Clock) -> None:
        """Check every second; runs beside the crawl until cancelled."""
        while True:
            self.look()
            await clock.sleep_until(clock.now() + LOOK_SECONDS)

    def look(self) -> None:
        if is_regular_file(self._stop):
            with contextlib.suppress(OSError):  # a read-only folder: obeyed anyway
                os.unlink(self._stop)
            if not self._control.stopping:
                self._control.stop(self._stop.name)
            return
        wanted = is_regular_file(self._pause)
        if wanted and self._control.leasing:
            self._control.pause(self._pause.name)
            self._paused_by_us = True
        elif not wanted and self._paused_by_us:
            self._paused_by_us = False
            self._control.resume(f"{self._pause.name} is gone")


def is_regular_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


class Crawling(Protocol):
    """What the control loop needs from a crawl."""

    def in_flight(self) -> tuple[str, ...]: ...

    async def retune(self, limits: Limits) -> None: ...


class ControlLoop:
    def __init__(
        self, crawl: Crawling, io: Io, control: Control, read_limits: Callable[[], Awaitable[Limits]]
    ) -> None:
        self._crawl = crawl
        self._io = io
        self._control = control
        self._read_limits = read_limits

    async def run(self, flags: FlagFiles) -> None:
        """Until cancelled."""
        await asyncio.gather(flags.watch(self._io.clock), self.run_commands())

    async def run_commands(self) -> None:
        while True:
            match await self._control.next_command():
                case Command.RELOAD:
                    await self._reload()
                case Command.STATUS:
                    self._io.tell(await self.status())

    async def status(self) -> Status:
        now = self._io.clock.now()
        stats = await self._io.frontier.stats()
        return Status(
            state=self._control.state,
            discovered=stats.known,
            outcomes={outcome.value: count for outcome, count in stats.outcomes.items()},
            pending=stats.pending,
            at=now,
            in_flight=self._crawl.in_flight(),
            hosts=tuple(wait.as_event() for wait in await self._io.frontier.waiting_hosts(now)),
        )

    async def _reload(self) -> None:
        try:
            limits = await self._read_limits()
        except SumiError as error:
            self._io.tell(Warned(f"the limits were not changed: {error}"))
            return
        await self.apply(limits)

    async def apply(self, limits: Limits) -> None:
        await self._crawl.retune(limits)
        pacing = limits.frontier.pacing
        self._io.tell(
            Retuned(
                limits.concurrency,
                pacing.per_host,
                pacing.delay,
                pacing.sitemap_delay,
                limits.frontier.max_pages,
            )
        )

"""How a run is told to pause, go on, stop, reload its limits or say how it stands.

Signals, flag files and Python all come here; the engine looks nowhere else.
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
from sumi.events import Retuned, Status, WaitingHost, Warned
from sumi.ports import Clock

LOOK_SECONDS = 1.0


class RunState(StrEnum):
    """The states of a run: an enum, a table of allowed moves, one function that moves."""

    RUNNING = "running"  # leasing and visiting
    PAUSED = "paused"  # in-flight pages finish, nothing new is leased
    STOPPING = "stopping"  # asked to stop: in-flight pages finish, then it ends, resumable
    ABORTING = "aborting"  # asked twice, or the disk failed: end at once, still resumable
    ENDED = "ended"


MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.RUNNING: frozenset({RunState.PAUSED, RunState.STOPPING, RunState.ABORTING, RunState.ENDED}),
    # A paused run ends if what was in flight turns out to have been the last of it.
    RunState.PAUSED: frozenset({RunState.RUNNING, RunState.STOPPING, RunState.ABORTING, RunState.ENDED}),
    RunState.STOPPING: frozenset({RunState.ABORTING, RunState.ENDED}),
    RunState.ABORTING: frozenset({RunState.ENDED}),
    RunState.ENDED: frozenset(),
}


class IllegalMove(Exception):
    """A fault of ours: no event may ask for this."""


def moved(current: RunState, target: RunState) -> RunState:
    if target not in MOVES[current]:
        raise IllegalMove(f"{current} → {target}")
    return target


Watcher: TypeAlias = Callable[[RunState, str], None]


class Wish(StrEnum):
    """What a run can be asked without changing its state."""

    RELOAD = "reload"  # read the limits again
    STATUS = "status"  # say how it stands


class Control:
    """The state of a run, and an event that wakes the loop whenever it changes."""

    hears_signals = False  # by other means: ``obeying_signals`` need not see to it

    def __init__(self) -> None:
        self.state = RunState.RUNNING
        self.changed = asyncio.Event()
        self._wishes: list[Wish] = []
        self._wished = asyncio.Event()
        self.was_stopped = False  # before it was done
        self.was_aborted = False  # without waiting for the pages in flight
        self._watcher: Watcher | None = None

    def pause(self, why: str = "") -> None:
        if self.state is RunState.RUNNING:
            self._move(RunState.PAUSED, why)

    def resume(self, why: str = "") -> None:
        if self.state is RunState.PAUSED:
            self._move(RunState.RUNNING, why)

    def stop(self, why: str = "") -> None:
        """Stop gracefully; asked again, at once."""
        if self.state in (RunState.RUNNING, RunState.PAUSED):
            self.was_stopped = True
            self._move(RunState.STOPPING, why)
        elif self.state is RunState.STOPPING:
            self.was_aborted = True
            self._move(RunState.ABORTING, why)

    def reload(self) -> None:
        self._wish(Wish.RELOAD)

    def show_status(self) -> None:
        self._wish(Wish.STATUS)

    async def next_wish(self) -> Wish:
        while not self._wishes:
            self._wished.clear()
            await self._wished.wait()
        return self._wishes.pop(0)

    def end(self) -> None:
        self._move(RunState.ENDED, "")

    def watch(self, watcher: Watcher) -> None:
        """Hear of every change of state, and of who asked for it."""
        self._watcher = watcher

    @property
    def leasing(self) -> bool:
        return self.state is RunState.RUNNING

    @property
    def stopping(self) -> bool:
        return self.state in (RunState.STOPPING, RunState.ABORTING)

    def _wish(self, wish: Wish) -> None:
        # A signal may be sent a thousand times a second; one answer that is still to come serves them all.
        if wish not in self._wishes:
            self._wishes.append(wish)
            self._wished.set()

    def _move(self, target: RunState, why: str) -> None:
        self.state = moved(self.state, target)
        self.changed.set()
        if self._watcher is not None:
            self._watcher(target, why)


class Controls:
    """For runs one after the other: to stop one, at whatever moment, stops those to come as well."""

    hears_signals = False

    def __init__(self) -> None:
        self.was_stopped = False
        self._current = Control()

    def next(self) -> Control:
        """For the next run, which hears signals from here only."""
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
    """First Ctrl-C or SIGTERM: finish what is in flight; second: end at once. SIGHUP reloads the limits,
    SIGUSR1 asks for the status. Outside the main thread, where no signal arrives, nothing is set up."""
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
        # In between, the loop has put back what kills the process by default.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, before)
        for number, former in before.items():
            loop.remove_signal_handler(number)
            if former is not None:  # None: not set from Python, so not ours to put back
                signal.signal(number, former)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class FlagFiles:
    """Control by files: ``pause.<job>`` and ``stop.<job>`` in a job's home folder, for scripts and programs.

    While the pause file exists, nothing new is fetched. The stop file stops the run as one Ctrl-C does, and
    is removed once obeyed, so that it does not stop the next one. Only regular files count: a link or a
    page's folder of that name means nothing.
    """

    def __init__(self, home: Path, job: str, control: Control) -> None:
        self._pause = home / f"pause.{job}"
        self._stop = home / f"stop.{job}"
        self._control = control
        self._paused_by_us = False  # a pause asked for by other means is not ours to end

    async def watch(self, clock: Clock) -> None:
        """Look every second; runs beside the crawl until cancelled."""
        while True:
            self.look()
            await clock.sleep_until(clock.now() + LOOK_SECONDS)

    def look(self) -> None:
        if _is_file(self._stop):
            with contextlib.suppress(OSError):  # a folder we may not change: obeyed all the same
                os.unlink(self._stop)
            if not self._control.stopping:
                self._control.stop(self._stop.name)
            return
        wanted = _is_file(self._pause)
        if wanted and self._control.leasing:
            self._control.pause(self._pause.name)
            self._paused_by_us = True
        elif not wanted and self._paused_by_us:
            self._paused_by_us = False
            self._control.resume(f"{self._pause.name} is gone")


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


class Crawling(Protocol):
    """What the control loop needs of a crawl."""

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
        await asyncio.gather(flags.watch(self._io.clock), self.grant_wishes())

    async def grant_wishes(self) -> None:
        while True:
            match await self._control.next_wish():
                case Wish.RELOAD:
                    await self._reload()
                case Wish.STATUS:
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
            hosts=tuple(
                WaitingHost(wait.host, wait.pending, wait.in_flight, wait.why, wait.ready_at)
                for wait in await self._io.frontier.waiting_hosts(now)
            ),
        )

    async def _reload(self) -> None:
        try:
            limits = await self._read_limits()
        except SumiError as error:
            self._io.tell(Warned(f"the limits were not changed: {error}"))
            return
        await self._crawl.retune(limits)
        pacing = limits.frontier.pacing
        self._io.tell(
            Retuned(
                limits.concurrency,
                pacing.per_host,
                pacing.delay,
                pacing.manifest_delay,
                limits.frontier.max_pages,
            )
        )

"""How a run is told to pause, go on, stop, reload its limits or say how it stands.

Signals, flag files (see ``flag_files``) and Python all come here; the engine looks nowhere else.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeAlias

from sumi.engine.lifecycle import RunState, moved

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
        self.was_stopped = False  # by somebody, before it was done
        self.was_aborted = False  # by somebody who could not wait for that
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
    """For runs one after the other. Whoever stops one, at whatever moment, stops those to come as well."""

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
        for number, former in before.items():
            loop.remove_signal_handler(number)
            if former is not None:  # None: not set from Python, so not ours to put back
                signal.signal(number, former)

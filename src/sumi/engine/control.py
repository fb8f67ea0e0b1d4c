"""How a run is told to pause, go on, stop or abort: from signals, from Python, later from files and rows."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from sumi.engine.lifecycle import RunState, moved

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Control:
    """The state of a run, and an event that wakes the loop whenever it changes."""

    def __init__(self) -> None:
        self.state = RunState.RUNNING
        self.changed = asyncio.Event()
        self.was_stopped = False  # by somebody, before it was done

    def pause(self) -> None:
        if self.state is RunState.RUNNING:
            self._move(RunState.PAUSED)

    def resume(self) -> None:
        if self.state is RunState.PAUSED:
            self._move(RunState.RUNNING)

    def stop(self) -> None:
        """Stop gracefully; asked again, at once."""
        self.was_stopped = True
        if self.state in (RunState.RUNNING, RunState.PAUSED):
            self._move(RunState.STOPPING)
        elif self.state is RunState.STOPPING:
            self._move(RunState.ABORTING)

    def end(self) -> None:
        self._move(RunState.ENDED)

    @property
    def leasing(self) -> bool:
        return self.state is RunState.RUNNING

    @property
    def stopping(self) -> bool:
        return self.state in (RunState.STOPPING, RunState.ABORTING)

    def _move(self, target: RunState) -> None:
        self.state = moved(self.state, target)
        self.changed.set()


@contextmanager
def stop_on_signals(control: Control) -> Iterator[None]:
    """First Ctrl-C or SIGTERM: finish what is in flight. Second: end at once."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, control.stop)
    try:
        yield
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)

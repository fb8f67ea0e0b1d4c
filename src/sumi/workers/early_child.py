"""A worker that starts while this process still imports the rest of itself: one takes as long as the other.

A command starts it as soon as it knows that there will be pages; the first pool that wants such a worker
takes it over. One that nobody wanted is dismissed at the end, and would end by itself if we did.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from sumi.workers.child import WORKER_COMMAND, Child, with_limits

_waiting: dict[tuple[str, ...], tuple[Child, socket.socket]] = {}


@contextmanager
def worker_started_early(processes: int | None, cpu_seconds: float, memory_bytes: int) -> Iterator[None]:
    """For the time of a run with these settings."""
    command = with_limits(WORKER_COMMAND, cpu_seconds, memory_bytes)
    if processes != 0:
        with suppress(OSError):  # the pool will meet it again, and says so
            _waiting[command] = Child.spawn(command)
    try:
        yield
    finally:
        if (unwanted := _waiting.pop(command, None)) is not None:
            _dismiss(*unwanted)


def early_or_new(command: Sequence[str]) -> tuple[Child, socket.socket]:
    """Raises OSError: no such program, no process to be had."""
    return _waiting.pop(tuple(command), None) or Child.spawn(command)


def _dismiss(child: Child, connection: socket.socket) -> None:
    connection.close()
    child.kill()
    child.wait()
    child.close()

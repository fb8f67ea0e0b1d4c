"""The states of a run: an enum, a table of allowed moves, one function that moves."""

from enum import StrEnum


class RunState(StrEnum):
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

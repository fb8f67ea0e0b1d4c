"""How long anything may take between workers and their database. Durations only: no clock is compared.

A worker counts from before it sent the last message that was answered. It stops asking hosts well before the
server can have ended its session, and whoever inherits its hosts waits for as long once more.
"""

import time

import msgspec

NEVER = -1.0  # as a moment in a row, where JSON has no infinity


class Timing(msgspec.Struct, frozen=True):
    """Seconds."""

    word: float = 1.0  # between two messages to the database
    commit: float = 0.5  # between two commits, while more pages are under way
    idle_word: float = 0.2  # while there is nothing to do
    balance: float = 2.0  # between two looks at who has how many buckets
    no_lease: float = 25.0  # without an answer: nothing more is leased
    cut: float = 28.0  # and now connections to hosts are cut
    inherit: float = 30.0  # an heir asks nobody for so long, if the owner did not let go in order
    session: float = 30.0  # the server ends a session that is silent for so long
    in_transaction: float = 10.0
    network: float = 20.0  # unanswered packets
    rejoin: float = 1.0  # between two attempts to reach the database again


def steady() -> float:
    """Goes on while a process is stopped or its machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)

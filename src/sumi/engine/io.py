"""The engine's connections to the world, made by ``sumi.assembly`` and handed down explicitly."""

from collections.abc import Callable
from dataclasses import dataclass

from sumi.events import Listener
from sumi.ports import Clock, Digester, Fetcher, Frontier, Ledger, Output


@dataclass(frozen=True, slots=True)
class Io:
    frontier: Frontier
    ledger: Ledger
    fetcher: Fetcher
    digester: Digester
    output: Output
    clock: Clock
    tell: Listener
    jitter: Callable[[], float]  # uniform in [0, 1)
